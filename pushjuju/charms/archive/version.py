"""Finds the version text of a charm directory in its version control.

The settings inside a tree may name programs to run, and the author of the tree wrote those settings. So git
is called with a temporary directory that has the tree's objects and index but not its settings; the other
tools get options that make them ignore the settings of the tree.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pushjuju.charms.format.extras import clean_version, read_version
from pushjuju.core import children

_log = logging.getLogger(__name__)

# Takes the name of a version control tool and a directory, and returns the version text.
VersionRunner = Callable[[str, Path], str]

_FOLDERS = {".git": "git", ".hg": "hg", ".bzr": "bzr"}
_TIMEOUT_S = 30.0
_SHORT = 4096
_HG: Mapping[str, str] = {"HGRCSKIPREPO": "1", "HGPLAIN": "1"}
_GIT: Mapping[str, str] = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""
}  # fmt: skip
# Git settings that change how files compare; none of them can name a program.
_COMPARING = frozenset(
    {
        "core.filemode", "core.symlinks", "core.ignorecase", "core.autocrlf", "core.eol", "core.trustctime",
        "core.checkstat", "core.repositoryformatversion", "extensions.objectformat",
    }
)  # fmt: skip


def run_vcs(tool: str, directory: Path) -> str:
    """Return the version that a version control tool gives for a directory."""
    if tool == "git":
        return _ask_git(directory)
    words = ["hg", "-R", str(directory), "id", "-n"]
    if tool == "bzr":
        words = ["bzr", "--no-plugins", "version-info", str(directory)]
    return _run(words, {**children.environment(), **_HG})


def version_text(root: Path, run: VersionRunner) -> tuple[str, list[str]]:
    """Return (version text, warnings); the text is empty when the directory has no version. Never fails."""
    tool, directory = _tool(root)
    if not tool:
        path, absolute = root / "version", root.absolute()
        if not path.is_file():
            _log.info('charm is not versioned, charm path "%s"', absolute)
            return "", []
        _log.debug('charm is not in version control, but uses a version file, charm path "%s"', absolute)
        return read_version(path.read_bytes()), []
    try:
        lines = run(tool, directory).splitlines()
    except (OSError, children.ChildError, UnicodeError) as error:
        text = f'"{tool}" version string generation failed : {error}'
        return "", [f"{text}\nThis means that the charm version won't show in pushjuju status."]
    return clean_version(lines[0] if lines else ""), []


def _tool(root: Path) -> tuple[str, Path]:
    """Return the tool and its directory; with git, the charm may be a part of a larger work tree."""
    top = root.resolve()
    for directory in (top, *top.parents):
        found = [tool for name, tool in _FOLDERS.items() if (directory / name).exists()]
        if found and (directory == top or found[0] == "git"):
            return found[0], directory
    return "", root


def _run(words: Sequence[str], environ: Mapping[str, str], *, check: bool = True) -> str:
    return children.run(words, environ=environ, timeout=_TIMEOUT_S, check=check).stdout


def _ask_git(directory: Path) -> str:
    """Return the text of `git describe --dirty --always`, made without the settings of the work tree.

    A submodule counts as changed when another commit is checked out in it. To find other changes, git would
    run inside the submodule, with the settings of the submodule.
    """
    common, own = _git_folders(directory)
    environ = {**children.environment(keep=("GIT_CONFIG_",)), **_GIT}
    settings = _run(
        ["git", "config", "--file", str(common / "config"), "--no-includes", "--null", "--list"], environ
    )
    with tempfile.TemporaryDirectory(prefix="pushjuju-git-") as folder:
        plain = Path(folder)
        for name in ("objects", "refs", "packed-refs", "shallow"):
            _link(plain / name, common / name)
        for path in (own / "index", *own.glob("sharedindex.*")):
            _link(plain / path.name, path)
        (plain / "HEAD").write_text(_short(own / "HEAD"), encoding="utf-8")
        (plain / "config").touch()
        environ |= {"GIT_DIR": folder, "GIT_WORK_TREE": str(directory)}
        for key, given, value in (item.partition("\n") for item in settings.split("\0")):
            if key in _COMPARING:
                words = ["git", "config", "--file", str(plain / "config"), key, value if given else "true"]
                _run(words, environ)
        text = _run(["git", "describe", "--always"], environ).strip()
        compare = ["git", "-c", "core.fsmonitor=false", "diff", "--quiet", "--no-ext-diff", "--no-textconv"]
        compared = children.run(
            [*compare, "--ignore-submodules=dirty", "HEAD", "--"], environ=environ, timeout=_TIMEOUT_S
        )
    if compared.returncode not in (0, 1):
        raise children.ChildError(compared.stderr.strip())
    return f"{text}-dirty" if compared.returncode else text


def _git_folders(directory: Path) -> tuple[Path, Path]:
    """Return git's common directory (objects, branches) and the work tree's own directory; often the same."""
    own = directory / ".git"
    if own.is_file():  # for submodules and linked work trees, `.git` is a file that names the directory
        own = directory / _short(own).removeprefix("gitdir:").strip()
    common = own / "commondir"
    return (own / _short(common).strip() if common.is_file() else own), own


def _short(path: Path) -> str:
    if not path.is_file():  # a read from a pipe would wait, and a device may never end
        raise FileNotFoundError(f"{path} is no file")
    with path.open(encoding="utf-8") as file:
        return file.read(_SHORT)


def _link(link: Path, target: Path) -> None:
    if target.exists():
        link.symlink_to(target.resolve())
