"""Build the program for machines from portable modules, remote modules and hook tools, with an index."""

from __future__ import annotations

import ast
import binascii
import hashlib
import importlib.util
import json
import marshal
import os
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType

from pushjuju import __version__
from pushjuju.core.errors import NotValid, RemoteFailed
from pushjuju.core.values import dataclass
from pushjuju.store.files import kept

_SOURCE = Path(__file__).parents[3]
PORTABLE = _SOURCE / "pushjuju" / "portable"
REMOTE = _SOURCE / "pushjuju" / "runner" / "remote"
BOOT = REMOTE / "boot.py"  # sent as an argument of the command at every contact
ENTER = REMOTE / "enter.py"  # its text is sent with that of `BOOT`
_ANSWERED = "pushjuju_answered"  # module of the tools that the controller answers
_ANSWERED_TEXT = '''"""Hook tools of plugins that the controller answers."""

from pushjuju.runner.remote.toolkit import Tool


class Answered(Tool):
    def help(self):
        return self.details


def make(name, text):
    def run(ctx, args):
        stdin = ctx.read_input("-") if "-" in args.argv else b""
        return ctx.ask(name, args.argv, stdin).decode("utf-8", "surrogateescape")

    return Answered(name, run, summary="", details=text, parsed=False)


TOOLS = {name: make(name, text) for name, text in %r.items()}
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The program for machines."""

    digest: str  # hash of the content, which names the program's directory on machines
    tools: tuple[str, ...]  # names of the program's hook tools
    start: str  # the Python code that unpacks and runs `boot`
    boot: str  # the packed text of ``remote/boot.py``, without its comments
    parts: Parts  # what the program is packed from
    cache: Path | None = None  # the file that keeps the hash, if any

    @property
    def files(self) -> bytes:
        """The files of the program, marshalled: path -> text.

        Raises:
            RemoteFailed: The installed pushjuju has changed since this process began.
        """
        found = _packed(self.parts)
        if found.digest != self.digest:
            if self.cache is not None:  # else the next command would read the same hash
                self.cache.unlink(missing_ok=True)
            raise RemoteFailed("pushjuju was upgraded while this command ran", hint="Run the command again.")
        return found.files

    @property
    def data(self) -> bytes:
        """Length and compressed files, as ``boot.py`` reads them; a machine with the program needs none."""
        return _compressed(self.files)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a program is packed from."""

    families: tuple[tuple[str, Path], ...]  # hook tool modules as (dotted name, source file)
    answered: tuple[tuple[str, str], ...]  # tools that the controller answers, with their help texts
    state: str  # the size and the time of the last change of each source file


@dataclass(frozen=True, slots=True)
class _Packed:
    """A packed program: see `Program`."""

    digest: str
    tools: tuple[str, ...]
    files: bytes


@lru_cache(maxsize=8)
def _compressed(files: bytes) -> bytes:
    data = zlib.compress(files)
    return len(data).to_bytes(4, "big") + data


def _our_paths() -> list[str]:
    """Return the files of every program, the portable and the remote modules, with ``boot.py``."""
    folders = [str(PORTABLE), str(REMOTE)]
    found = []
    for folder in folders:
        for entry in os.scandir(folder):
            if entry.name.endswith(".py"):
                found.append(entry.path)
            elif entry.is_dir() and entry.name != "__pycache__":
                folders.append(entry.path)
    return sorted(found)


def _our_files() -> dict[str, str]:
    """Return the files of every program: path -> text."""
    sent = [Path(path) for path in _our_paths() if path != str(BOOT)]
    return {str(path.relative_to(_SOURCE)): path.read_text("utf-8") for path in sent}


def _with_packages(files: dict[str, str]) -> dict[str, str]:
    """Add an empty ``__init__.py`` to each package that lacks the file; return the files."""
    for name in list(files):
        parts = name.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            files.setdefault("/".join([*parts[:depth], "__init__.py"]), "")
    return files


def tool_names(module: str, path: Path) -> list[str]:
    """Return the names of the hook tools in the TOOLS of a module, imported from its source file."""
    spec = importlib.util.spec_from_file_location(module, path)
    if spec is None or spec.loader is None:
        raise NotValid(f'hook tool module "{module}" cannot be loaded from {path}')
    loaded = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(loaded)
        return sorted(loaded.TOOLS)
    except Exception as error:
        raise NotValid(
            f'hook tool module "{module}" cannot be loaded', detail=f"{type(error).__name__}: {error}"
        ) from error


def pack(
    families: Iterable[tuple[str, Path]] = (),
    answered: Mapping[str, str] = MappingProxyType({}),
    cache: Path | None = None,
) -> Program:
    """Return the program.

    Args:
        families: Hook tool modules as (dotted name, source file). A module may import the standard library,
            the tool interface and other modules of `families`; a module without TOOLS is a helper.
        answered: Tools that the controller answers -> their help text; tools of `families` win over them.
        cache: A file that keeps the hash of the program until a source file changes; None for no cache.
    """
    sources = tuple((name, Path(path)) for name, path in families)
    parts = Parts(sources, tuple(sorted(answered.items())), _state(str(path) for _, path in sources))
    key = [repr((sources, parts.answered, parts.state))]
    known = partial(Program, parts=parts, cache=cache)
    with suppress(TypeError, ValueError):  # nothing is kept, or in another form
        digest, tools, start, boot = kept.read(cache, key)
        return known(digest=digest, tools=tuple(tools), start=start, boot=boot)
    packed = _packed(parts)
    start, boot = _boot()
    kept.write(cache, key, [packed.digest, packed.tools, start, boot])
    return known(digest=packed.digest, tools=packed.tools, start=start, boot=boot)


def _state(paths: Iterable[str]) -> str:
    """Return a text that changes with the source files of a program."""
    found = [__version__]
    for path in (*_our_paths(), *paths):
        seen = os.stat(path)  # noqa: PTH116 - start-up time
        found.append(f"{path} {seen.st_size} {seen.st_mtime_ns}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


@lru_cache(maxsize=8)
def _packed(parts: Parts) -> _Packed:
    """Build the program."""
    files = _our_files()
    tools: dict[str, str] = {}
    for module, path in parts.families:
        name = module.replace(".", "/")
        package = path.name == "__init__.py"
        files[f"{name}/__init__.py" if package else f"{name}.py"] = path.read_text("utf-8")
        if "TOOLS" in files[f"{name}/__init__.py" if package else f"{name}.py"]:
            for tool in tool_names(module, path):
                tools.setdefault(tool, module)
    if parts.answered:
        files[f"{_ANSWERED}.py"] = _ANSWERED_TEXT % dict(parts.answered)
        tools = {**dict.fromkeys(dict(parts.answered), _ANSWERED), **tools}
    files["tools.json"] = json.dumps(tools, sort_keys=True)
    files = dict(sorted(_with_packages(files).items()))
    digest = hashlib.sha256(json.dumps(list(files.items())).encode()).hexdigest()[:32]
    return _Packed(digest, tuple(sorted(tools)), marshal.dumps(files, 2))


@lru_cache(maxsize=1)
def _boot() -> tuple[str, str]:
    """Return START and the packed text of ``remote/boot.py``, with that of ``enter.py`` in it."""
    texts = {}
    tree = _bare(BOOT)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            texts[ast.unparse(node.targets[0])] = node.value
    texts["ENTER"].value = ast.unparse(_bare(ENTER))
    packed = zlib.compress(ast.unparse(tree).encode(), 9)
    return str(texts["START"].value), binascii.b2a_base64(packed, newline=False).decode()


def _bare(path: Path) -> ast.Module:
    """Return the code of a file without its docstrings, which are not sent at each contact."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef)) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return tree
