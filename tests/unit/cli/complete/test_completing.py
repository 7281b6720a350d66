"""Completion: what is offered, how little is imported for it, and real shells that ask."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pushjuju.cli.app.root import Root
from pushjuju.cli.commands import registry
from pushjuju.cli.complete import completeclouds, completing
from pushjuju.core import constraints
from pushjuju.core.model.secrets import Content
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.machine import spaces
from pushjuju.services.requests.relation import integrate
from pushjuju.services.requests.secret import user_secrets
from pushjuju.services.requests.user import users
from pushjuju.services.views import hook_tools
from tests.world import how_to
from tests.world.charms import Charms
from tests.world.commandline import Run
from tests.world.controller import TestController

PAGE = "complete-in-the-shell.md"
SHELLS = ("bash", "zsh", "fish")
# Each of these costs more than a TAB may.
HEAVY = (
    "asyncio",
    "asyncssh",
    "click",
    "dataclasses",
    "json",
    "pushjuju.core",
    "pushjuju.store",
    "tomllib",
    "typing",
)


_ACTIONS = """
greet:
  description: Says hello
  params:
    loud: {type: boolean, description: How loud}
    name: {type: string}
grow: {}
"""


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory, packs: Charms) -> dict[str, str]:
    """A model with two applications, a relation, storage, a secret and an action; its environment."""
    root = tmp_path_factory.mktemp("lab")
    world = TestController.build(root, packs)
    actions = {"actions.yaml": _ACTIONS}
    stored = {"storage": {"data": {"type": "filesystem", "location": "/srv"}}}
    resources = {"resources": {"site": {"type": "file", "filename": "site.tar"}}}
    web = packs.make("web", requires={"db": {"interface": "sql"}}, files=actions, **stored, **resources)
    world.deploy("web", 2, packed=web)
    world.deploy("db", packed=packs.make("db", provides={"server": {"interface": "sql"}}))
    integrate.integrate(world.ctx, world.model, "web", "db")
    world.focus()
    users.add(world.ctx, "kim", "Kim")
    secret = fill(world)
    world.ctx.close()
    return {"PUSHJUJU_DATA": str(world.ctx.datadir.root), "HOME": str(root), "SECRET": secret}


def fill(world: TestController) -> str:
    """Give a model a space with a subnet, a key, a secret, a task; the client a cloud with credentials.

    Returns:
        The secret's URI.
    """
    spaces.add(world.ctx, world.model, "dmz", [])
    with world.ctx.write(world.model) as tx:
        tx.run("subnet_add", cidr="10.0.0.0/24")
        line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMJjmGvRkMKcQgUPVJMqKqBBWAPHQGNYJLZOcVJmYdnR kim@lab"
        tx.run("model_config_set", key="authorized-keys", value=json.dumps(line))
    operations.enqueue(world.ctx, world.model, operations.ActionRequest(action="greet", receivers=["web/0"]))
    root = world.ctx.datadir.root
    (root / "clouds.toml").write_text('[clouds.lab]\ntype = "lxd"\nregions = { east = {}, west = {} }\n')
    (root / "credentials.toml").write_text(
        '[credentials.lab]\ndefault-credential = "kim"\n[credentials.lab.kim]\nauth-type = "certificate"\n'
        'client-key = "sealed:x"\n[credentials.lab.spare]\nauth-type = "certificate"\n'
    )
    return user_secrets.add(world.ctx, world.model, "word", Content({"word": "eA=="}))


def offered(env: dict[str, str], line: str) -> list[str]:
    """Return what is offered at the end of a line, without what is said about it."""
    return [text for text, _ in completing.answer(completing.split(line), env)[1]]


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("statu", ["status"]),
        ("--debug statu", ["status"]),
        ("remove-unit ", ["db/0", "web/0", "web/1"]),
        ("remove-unit web/0 w", ["web/1"]),
        ("show-application ", ["db", "web"]),
        ("show-machine ", ["0", "1", "2"]),
        ("integrate d", ["db"]),
        ("relate db:", ["db:server", "db:cluster", "db:juju-info"]),
        ("integrate db:server web:d", ["web:db"]),
        ("config web ti", ["title="]),
        ("config web title=x de", ["debug="]),
        ("run web/0 gr", ["greet", "grow"]),
        ("run web/0 w", ["web/1", "web/leader"]),
        ("show-action web gree", ["greet"]),
        ("attach-resource web ", ["site="]),
        ("add-storage web/0 ", ["data"]),
        ("show-storage ", ["data/0", "data/1"]),
        ("status -m ", ["admin/shop", "shop"]),
        ("status --model=sh", ["--model=shop"]),
        ("status -m admin/nope ", []),
        ("-m", []),
        ("switch ho", ["home"]),
        ("show-controller ", ["home"]),
        ("remove-relation 2", ["2"]),
        ("plan -- remove-un", ["remove-unit"]),
        ("plan -- remove-unit web/", ["web/0", "web/1"]),
        ("plan remove-unit web/", ["web/0", "web/1"]),
        ("metrics t", ["token"]),
        ("hooks --failed db", ["db/0"]),
        ("hooks --hook conf", ["config-changed"]),
        ("hooks --form", ["--format"]),
        ("hooks --format ", ["tabular", "yaml", "json"]),
        ("hooks --format=j", ["--format=json"]),
        ("add-unit --to ", ["0", "1", "2"]),
        ("add-unit --num-units ", []),
        ("model-config update-status", ["update-status-hook-interval="]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("explain data/", ["data/0", "data/1"]),
        ("deploy --base x --cha", ["--channel"]),
        ("nope ", []),
        ("doctor l", ["local", "lab", "linode", "localhost"]),
        ("show-user k", ["kim"]),
        ("grant ", ["admin", "kim"]),
        ("grant kim s", ["superuser"]),
        ("grant kim read sh", ["shop"]),
        ("grant-cloud kim add-model lab", ["lab"]),
        ("show-cloud l", ["local", "lab", "linode", "localhost"]),
        ("update-cloud ", ["lab"]),
        ("show-credential lab ", ["kim", "spare"]),
        ("update-credential lab k", ["kim"]),
        ("remove-credential lab kim ", []),
        ("default-credential lab ", ["kim", "spare"]),
        ("set-credential lab s", ["spare"]),
        ("bootstrap lab/", ["lab/east", "lab/west"]),
        ("bootstrap lab home --credential ", ["kim", "spare"]),
        ("bootstrap lab --credential=k", ["--credential=kim"]),
        ("add-model dev lab/e", ["lab/east"]),
        ("add-model dev lab --credential s", ["spare"]),
        ("add-model dev --credential s", []),
        ("default-region lab ", ["east", "west"]),
        ("add-credential lab --region w", ["west"]),
        ("default-region google europe-west1", ["europe-west1"]),
        ("ssh web/l", ["web/leader"]),
        ("exec --unit web/0,web/", ["web/0,web/0", "web/0,web/1", "web/0,web/leader"]),
        ("operations --status r", ["running"]),
        ("operations --actions gr", ["greet", "grow"]),
        ("cancel-task ", ["2"]),
        ("show-task ", ["2"]),
        ("config web debug=t", ["debug=true"]),
        ("config web --reset title,no", ["title,note"]),
        ("model-config --reset update-status-hook-i", ["update-status-hook-interval"]),
        ("controller-config audit-log-max-b", ["audit-log-max-backups="]),
        ("expose web --endpoints d", ["db"]),
        ("bind web db", ["db="]),
        ("bind web db=", ["db=alpha", "db=dmz"]),
        ("show-space ", ["alpha", "dmz"]),
        ("move-to-space dmz ", ["10.0.0.0/24"]),
        ("remove-ssh-key ", ["kim@lab"]),
        ("grant-secret ", ["word", "SECRET"]),
        ("grant-secret word web,d", ["web,db"]),
        ("debug-hooks web/0 db-relation-c", ["db-relation-created", "db-relation-changed"]),
        ("debug-code web/0 gre", ["greet"]),
        ("wait-for unit w", ["web/0", "web/1"]),
        ("deploy --channel ed", ["edge"]),
        ("set-constraints web me", ["mem="]),
        ("upgrade-machine 0 prepare ubuntu@24", ["ubuntu@24.04"]),
        ("schema ex", ["explain"]),
        ("help-tool relation-g", ["relation-get"]),
        ("resources --format t", ["tabular"]),
        ("show-status-log web --type w", ["workload"]),
        ("disable-command ", ["all", "destroy-model", "remove-object"]),
        ("-- statu", ["status"]),
    ],
)
def test_what_is_offered(env: dict[str, str], line: str, offers: list[str]) -> None:
    expected = [text.replace("SECRET", env["SECRET"]) for text in offers]
    assert offered(env, line) == expected


def test_words_about_the_offers(env: dict[str, str]) -> None:
    assert ("greet", "Says hello") in completing.answer(["run", "web/0", ""], env)[1]
    assert completing.answer(["deploy", ""], env) == ("files", [])
    assert completing.answer(["config", "web", ""], env)[0] == "nospace"
    assert completing.answer(["show-application", "--output", ""], env)[0] == "files"


def test_parameters_of_the_action_that_is_given(env: dict[str, str]) -> None:
    asked = completing.answer(["run", "web/0", "web/1", "greet", ""], env)
    assert asked == ("nospace", [("loud=", "How loud"), ("name=", "")])
    assert completing.answer(["run", "web/leader", "greet", "loud=1", ""], env)[1] == [("name=", "")]
    assert completing.answer(["run", "web/0", "grow", ""], env)[1] == []


def test_scp_completes_what_lies_here(
    env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "web.tar").write_text("")
    (tmp_path / ".hidden").write_text("")
    assert [text for text, _ in completing.answer(["scp", "s"], env)[1]] == ["site/"]
    assert completing.answer(["scp", "site/w"], env)[1] == [("site/web.tar", "")]
    assert completing.answer(["scp", f"{tmp_path}/.h"], env)[1] == [(f"{tmp_path}/.hidden", "")]
    offered = [text for text, _ in completing.answer(["scp", ""], env)[1]]
    assert {"web/0", "0", "site/"} <= set(offered)
    assert ".hidden" not in offered


def test_names_of_charms_cannot_say_anything_to_a_shell(tmp_path: Path, packs: Charms) -> None:
    world = TestController.build(tmp_path, packs)
    odd = {
        name: {"type": "string", "description": "\x1b[2Jx"}
        for name in ("a$(id)", "b`id`", "c;d", "e f", "ok")
    }
    world.deploy("web", packed=packs.make("web", peers=None, config=odd))
    world.focus()
    world.ctx.close()
    env = {"PUSHJUJU_DATA": str(world.ctx.datadir.root), "HOME": str(tmp_path)}
    assert offered(env, "config web ") == ["ok="]
    assert asked(env, "zsh", "config", "web", "").stdout == "nospace\nok=\t[2Jx\n"


def test_every_command_is_offered_and_every_rule_is_of_a_command() -> None:
    assert {text for text, _ in completing.answer([""], {"HOME": "/nope"})[1]} == set(registry.words())
    assert set(completing.ARGUMENTS) <= registry.known()


NOT_HERE = {
    "abort",
    "add-branch",
    "add-k8s",
    "branch",
    "commit",
    "commits",
    "diff",
    "remove-k8s",
    "show-commit",
    "track",
    "update-k8s",
}  # fmt: skip - refused, whatever their arguments


def test_every_command_with_arguments_has_a_rule_and_every_kind_an_answer() -> None:
    root = Root()
    for word in sorted(registry.words()):
        found = root.get_command(None, word)  # type: ignore[arg-type]
        assert found is not None
        assert not found.usage or word in completing.ARGUMENTS or word in NOT_HERE, word
    rules = (*completing.ARGUMENTS.values(), *completing.VALUES.values(), *completing.OF_COMMAND.values())
    kinds = {kind.rstrip("*,") for rule in rules for place in rule.split() for kind in place.split("|")}
    known = {"file", *completing._OFFERS, *completing.FIXED, *completing.QUERIES}
    assert kinds <= known, kinds - known
    assert completing._OFFERS.keys().isdisjoint({*completing.FIXED, *completing.QUERIES})


def test_names_that_the_tables_keep_are_those_of_the_program() -> None:
    found = hook_tools.tools({}, print)
    assert completing.FIXED["hooktool"].split() == sorted(found)
    assert {key.rstrip("=") for key in completing.FIXED["constraint"].split()} == set(constraints.ORDER)
    types = PluginHost(environ={"PUSHJUJU_DISABLE_PLUGINS": "all"}).provider_types()
    public = {name: table for kind in types for name, table in kind.public_clouds.items()}
    assert set(completeclouds.PUBLIC) == set(public)
    assert {name: list(table.get("regions") or ()) for name, table in completeclouds._public().items()} == {
        name: list(table.get("regions") or ()) for name, table in public.items()
    }


def test_credentials_are_named_not_opened(env: dict[str, str]) -> None:
    done = asked(env, "zsh", "show-credential", "lab", "")
    assert done.stdout == "plain\nkim\tcertificate\nspare\tcertificate\n"


def test_flags_of_the_table_are_read_as_the_commands_read_them() -> None:
    root = Root()
    for word in sorted(registry.words()):
        found = root.get_command(None, word)  # type: ignore[arg-type]
        for spec in found.specs if found is not None else ():
            for name in (f"--{name}" if len(name) > 1 else f"-{name}" for name in spec.names):
                bare = name in completing.BARE.get(word, ())
                assert not (spec.boolean and name in completing.VALUES) or bare, (
                    f"{word} {name} takes no value"
                )
                assert spec.boolean or not bare, f"{word} {name} takes a value"
                assert spec.boolean or name not in completing.SWITCHES, f"{word} {name} takes a value"


@pytest.mark.parametrize("line", ["remove-unit ", "status -m ", "show-controller ", "replay ", "a b -m x:y "])
def test_without_a_store_nothing_is_offered_and_nothing_is_made(tmp_path: Path, line: str) -> None:
    env = {"PUSHJUJU_DATA": str(tmp_path / "none"), "HOME": str(tmp_path)}
    assert offered(env, line) == []
    assert list(tmp_path.iterdir()) == []


def asked(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "pushjuju.cli", "__complete", *words]
    return subprocess.run(
        argv, env={"PATH": "/usr/bin:/bin", **env}, capture_output=True, text=True, check=False
    )


def test_a_broken_store_says_nothing(env: dict[str, str], tmp_path: Path) -> None:
    root = tmp_path / "data"
    shutil.copytree(env["PUSHJUJU_DATA"], root)
    (root / "controllers" / "home" / "state.db").write_bytes(b"no store" * 1000)
    done = asked({"PUSHJUJU_DATA": str(root)}, "zsh", "remove-unit", "")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


@pytest.mark.parametrize("words", [("remove-unit", ""), ("",), ("status", "-m", "")])
def test_a_tab_imports_almost_nothing(env: dict[str, str], words: tuple[str, ...]) -> None:
    code = (
        "import sys; from pushjuju.cli.entry import main\ntry: main()\nexcept SystemExit: print(*sys.modules)"
    )
    argv = [sys.executable, "-c", code, "__complete", "zsh", *words]
    done = subprocess.run(argv, env={"PATH": "/usr/bin", **env}, capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1].split()
    assert "pushjuju.cli.complete.completing" in modules
    assert not [name for name in modules if name.startswith(HEAVY)]


def test_a_tab_at_a_flag_executes_the_module_of_the_command_alone(env: dict[str, str]) -> None:
    code = (
        "import sys; from pushjuju.cli.entry import main\n"
        "try: main()\n"
        "except SystemExit: print(*(name for name, module in sys.modules.items()"
        "    if type(module).__name__ != '_Unread' and not hasattr(module, '__path__')))"
    )
    argv = [sys.executable, "-c", code, "__complete", "zsh", "deploy", "--ov"]
    done = subprocess.run(argv, env={"PATH": "/usr/bin", **env}, capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1].split()
    assert "pushjuju.cli.commands.application.deploy" in modules
    rooms = ("pushjuju.services.", "pushjuju.workers.", "pushjuju.store.", "pushjuju.client.", "asyncio")
    assert not [name for name in modules if name.startswith(rooms)]


def test_bash_gets_what_is_behind_its_break(env: dict[str, str]) -> None:
    breaks = " \t\n\"'><=;|&(:"
    assert asked(env, "bash", "pushjuju integrate web:d", breaks).stdout == "plain\ndb\n"
    assert asked(env, "bash", "pushjuju status --model=sh", breaks).stdout == "plain\nshop\n"
    assert asked(env, "bash", "pushjuju integrate web:d", " ").stdout == "plain\nweb:db\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a  b ", ["a", "b", ""]),
        ("a 'b c", ["a", "b c"]),
        ('a "b\\"c" d', ["a", 'b"c', "d"]),
        ("a\\ b ''", ["a b", ""]),
        ("", [""]),
    ],
)
def test_lines_are_split_as_shells_do(text: str, words: list[str]) -> None:
    assert completing.split(text) == words


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_sound(run: Run, shell: str, tmp_path: Path) -> None:
    script = run("completion", shell).out
    assert "__complete" in script
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)


def test_shells_that_nobody_knows(run: Run) -> None:
    assert run("completion", "ksh").err.startswith('ERROR unknown shell "ksh"')
    assert run("completion").status == 2


# --- real shells ------------------------------------------------------------------------------------------

_START = {
    "bash": ("bash --norc --noprofile", "bind 'set enable-bracketed-paste off'"),
    "zsh": ("zsh -f", "autoload -Uz compinit; compinit -u; setopt NO_LIST_AMBIGUOUS"),
    "fish": ("fish --no-config --private", "function fish_prompt; echo '$ '; end"),
}
# how new shells find the files of the how-to page
_NEW = {
    "bash": ("bash --norc --noprofile", ". /usr/share/bash-completion/bash_completion"),
    "zsh": ("zsh -f", "fpath+=~/.zfunc; autoload -Uz compinit; compinit -u"),
    "fish": ("fish --private", "function fish_prompt; echo '$ '; end"),
}


class Terminal:
    """A shell in a terminal, driven through tmux."""

    def __init__(self, start: str, setup: str, env: dict[str, str], folder: Path) -> None:
        self._socket = folder / "tmux"
        binary = folder / "bin" / "pushjuju"
        binary.parent.mkdir(exist_ok=True)
        binary.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pushjuju.cli "$@"\n')
        binary.chmod(0o755)
        path = f"{binary.parent}:/usr/bin:/bin"
        self._env = {**env, "PATH": path, "TERM": "xterm", "LC_ALL": "C.UTF-8", "PS1": "$ "}
        words = ["new-session", "-d", "-x", "120", "-y", "40", "-c", str(folder), start]
        self._tmux("-f", "/dev/null", *words)
        self.type(f"{setup}; clear; echo ready\n")
        self.until("ready\n")

    def _tmux(self, *words: str) -> str:
        argv = ["tmux", "-S", str(self._socket), *words]
        done = subprocess.run(argv, env=self._env, capture_output=True, text=True, check=True, timeout=30)
        return done.stdout

    def type(self, text: str) -> None:
        """Press keys."""
        for number, part in enumerate(text.split("\n")):
            if number:
                self._tmux("send-keys", "Enter")
            for at, piece in enumerate(part.split("\t")):
                if at:
                    self._tmux("send-keys", "Tab")
                if piece:
                    self._tmux("send-keys", "-l", piece)

    def screen(self) -> str:
        """Return what is to be seen."""
        return self._tmux("capture-pane", "-p")

    def until(self, text: str) -> str:
        """Wait until something is to be seen; return the screen."""
        end = time.monotonic() + 20
        while True:
            shown = self.screen()
            if text in shown:
                return shown
            assert time.monotonic() < end, f"no {text!r} in\n{shown}"
            time.sleep(0.05)

    def close(self) -> None:
        """End the shell."""
        self._tmux("kill-server")


@contextmanager
def terminal(start: str, setup: str, env: dict[str, str], folder: Path) -> Iterator[Terminal]:
    made = Terminal(start, setup, {**env, "HOME": str(folder)}, folder)
    yield made
    made.close()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_real_shell_completes(shell: str, env: dict[str, str], tmp_path: Path) -> None:
    """The lines of the how-to page, for one shell and for all new ones."""
    for program in (shell, "tmux"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed: apt-get install {program}")
    typed = how_to.Shell(tmp_path, **env)
    start, setup = _START[shell]

    def run(line: str) -> tuple[int, str]:
        if "source" not in line:
            return typed(line)
        with terminal(start, f"{setup}; {line}", env, tmp_path) as sourced:
            check_completion(sourced)
        return 0, ""

    others = {line: f"is not of {shell}" for line in how_to.commands(PAGE) if " completion " in line}
    left_out = {line: why for line, why in others.items() if f"completion {shell}" not in line}
    shown = how_to.play("complete-in-the-shell.md", run, left_out=left_out)
    assert "web/1" in shown['pushjuju __complete zsh remove-unit ""']
    if shell != "bash" or Path("/usr/share/bash-completion").exists():
        with terminal(*_NEW[shell], env, tmp_path) as new:
            check_completion(new)


def check_completion(terminal: Terminal) -> None:
    """Check what a shell completes."""
    terminal.type("pushjuju show-appl\t")
    terminal.until("pushjuju show-application")
    terminal.type("we\t")
    terminal.until("pushjuju show-application web")
    terminal.type("\x15")
    terminal.type("pushjuju integrate web:d\t")
    terminal.until("pushjuju integrate web:db")
    terminal.type("\x15")
    terminal.type("pushjuju config web tit\t")
    terminal.until("pushjuju config web title=")
    terminal.type("\x15")
    terminal.type("pushjuju remove-unit web/\t\t")
    shown = terminal.until("web/1")
    assert "web/0" in shown


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the flags of `deploy`, in a cache of this test."""
    monkeypatch.setenv("PUSHJUJU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "completion" / "deploy"


def test_flags_are_kept_and_read_without_the_command(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = completing.flags_of("deploy")
    assert kept.read_text().count("\n") == len(read)
    with monkeypatch.context() as patched:
        patched.setattr(completing, "_imported", None)
        again = completing.flags_of("deploy")
    assert [(names, switch, choices) for names, switch, _, choices in again] == [
        (names, switch, choices) for names, switch, _, choices in read
    ]
    assert completing.flags_of("status") != read


@pytest.mark.parametrize("text", ["", "other files\n--x\t\t\t", "\0", "{stamp}\nno fields"])
def test_a_cache_of_other_files_or_damaged_is_read_anew(kept: Path, text: str) -> None:
    read = completing.flags_of("deploy")
    stamp = kept.read_text().splitlines()[0]
    kept.write_text(text.replace("{stamp}", stamp))
    assert completing.flags_of("deploy") == read
    assert kept.read_text().startswith(stamp)


def test_a_cache_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PUSHJUJU_CACHE", str(tmp_path / "file"))
    assert completing.main(["zsh", "deploy", "--chann"]) == 0
    assert "--channel" in capsys.readouterr().out
