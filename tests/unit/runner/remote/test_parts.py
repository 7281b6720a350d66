"""Small parts of the runner: journal, host keys, packer, layout, tool names, facts."""

from __future__ import annotations

import ast
import binascii
import hashlib
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.runner.push import bootstrap
from pushjuju.runner.push.packer import REMOTE, pack
from pushjuju.runner.remote.base import layout
from pushjuju.runner.remote.disk import journal
from pushjuju.runner.remote.operation import deploy
from pushjuju.runner.remote.server import facts
from pushjuju.runner.remote.tools import nativeclient, toolclient
from pushjuju.runner.ssh.hostkeys import HostKeyFile, entry_name, fingerprint
from tests.world import CHECKOUT

# Heavy to import, and not needed: the program must start within milliseconds.
HEAVY = {
    "asyncio",
    "subprocess",
    "json",
    "re",
    "typing",
    "enum",
    "pathlib",
    "zipfile",
    "socket",
    "signal",
    "hashlib",
}


def test_journal_remembers_and_tells_who_runs(tmp_path: Path) -> None:
    writer = journal.Writer(str(tmp_path), "web/0:1")
    writer.begin({"id": "web/0:1", "kind": "hook"})
    writer.write("events", [{"seq": 1, "e": {}}])
    path = writer.path
    assert journal.entries(str(tmp_path)) == [path]
    assert layout.is_held(path)
    with pytest.raises(FileExistsError):
        journal.Writer(str(tmp_path), "web/0:1")
    os.close(writer.fd)
    assert not layout.is_held(path)
    entry = journal.Entry(path)
    assert (entry.op_id, len(entry.events), entry.result) == ("web/0:1", 1, None)
    journal.close_entry(entry, {"outcome": "terminated"})
    assert journal.Entry(path).result == {"outcome": "terminated"}


def test_journal_that_broke_off_is_read_up_to_the_break(tmp_path: Path) -> None:
    writer = journal.Writer(str(tmp_path), "x")
    writer.begin({"id": "x"})
    writer.write("events", [{"seq": 1, "e": {}}])
    os.pwrite(writer.fd, b'{"events":[{"seq":2', journal.Entry(writer.path).end)
    entry = journal.Entry(writer.path)
    assert [event["seq"] for event in entry.events] == [1]


@pytest.mark.parametrize("op_id", ["", "x" * 300])
def test_journal_refuses_impossible_ids(op_id: str) -> None:
    with pytest.raises(ValueError, match="operation id"):
        journal.file_name(op_id)


def test_journal_file_names_differ_and_are_plain() -> None:
    ids = ["a/b", "a%2fb", "a b", "..", "é", "a"]
    names = [journal.file_name(op_id) for op_id in ids]
    assert len(set(names)) == len(ids)
    assert all("/" not in name for name in names)


def test_seen_list_is_bounded_and_kept(tmp_path: Path) -> None:
    seen = journal.Seen(str(tmp_path))
    for number in range(2500):
        seen.add(f"op-{number}", {}, 0.0)
    again = journal.Seen(str(tmp_path))
    assert "op-2499" in again
    assert "op-1" not in again
    assert len((tmp_path / "seen").read_text().splitlines()) <= 2 * journal.SEEN_KEEP + 1


def test_seen_hooks_are_recalled_by_later_servers_in_their_order(tmp_path: Path) -> None:
    seen = journal.Seen(str(tmp_path))
    seen.add("op-old", {"unit": "web/0", "hook": "install"}, 100.0)
    seen.add("op-deploy", {"unit": "web/0", "kind": "deploy"}, 200.0)
    seen.add("op-hook", {"unit": "web/0", "hook": "start"}, 200.0)
    seen.add("op-action", {"unit": "web/0", "action": "start"}, 201.0)
    for known in (seen, journal.Seen(str(tmp_path))):
        assert known.recent(210.0, 20.0) == [
            {"id": "op-hook", "unit": "web/0", "name": "start"},
            {"id": "op-action", "unit": "web/0", "name": "action start"},
        ]
        assert "op-deploy" in known


