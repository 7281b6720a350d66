"""Scripts run as root on machines, whatever shell the login has."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from pushjuju.workers.reach import AS_ROOT


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh", "fish"])
def test_a_login_with_any_shell_runs_scripts_as_root(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed here")
    script = 'if [ "$(id -u)" = 0 ]; then printf \'%s\\n\' "I\'m root"; fi; exit 5\n'
    done = subprocess.run([shell, "-c", AS_ROOT], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (5, "I'm root\n", "")


def test_the_words_that_a_login_reads_have_nothing_that_shells_read_differently() -> None:
    begin, inner, end = AS_ROOT.split("'")
    assert (begin, end) == ("exec /bin/sh -c ", "")
    assert not set("\n\\!") & set(inner)
