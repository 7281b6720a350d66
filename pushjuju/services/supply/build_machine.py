"""Builds charms and Python packages whose build runs code, in a `local` machine that is deleted afterwards.

Build scripts and source packages are code of strangers. They run as root of their own machine, which has
nothing but the charm's source tree. The files that come back are checked like those of any archive. The
machine is deleted when the command ends; when a command is killed, the next command that needs a machine
deletes the old machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import io
import shlex
import shutil
import tarfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.charms.archive.archiving import Kind, open_archive
from pushjuju.charms.build.parts import REACTIVE, BuildPlan
from pushjuju.charms.build.scripts import DEFAULT
from pushjuju.core import limits
from pushjuju.core.base import Base
from pushjuju.core.errors import InvalidCharm, ProviderError
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.providers import ModelInfo, Provider, Services, StartRequest
from pushjuju.plugins.manager import PluginHost
from pushjuju.runner.ssh.library import asyncssh
from pushjuju.services.entities.model.constraints import own_arch
from pushjuju.services.supply import build_texts, pip_settings
from pushjuju.services.supply.local_packages import LocalPackages
from pushjuju.services.supply.pip_settings import PipSettings
from pushjuju.services.supply.store_charms import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[[str], None]

_BOOT_S = 60.0
_BUILD_S = 3600.0
_TAIL = 3000  # bytes of error output that an error shows
_TOOLS = ("python3-pip", "python3-dev", "python3-venv", "gcc", "git", "make")


@dataclass(slots=True)
class BuildMachine:
    """A machine for the builds of one command; it starts when the first build needs it."""

    base: Base  # the base of the machine, which determines its Python
    arch: str
    folder: Path  # the folder for the files of the machine's provider
    environ: Mapping[str, str]
    say: Say
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _provider: Provider | None = None
    _connection: Any = None
    _lock: Any = None
    _ready: set[str] = field(default_factory=set)
    _settings: PipSettings | None = None

    def wheel(self, archive: Path, folder: Path, tools: Sequence[Path]) -> Path:
        """Build a wheel from the source archive of a package; return its path in `folder`.

        Args:
            tools: Wheels that the build may install.
        """
        self._prepare(())
        self._run("cd /root/build; rm -rf in tools; mkdir in tools")
        self._send([archive], "/root/build/in")
        self._send(tools, "/root/build/tools")
        try:
            self._run(build_texts.WHEEL + build_texts.PURE)
        except InvalidCharm:
            self._prepare(_TOOLS)
            self._run(build_texts.WHEEL + build_texts.COMPILED, failed=f"cannot build {archive.name}")
        name = self._run("ls /root/build/out").decode().strip()
        if "/" in name or "\n" in name or not name.endswith(".whl"):
            raise InvalidCharm(f"building {archive.name} made no wheel")
        path = folder / name
        self._bring(f"/root/build/out/{name}", path)
        return path

    def parts(self, root: Path, plan: BuildPlan, target: Path, tools: Path | None = None) -> None:
        """Run the scripts of a charm's parts; write the charm's files to the new folder `target`.

        Args:
            plan: The scripts, and the tools that they need.
            tools: The folder with charm-tools, for the plugin reactive, or None.

        Raises:
            InvalidCharm: A script fails; the detail is its error output.
        """
        more = ("virtualenv",) if plan.is_reactive else ()
        self._prepare((*_TOOLS, *more, *(name for script in plan.scripts for name in script.packages)))
        self._run("rm -rf /root/build/src /root/build/install; mkdir -p /root/build/src /root/build/install")
        self._send(sorted(root.iterdir()), "/root/build/src")
        if tools:
            self._run("rm -rf /root/build/charm-tools; mkdir /root/build/charm-tools")
            self._send(sorted(tools.iterdir()), "/root/build/charm-tools")
        self._put_lines("files", plan.files)
        self._put_lines("lines", plan.requirements)
        self._put_lines("constraints", plan.constraints)
        for script in plan.scripts:
            default = build_texts.REACTIVE if script.plugin == REACTIVE else build_texts.DEFAULT
            self._put("/usr/local/bin/craftctl", default.encode(), mode="755")
            self._put_lines("arguments", script.arguments)
            for tool in script.tools:
                self._run(["sh", "-c", build_texts.TOOL, "sh", tool], failed=f"cannot install {tool}")
            doing = "Building" if script.text == DEFAULT else "Running the script of"
            self.say(f"{doing} part {script.part} in a machine of {self.base.display}")
            self._put("/root/build/script", script.text.encode())
            self._run(
                ["bash", "-c", build_texts.PART, "part", script.part],
                failed=f"the script of part {script.part} failed",
            )
        self._run(["python3", "-c", build_texts.ARCHIVE])
        path = target.with_name("built.zip")
        self._bring("/root/build/built.zip", path)
        _unpack(path, target)

    # --- the machine --------------------------------------------------------------------------------------

    def _prepare(self, packages: Sequence[str]) -> None:
        if self._connection is None:
            self.say(f"Starting a machine of {self.base.display} to build in")
            self._loop.run_until_complete(self._start())
            self._run("mkdir -p /root/build")
            self._hand_over(pip_settings.read(self.environ))
        if not self._ready.issuperset(packages):
            self._run(
                ["sh", "-c", build_texts.PREPARE, "sh", *packages],
                failed="cannot install what the build needs",
            )
            self._ready.update(packages)

    async def _start(self) -> None:
        if self.arch != own_arch():
            raise InvalidCharm(f"what has to be built for {self.arch} cannot be built on {own_arch()}")
        model = str(uuid.uuid4())
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        await self._sweep()
        self._lock = (self.folder / f"{model}.lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._provider = self._open(model)
        key = asyncssh.generate_private_key("ssh-ed25519")
        public = key.export_public_key().decode().strip()
        request = StartRequest(machine_id="0", base=self.base, nonce=model, authorized_keys=(public,))
        started = await self._provider.start(request)
        if not started.base.matches(self.base):
            raise ProviderError(f"cannot start a machine of {self.base.display} to build in")
        target = await self._provider.ssh_target(started.instance)
        known = [asyncssh.import_public_key(text) for text in target.host_keys or ()]
        deadline = self._loop.time() + _BOOT_S
        while True:
            try:
                self._connection = await asyncssh.connect(
                    target.host, username=target.user, client_keys=[key], known_hosts=(known, [], []),
                    config=None, agent_path=None,
                )  # fmt: skip
                return
            except (OSError, asyncssh.Error) as error:
                if self._loop.time() > deadline:
                    raise ProviderError(f"the machine to build in does not answer: {error}") from None
                await asyncio.sleep(0.2)

    def _hand_over(self, settings: PipSettings) -> None:
        """Copy the user's pip settings to the machine, which can reach the package folders that they name."""
        port = self._loop.run_until_complete(self._share(settings))
        self._run(["install", "-d", "-m", "700", pip_settings.FOLDER])
        for path, content in settings.files(port).items():
            self._put(path, content, mode="600")
        self._settings = settings

    async def _share(self, settings: PipSettings) -> int:
        """Return the port on the machine that serves this computer's package folders; 0 without folders."""
        for host, port in settings.loopback:
            await self._connection.forward_remote_port("localhost", port, host, port)
        if not settings.folders:
            return 0
        local = LocalPackages(settings.folders)
        listener = await self._connection.start_server(lambda *_from: local.answer, "localhost", 0)
        return int(listener.get_port())

    def _open(self, model: str) -> Provider:
        host = PluginHost(environ=self.environ)
        return host.open_provider(
            cloud=CloudSpec(name="local", type="local"),
            model=ModelInfo(uuid=model, name="build", controller_uuid=model),
            services=Services(data_dir=self.folder, environ=self.environ),
        )

    async def _sweep(self) -> None:
        """Delete the machines of commands that were killed; their locks are free."""
        for path in self.folder.glob("*.lock"):
            with path.open("w") as lock, contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                await self._open(path.stem).destroy_model()
                path.unlink(missing_ok=True)

    def close(self) -> None:
        try:
            if self._connection is not None:
                self._connection.abort()
            if self._provider is not None:
                self._loop.run_until_complete(self._provider.destroy_model())
            if self._lock is not None:
                Path(self._lock.name).unlink(missing_ok=True)
                self._lock.close()
        finally:
            self._loop.close()

    def _run(
        self, words: str | Sequence[str], *, stdin: bytes = b"", failed: str = "the build failed"
    ) -> bytes:
        return self._loop.run_until_complete(self._command(words, stdin, failed))

    async def _command(self, words: str | Sequence[str], stdin: bytes, failed: str) -> bytes:
        line = words if isinstance(words, str) else shlex.join(words)
        set_up = f". {pip_settings.ENVIRONMENT}; " if self._settings else ""
        try:
            async with asyncio.timeout(_BUILD_S):
                # With an empty input, the program's standard input would stay open.
                given = {} if stdin else {"stdin": asyncssh.DEVNULL}
                process = await self._connection.create_process(set_up + line, encoding=None, **given)
                out, err = await communicate(process, stdin, limits.BUILT, _TAIL)
        except TooMuch:
            most = limits.BUILT // limits.MIB
            raise InvalidCharm(f"{failed}: the output is larger than {most} MiB") from None
        except TimeoutError:
            raise InvalidCharm(f"{failed}: it takes more than {_BUILD_S:.0f} seconds") from None
        except (OSError, asyncssh.Error) as error:
            raise ProviderError(f"lost the connection to the machine to build in: {error}") from None
        if process.exit_status != 0:
            text = err.decode("utf-8", "replace").strip()
            raise InvalidCharm(failed, detail=pip_settings.hidden(text, self._secrets))
        return out

    @property
    def _secrets(self) -> frozenset[str]:
        return self._settings.secrets if self._settings else frozenset()

    def _bring(self, source: str, path: Path) -> None:
        """Copy a file from the machine; refuse a file that contains a password of the settings."""
        path.write_bytes(self._run(["cat", source]))
        if name := pip_settings.betrayed(path, self._secrets):
            path.unlink()
            raise InvalidCharm(f"the build wrote a password of pip's settings or of a proxy into {name}")

    def _put(self, path: str, content: bytes, mode: str = "644") -> None:
        self._run(["install", "-m", mode, "/dev/stdin", path], stdin=content)

    def _put_lines(self, name: str, lines: Sequence[str]) -> None:
        self._put(f"/root/build/{name}", "".join(f"{line}\n" for line in lines).encode())

    def _send(self, paths: Sequence[Path], folder: str) -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for path in paths:
                archive.add(path, arcname=path.name)
        words = ["tar", "--extract", "--gzip", "--no-same-owner", "--directory", folder]
        self._run(words, stdin=buffer.getvalue())


