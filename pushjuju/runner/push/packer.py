"""Build the program for machines from portable modules, remote modules and hook tools, with an index."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import marshal
import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass

_SOURCE = Path(__file__).parents[3]
PORTABLE = _SOURCE / "pushjuju" / "portable"
REMOTE = _SOURCE / "pushjuju" / "runner" / "remote"
TYPES = PORTABLE / "frames.py"  # only type checkers need it
BOOT = REMOTE / "boot.py"  # sent as an argument of the command at every contact
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
    """The program for machines.

    Attributes:
        digest: Hash of the content, which names the program's directory on machines.
        files: The files of the program, marshalled: path -> text.
        tools: Names of the program's hook tools.
    """

    digest: str
    files: bytes
    tools: tuple[str, ...]

    @property
    def data(self) -> bytes:
        """Length and compressed files, as ``boot.py`` reads them; a machine with the program needs none."""
        return _compressed(self.files)


@lru_cache(maxsize=8)
def _compressed(files: bytes) -> bytes:
    data = zlib.compress(files)
    return len(data).to_bytes(4, "big") + data


def _our_files() -> dict[str, str]:
    """Return the files of every program, the portable and the remote modules: path -> text."""
    return {
        str(path.relative_to(_SOURCE)): path.read_text("utf-8")
        for folder in (PORTABLE, REMOTE)
        for path in sorted(folder.rglob("*.py"))
        if path not in (BOOT, TYPES)
    }


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
    families: Iterable[tuple[str, Path]] = (), answered: Mapping[str, str] = MappingProxyType({})
) -> Program:
    """Build the program.

    Args:
        families: Hook tool modules as (dotted name, source file). A module may import the standard library,
            the tool interface and other modules of `families`; a module without TOOLS is a helper.
        answered: Tools that the controller answers -> their help text; tools of `families` win over them.
    """
    return _pack(tuple((name, Path(path)) for name, path in families), tuple(sorted(answered.items())))


@lru_cache(maxsize=8)
def _pack(families: tuple[tuple[str, Path], ...], answered: tuple[tuple[str, str], ...]) -> Program:
    files = _our_files()
    tools: dict[str, str] = {}
    for module, path in families:
        name = module.replace(".", "/")
        package = path.name == "__init__.py"
        files[f"{name}/__init__.py" if package else f"{name}.py"] = path.read_text("utf-8")
        if "TOOLS" in files[f"{name}/__init__.py" if package else f"{name}.py"]:
            for tool in tool_names(module, path):
                tools.setdefault(tool, module)
    if answered:
        files[f"{_ANSWERED}.py"] = _ANSWERED_TEXT % dict(answered)
        tools = {**dict.fromkeys(dict(answered), _ANSWERED), **tools}
    files["tools.json"] = json.dumps(tools, sort_keys=True)
    files = dict(sorted(_with_packages(files).items()))
    digest = hashlib.sha256(json.dumps(list(files.items())).encode()).hexdigest()[:32]
    return Program(digest=digest, files=marshal.dumps(files, 2), tools=tuple(sorted(tools)))
