"""Files that users name: input without end, pipes, folders, odd bytes."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from pushjuju.charms.archive import named_files
from tests.world.charm_trees import METADATA, charm_tree
from tests.world.commandline import Run, ok

_ENDLESS = "larger than 5242880 bytes"
_NO_WRITER = "no program writes to this pipe"
_COMMANDS = (
    ("config", "web", "--file", "FILE"),
    ("deploy", "./web", "other", "--config", "FILE"),
    ("model-config", "--file", "FILE"),
    ("add-secret", "s", "--file", "FILE"),
    ("add-secret", "s", "key#file=FILE"),
    ("add-machine", "--from", "FILE"),
    ("add-machine", "ssh:u@10.9.9.9", "--public-key", "FILE"),
    ("add-cloud", "c", "--client", "--file", "FILE"),
    ("update-credential", "local", "--client", "--file", "FILE"),
    ("run", "web/0", "go", "--params", "FILE"),
    ("replay", "--file", "FILE"),
    ("notify", "add", "t", "--file", "FILE"),
)


@pytest.fixture
def web(lab: Run, unworked: None, tmp_path: Path) -> Run:
    """A model with an application; `fifo` is a pipe without a writer."""
    resource = "resources: {blob: {type: file, filename: b.bin}}\n"
    options = "options: {text: {type: string, default: ''}}\n"
    charm_tree(tmp_path / "web", {"config.yaml": options}, METADATA + resource)
    (tmp_path / "b.bin").write_bytes(b"x")
    ok(lab("deploy", "./web", "--resource", "blob=b.bin"))
    os.mkfifo(tmp_path / "fifo")
    return lab


@pytest.mark.parametrize(("file", "problem"), [("/dev/zero", _ENDLESS), ("fifo", _NO_WRITER)])
@pytest.mark.parametrize("command", _COMMANDS, ids=lambda words: " ".join(words[:3]))
def test_a_file_without_end_or_writer_is_a_plain_error(
    web: Run, command: tuple[str, ...], file: str, problem: str
) -> None:
    ended = web(*(word.replace("FILE", file) for word in command))
    assert ended.status in (1, 2), ended.err
    assert problem in ended.err
    assert "internal error" not in ended.err


def test_a_value_from_a_file_has_juju_s_limit(web: Run) -> None:
    ended = web("config", "web", "text=@/dev/zero")
    assert (ended.status, ended.err) == (1, 'ERROR size of option file is larger than 5M: "text"\n')
    assert _NO_WRITER in web("config", "web", "text=@fifo").err


@pytest.mark.parametrize("target", ["/dev/zero", "fifo"])
def test_charms_bundles_and_resources_are_regular_files(web: Run, target: str, tmp_path: Path) -> None:
    for name in ("c.charm", "b.yaml", "r.bin"):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "real.yaml").write_text("applications: {}\n")
    for words in (
        ("deploy", "./c.charm"),
        ("deploy", "./b.yaml"),
        ("deploy", "./web", "other", "--resource", "blob=r.bin"),
        ("attach-resource", "web", "blob=r.bin"),
    ):
        ended = web(*words)
        assert ended.status == 1, ended.err
        assert "not a regular file" in ended.err
    assert "not found" in web("deploy", "./real.yaml", "--overlay", "b.yaml").err
    assert "as a local bundle" in web("apply", "b.yaml").err


@pytest.mark.parametrize("file", ["/dev/zero", "fifo", "."])
def test_a_private_key_is_a_regular_file(web: Run, file: str) -> None:
    ended = web("add-machine", "ssh:u@127.0.0.1", "--private-key", file)
    assert ended.status == 1
    assert "not a regular file" in ended.err


def test_a_pipe_is_read_to_its_end() -> None:
    reader, writer = os.pipe()  # as bash's `<(command)`
    with os.fdopen(writer, "wb") as stream:
        thread = threading.Thread(target=lambda: (stream.write(b"x" * 200_000), stream.close()))
        thread.start()
        assert named_files.read(f"/dev/fd/{reader}") == b"x" * 200_000
        thread.join()
    os.close(reader)


@pytest.mark.parametrize("content", [b"web: {text: caf\xe9}\n", b"web: {text: a\0b}\n"])
def test_odd_bytes_of_settings_are_a_plain_error(web: Run, content: bytes, tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_bytes(content)
    ended = web("config", "web", "--file", "odd.yaml")
    assert (ended.status, "yaml: " in ended.err, "#x" in ended.err) == (1, True, False), ended.err
    assert web("config", "web", "--file", "-", stdin=content.decode(errors="surrogateescape")) == ended


def test_a_mark_of_byte_order_and_windows_lines_are_read(web: Run, tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_bytes(b"\xef\xbb\xbfweb:\r\n  text: abc\r\n")
    ok(web("config", "web", "--file", "w.yaml"))
    assert ok(web("config", "web", "text")) == "abc\n"