def _unpack(path: Path, target: Path) -> None:
    """Unpack a built archive, with the checks for any archive."""
    with open_archive(path) as archive:
        archive.verify()
        for name, entry in archive.entries.items():
            place = target / name
            if entry.kind is Kind.DIR:
                place.mkdir(parents=True, exist_ok=True)
                continue
            if name == "metadata.yaml" and not entry.info.file_size:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if entry.kind is Kind.LINK:
                place.symlink_to(entry.target)
                continue
            with archive.open(entry) as source, place.open("xb") as file:
                shutil.copyfileobj(source, file)
            place.chmod(0o755 if entry.mode & 0o100 else 0o644)


@contextmanager
def machine(base: Base, arch: str, environ: Mapping[str, str], say: Say) -> Iterator[BuildMachine]:
    """Provide a build machine for the block; it starts when the first build needs it."""
    found = BuildMachine(base, arch, cache_folder(environ).parent / "build-machines", environ, say)
    try:
        yield found
    finally:
        found.close()


if TYPE_CHECKING:
    from asyncssh import SSHClientProcess, SSHReader

_PIECE = 1 << 16


# --- the output of a program on an untrusted machine --------------------------------------------------------


class TooMuch(Exception):
    """A program sends more output than the limit."""


async def communicate(
    process: SSHClientProcess[bytes], stdin: bytes, most: int, tail: int
) -> tuple[bytes, bytes]:
    """Send input to a program; return its output and the end of its error output.

    Args:
        process: A started program, whose output is bytes.
        stdin: The input; empty for a program that was started without input.
        most: The limit of the output, in bytes.
        tail: The bytes of error output that are kept.

    Raises:
        TooMuch: The output exceeds the limit.
    """
    try:
        if stdin:
            process.stdin.write(stdin)
            process.stdin.write_eof()
        out, err = await asyncio.gather(_up_to(process.stdout, most), _last(process.stderr, tail))
        await process.wait_closed()
    finally:
        process.close()
    return out, err


async def _up_to(stream: SSHReader[Any], most: int) -> bytes:
    taken = bytearray()
    while piece := await stream.read(_PIECE):
        taken += piece
        if len(taken) > most:
            raise TooMuch
    return bytes(taken)


async def _last(stream: SSHReader[Any], most: int) -> bytes:
    kept = b""
    while piece := await stream.read(_PIECE):
        kept = (kept + piece)[-most:]
    return kept
