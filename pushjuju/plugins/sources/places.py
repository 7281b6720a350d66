"""Sources of single charms: a directory, an archive, or a git repository."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from pushjuju.core import children
from pushjuju.core.errors import NotFound, NotValid, ProviderError
from pushjuju.core.values import regex
from pushjuju.plugins.api.sources import CharmPlace, CharmSourceType, SourceKind, SourceServices
from pushjuju.plugins.hookspecs import PLUGIN_API, hookimpl

PUSHJUJU_API = PLUGIN_API
DIRECTORY, ARCHIVE, GIT = "directory", "archive", "git"
_GIT = "git+"
_SCHEMES = ("https", "http", "ssh", "file")
_REMOTE = ("https", "http", "ssh")
_COMMIT = regex(r"[0-9a-f]{7,40}")
_REF = regex(r"[A-Za-z0-9][A-Za-z0-9._/+-]*")
_CLONE_S = 600.0


def _is_path(address: str) -> bool:
    return address.startswith((".", "/"))


def _is_archive(address: str) -> bool:
    return _is_path(address) and not Path(address).is_dir()


def _is_directory(address: str) -> bool:
    return _is_path(address) and Path(address).is_dir()


def _is_git(address: str) -> bool:
    return address.startswith(_GIT)


@hookimpl
def pushjuju_charm_sources() -> Sequence[CharmSourceType]:
    """Return the types for directories, archives and git repositories."""
    place = SourceKind.PLACE
    return [
        CharmSourceType(
            name=DIRECTORY, kind=place, summary="a charm's directory, built or not", accepts=_is_directory
        ),
        CharmSourceType(name=ARCHIVE, kind=place, summary="a .charm file", accepts=_is_archive),
        CharmSourceType(
            name=GIT, kind=place, summary="git+https://HOST/REPO[@REF][#FOLDER]", accepts=_is_git
        ),
    ]


@hookimpl
def pushjuju_open_charm_source(type_name: str, address: str, services: SourceServices) -> CharmPlace | None:
    """Return the charm at an address, or None for another type."""
    if type_name in (DIRECTORY, ARCHIVE):
        return LocalPath(address)
    return GitCheckout(address, services.environ) if type_name == GIT else None


class LocalPath:
    """A charm's directory or archive on this computer."""

    def __init__(self, address: str) -> None:
        self._path = Path(address)

    def bring(self, work: Path) -> Path:  # noqa: ARG002 - nothing is fetched
        """Return the path."""
        if not self._path.exists():
            raise NotFound(f'no charm was found at "{self._path}"')
        return self._path


class GitCheckout:
    """A charm's sources in a git repository: `git+https://host/repo.git@ref#folder`."""

    def __init__(self, address: str, environ: Mapping[str, str]) -> None:
        self._environ = environ
        url, _, self._folder = address.removeprefix(_GIT).partition("#")
        scheme, colon, rest = url.partition("://")
        path, at, ref = rest.rpartition("@")
        if at and "/" in path:  # an @ before the first slash separates the user's name
            rest, self._ref = path, ref
        else:
            self._ref = ""
        self._url = f"{scheme}://{rest}"
        if not colon or scheme not in _SCHEMES or not rest or rest.startswith("-"):
            raise NotValid(f'"{address}" is no URL of a git repository', hint="git+https://HOST/REPO@REF")
        if self._ref and not _REF.fullmatch(self._ref):
            raise NotValid(f'"{self._ref}" is not the name of a branch or tag')
        if self._folder and ".." in Path(self._folder).parts:
            raise NotValid(f'"{self._folder}" leads out of the repository')

    def bring(self, work: Path) -> Path:
        """Clone the branch or tag, and return the charm's folder in the clone."""
        target = work / "checkout"
        check_out(self._url, self._ref, target, self._environ)
        found = target / self._folder
        if not found.is_dir() or not found.resolve().is_relative_to(target.resolve()):
            raise NotFound(f'the repository has no folder "{self._folder}"')
        return found