def test_a_hook_in_the_seen_list_keeps_its_name_when_the_list_is_shortened(tmp_path: Path) -> None:
    seen = journal.Seen(str(tmp_path))
    for number in range(5 * journal.SEEN_KEEP):
        seen.add(f"op-{number}", {"unit": "web/0", "hook": f"h{number}"}, float(number))
    found = journal.Seen(str(tmp_path)).recent(0.0, 0.0)
    assert len(found) == journal.SEEN_KEEP
    assert found[-1] == {"id": "op-4999", "unit": "web/0", "name": "h4999"}


def test_a_damaged_seen_list_is_read_as_far_as_possible(tmp_path: Path) -> None:
    (tmp_path / "seen").write_text("#9 web/0 start\nop-1\n#x web/0 start\nop-2\n#\nop-3\n#5 web/0 stop\n")
    seen = journal.Seen(str(tmp_path))
    assert seen.recent(9.0, 9.0) == [{"id": "op-3", "unit": "web/0", "name": "stop"}]


def test_host_keys_are_found_added_and_removed(tmp_path: Path) -> None:
    file = HostKeyFile(tmp_path / "sub/known_hosts")
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0"
    assert file.find("h") == []
    file.remove("h")
    file.add("h", key + " comment")
    file.add("h", key)
    file.add(entry_name("h", 2222), key)
    assert file.find("h") == [key]
    assert file.path.read_text() == f"h {key}\n[h]:2222 {key}\n"
    file.remove("h")
    assert file.path.read_text() == f"[h]:2222 {key}\n"
    assert fingerprint("ssh-rsa !!!") == "ssh-rsa (not readable)"


def test_program_is_named_by_its_content(tmp_path: Path) -> None:
    family = tmp_path / "fam.py"
    family.write_text("TOOLS = {'x-tool': None}\n")
    helper = tmp_path / "helper.py"
    helper.write_text("VALUE = 1\n")
    one = pack([("plugin.fam", family), ("plugin.helper", helper)])
    assert one.tools == ("x-tool",)
    assert one == pack([("plugin.fam", family), ("plugin.helper", helper)])
    assert one.digest != pack().digest
    broken = tmp_path / "broken.py"
    broken.write_text("TOOLS = nope\n")
    with pytest.raises(NotValid, match="cannot be loaded") as caught:
        pack([("plugin.broken", broken)])
    assert "NameError" in caught.value.detail


def test_program_imports_nothing_heavy() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1])"
    code += "; from pushjuju.runner.remote.operation import hookrun"
    code += "; from pushjuju.runner.remote.server import attach, loop; print(' '.join(sys.modules))"
    root = str(CHECKOUT)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, root], capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(done.stdout.split())


