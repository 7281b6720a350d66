"""Plays a how-to of the docs: each line of its blocks, and each `pushjuju ...` in its text, in their order.

A test names each command that it does not run, with the reason; a reason without its command fails.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.world import console

HOW_TOS = Path(__file__).parents[2] / "docs" / "how-to"
Run = Callable[[str], tuple[int, str]]
NOTHING: Mapping[str, str] = {}
# a block with its language, a line of an indented block, a piece of code in the text
_PIECE = re.compile(r"^```(\w*)\n((?:.*\n)*?)```$|^ {4}(\S.*)$|`([^`]+)`", re.MULTILINE)
_TYPED = re.compile(r"(?:^|.*\()(?:pushjuju|pj|juju) ")


def commands(page: str) -> list[str]:
    """Return the commands of a page; a block of `sh` is one. What a sentence repeats is not repeated."""
    found: list[str] = []
    for language, block, line, said in _PIECE.findall((HOW_TOS / page).read_text(encoding="utf-8")):
        code = " ".join(said.replace("\\|", "|").split())
        if language == "console":
            found += [shown[2:] for shown in block.splitlines() if shown.startswith("$ ")]
        elif language == "sh":
            found.append(block)
        elif line:
            found.append(re.sub(r"\s+# .*", "", line))
        elif _TYPED.match(code) and code not in found:
            found.append(code)
    return found


def block(page: str, language: str, number: int = 0) -> str:
    """Return a block of a page in a language: the first, unless a number says which."""
    found = [text for name, text, *_ in _PIECE.findall((HOW_TOS / page).read_text()) if name == language]
    return str(found[number])


def play(
    page: str,
    run: Run,
    *,
    left_out: Mapping[str, str] = NOTHING,
    put: Mapping[str, str] = NOTHING,
    ends: Mapping[str, int] | None = None,
) -> dict[str, str]:
    """Run the commands of a page; return command as on the page -> what it printed.

    Args:
        page: The name of the file in docs/how-to.
        run: Runs a command line; returns its exit code and what it printed.
        left_out: Command -> why the test cannot run it.
        put: Text of the page -> what stands for it here, such as an address.
        ends: Command -> its exit code, unless 0.
    """
    printed: dict[str, str] = {}
    todo = commands(page)
    assert {*left_out, *(ends or {})} <= {*todo}, sorted({*left_out, *(ends or {})} - {*todo})
    for command in todo:
        if command not in left_out:
            typed = command
            for text, instead in put.items():
                typed = typed.replace(text, instead)
            code, printed[command] = run(typed)
            assert code == (ends or {}).get(command, 0), f"$ {typed}\n{printed[command]}\nexit code {code}"
    for step in console.steps(HOW_TOS / page):
        if step.shown and step.command in printed:
            assert console.matches(step.shown, printed[step.command]), printed[step.command]
    return printed


class Shell:
    """Runs lines in bash, with the program in its path; what is exported stays.

    Attributes:
        home: The home directory, where the lines run.
        environ: The variables; tests may change them.
    """

    def __init__(self, home: Path, **environ: str) -> None:
        home.mkdir(exist_ok=True)
        self.home = home
        self.environ = {"LC_ALL": "C.UTF-8", **environ, "HOME": str(home), "PATH": _path(home)}

    def __call__(self, line: str, stdin: str = "") -> tuple[int, str]:
        """Run a line; return its exit code and what it printed."""
        kept = self.home / "environ"
        script = f"trap 'env -0 > \"$HOME/environ\"' EXIT\nshopt -s expand_aliases\n{line}\n"
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.home, env=self.environ, input=stdin, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, start_new_session=True,
        )  # fmt: skip
        left = dict(item.partition("=")[::2] for item in kept.read_text().split("\0") if item)
        self.environ |= {name: value for name, value in left.items() if name not in ("_", "PWD", "SHLVL")}
        kept.unlink()
        return done.returncode, done.stdout

    @contextmanager
    def serves(self, line: str, said: str) -> Iterator[re.Match[str]]:
        """Run a command on a terminal until Ctrl-C; yield what matches a pattern in its output."""
        reader, writer = pty.openpty()
        process = subprocess.Popen(
            shlex.split(line), cwd=self.home, env=self.environ, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=writer, stderr=writer,
        )  # fmt: skip
        os.close(writer)
        with os.fdopen(reader) as shown, process:
            try:
                text = ""
                while not (found := re.search(said, text)):
                    line = shown.readline()
                    assert line, f"{text}\nended without {said!r}"
                    text += line
                yield found
            finally:
                process.send_signal(signal.SIGINT)


def _path(home: Path) -> str:
    """Return a search path, in which `pushjuju` is the program of this checkout."""
    folder = home / ".bin"
    folder.mkdir(exist_ok=True)
    (folder / "pushjuju").unlink(missing_ok=True)
    (folder / "pushjuju").symlink_to(Path(sys.executable).with_name("pushjuju"))
    return os.pathsep.join([str(folder), "/usr/bin", "/bin", "/usr/sbin", "/sbin"])