def check_out(url: str, ref: str, target: Path, environ: Mapping[str, str]) -> None:
    """Clone a repository with its submodules: a branch, tag or commit, or the default branch when empty.

    No program of the repository runs: neither hooks, nor commands in its configuration. Submodules are only
    cloned over the network, so that a repository cannot copy files from this computer.
    """
    url, kept = _login(url, _git_environment(environ))
    target.mkdir(parents=True)

    def git(*words: str, protocols: Sequence[str] = _SCHEMES) -> children.Ended:
        argv = [
            "git",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
            "-C",
            str(target),
            *words,
        ]
        allowed = {**kept, "GIT_ALLOW_PROTOCOL": ":".join(protocols)}
        return children.run(argv, environ=allowed, timeout=_CLONE_S)

    try:
        git("init", "--quiet", "--template=")
        git("remote", "add", "--", "origin", url)
        ran = git("fetch", "--quiet", "--depth", "1", "--", "origin", ref or "HEAD")
        if ran.returncode and _COMMIT.fullmatch(ref):  # some servers do not send a commit by its hash alone
            ran = git("fetch", "--quiet", "--", "origin")
        if not ran.returncode:
            ran = git("checkout", "--quiet", "--detach", ref if _COMMIT.fullmatch(ref) else "FETCH_HEAD")
        if not ran.returncode and (target / ".gitmodules").is_file():
            words = ("submodule", "--quiet", "update", "--init", "--recursive")
            ran = git(*words, "--depth", "1", protocols=_REMOTE)
            ran = git(*words, protocols=_REMOTE) if ran.returncode else ran
    except FileNotFoundError:
        raise NotFound("git is not on this computer", hint="apt install git") from None
    except children.TimedOut:
        raise ProviderError(f"cloning {url} takes more than {_CLONE_S:.0f} seconds") from None
    if ran.returncode:
        shutil.rmtree(target, ignore_errors=True)
        raise ProviderError(f"cannot clone {url}", detail=ran.stderr.strip()[-2000:])


# Git calls this credential helper when a server requires a login. Other users can see arguments, so the text
# contains the names of environment variables instead of values.
_HELPER = """!f() { printf 'username=%s\\npassword=%s\\n' "$REPOSITORY_USER" "$REPOSITORY_PASSWORD"; }; f"""


def _login(url: str, environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a URL without its login, and the environment variables that pass the login to git."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if not at or parts.scheme not in ("http", "https"):
        return url, dict(environ)
    name, _, password = user.partition(":")
    number = int(environ.get("GIT_CONFIG_COUNT") or 0)  # after settings that the user passes in the same way
    return urlunsplit(parts._replace(netloc=host)), {
        **environ,
        "REPOSITORY_USER": unquote(name),
        "REPOSITORY_PASSWORD": unquote(password),
        "GIT_CONFIG_COUNT": str(number + 1),
        f"GIT_CONFIG_KEY_{number}": f"credential.{parts.scheme}://{host}.helper",  # only for this host
        f"GIT_CONFIG_VALUE_{number}": _HELPER,
    }


def _git_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return git's environment: the user's own git settings, and an `ssh` that uses the user's keys.

    No agent is forwarded to the host, whatever `~/.ssh/config` says. When the user's git settings name
    another command for `ssh`, git runs that command.
    """
    keep = ("SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_", "GIT_SSL_", "GIT_CONFIG_", "GIT_PROXY_", "GIT_ASKPASS")
    kept = children.environment(environ or None, keep=keep)
    fixed = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": ":".join(_SCHEMES), "LC_ALL": "C"}
    own = "GIT_SSH" in kept or children.run(["git", "config", "core.sshCommand"], environ=kept).stdout
    return {**kept, **fixed} if own else {"GIT_SSH_COMMAND": "ssh -a -x", **kept, **fixed}