def test_a_plain_command_needs_nothing_of_the_hook_tools() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1])"
    code += "; from pushjuju.runner.remote.operation import work; work.preload('exec')"
    code += "; from pushjuju.runner.remote.server import attach, loop; print(' '.join(sys.modules))"
    words = [sys.executable, "-I", "-S", "-c", code, str(CHECKOUT)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert "pushjuju.runner.remote.operation.commands" in modules
    assert not [
        name for name in modules if name.endswith((".toolkit", ".toolserver", ".yamltext", ".hookrun"))
    ]


def test_program_imports_only_itself_and_the_standard_library() -> None:
    for path in REMOTE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                top = name.split(".")[0]
                known = top in sys.stdlib_module_names or name.startswith(
                    ("pushjuju.runner.remote", "pushjuju.portable")
                )
                assert known or top in ("_sha2", "_sha256", "_sha512"), f"{path.name}: {name}"


def test_command_line_survives_every_login_shell() -> None:
    line = bootstrap.command(pack(), "/a root", {"linger": 1})
    assert "\n" not in line
    assert "!" not in line
    assert len(line) < 16_000
    for shell in ("sh", "bash", "dash", "zsh", "fish", "csh"):
        if subprocess.run(["which", shell], capture_output=True, check=False).returncode == 0:
            words = line.replace("exec sh -c", "printf '%s|'", 1)
            done = subprocess.run([shell, "-c", words], capture_output=True, text=True, check=True)
            assert done.stdout.split("|")[-4:-2] == ["/a root", '{"linger": 1}']


@pytest.mark.parametrize(
    "unit", ["web", "web/", "/0", "../x/0", "web/0/1", "w b/0", "web/x", "wéb/0", "web/٣"]
)
def test_names_that_are_no_units_are_refused(unit: str) -> None:
    with pytest.raises(layout.BadName):
        layout.unit_tag(unit)


def test_socket_path_that_is_too_long_moves() -> None:
    paths = layout.Layout("", "/var/lib/juju/pushjuju/x")
    assert paths.socket("web/0") == "/var/lib/juju/agents/unit-web-0/agent.socket"
    long = paths.socket("a" * 90 + "/0")
    assert long.startswith("/run/pushjuju-")
    assert len(long) < 40


@pytest.mark.parametrize(
    ("name", "hook"),
    [
        ("install", True),
        ("db-relation-joined", True),
        ("data-storage-attached", True),
        ("hooks.py", False),
        ("README", False),
    ],
)
def test_hook_names(name: str, hook: bool) -> None:
    assert deploy.is_hook(name) is hook


def test_tools_of_juju_are_complete_and_plain() -> None:
    assert len(set(toolclient.TOOL_NAMES)) == len(toolclient.TOOL_NAMES) == 50
    assert {"relation-get", "secret-info-get", "juju-reboot", "goal-state"} <= set(toolclient.TOOL_NAMES)


def test_clients_compile() -> None:
    compile(toolclient.client_source("python").split("\n", 1)[1], "client", "exec")
    if layout.has_perl():
        done = subprocess.run(
            ["perl", "-wc", "-"], input=toolclient.PERL_CLIENT, capture_output=True, text=True, check=True
        )
        assert "syntax OK" in done.stderr


def test_the_program_of_each_processor_is_of_the_present_source(tmp_path: Path) -> None:
    source = CHECKOUT / "contrib/toolclient/client.c"
    assert hashlib.sha256(source.read_bytes()).hexdigest() == nativeclient.SOURCE, "run `make toolclient`"
    for processor, packed in nativeclient.PROGRAMS.items():
        program = tmp_path / processor
        program.write_bytes(zlib.decompress(binascii.a2b_base64(packed)))
        program.chmod(0o755)
        emulator = [] if processor == os.uname().machine else [shutil.which(f"qemu-{processor}-static") or ""]
        assert program.read_bytes()[:4] == b"\x7fELF"
        if emulator != [""]:
            done = subprocess.run([*emulator, program], capture_output=True, check=False, env={})
            assert (done.returncode, done.stderr) == (1, b"ERROR JUJU_CONTEXT_ID not set\n")


def test_a_client_that_does_not_run_here_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = binascii.b2a_base64(zlib.compress(b"\x7fELF of another processor")).decode()
    monkeypatch.setattr(nativeclient, "PROGRAMS", {os.uname().machine: foreign})
    tools = toolclient.ensure_tools(layout.Layout(str(tmp_path), "p"), "web/0")
    assert "JUJU_CONTEXT_ID" in Path(tools, "juju-log").read_text()
    before = Path(tools, "juju-log").lstat().st_mtime_ns
    toolclient.ensure_tools(layout.Layout(str(tmp_path), "p"), "web/0")
    assert Path(tools, "juju-log").lstat().st_mtime_ns == before


@pytest.mark.parametrize("gone", ["config-get", "juju-log/program"])
def test_hook_tools_that_were_deleted_come_back(tmp_path: Path, gone: str) -> None:
    paths = layout.Layout(str(tmp_path), "p")
    tools = Path(toolclient.ensure_tools(paths, "web/0"))
    os.utime(tools, (1, 1))  # links that were made just now are looked at each time
    toolclient.ensure_tools(paths, "web/0")
    link = tools / gone.partition("/")[0]
    (link.resolve() if "/" in gone else link).unlink()
    toolclient.ensure_tools(paths, "web/0")
    assert subprocess.run([link], check=False, capture_output=True, env={}).returncode == 1  # it runs


def test_facts_agree_with_the_system() -> None:
    found = facts.gather()
    assert found["hostname"] == os.uname().nodename
    assert found["python"].startswith("3.")
    assert all(len(nic["mac"]) in (0, 17) or nic["mac"].count(":") > 5 for nic in found["nics"])
