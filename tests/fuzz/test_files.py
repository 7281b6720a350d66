"""Charm archives and YAML of strangers: read, or refused with a sentence; nothing lands outside."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pushjuju.charms as charms_package
from pushjuju.charms.archive.reader import read_charm
from pushjuju.charms.format.yamlsafe import load
from pushjuju.core.errors import InvalidCharm, NotValid
from pushjuju.runner.remote.disk import unzip
from tests.charms_tools.unpacking import unpack
from tests.fuzz.hostile import ODD, TEXTS, fuzz
from tests.world.charms import Charms

FILES = (
    "metadata.yaml", "config.yaml", "actions.yaml", "manifest.yaml", "charmcraft.yaml", "lxd-profile.yaml",
    "version", "revision", "hooks/install", "src/charm.py",
)  # fmt: skip
NAMES = (*FILES, "../x", "/etc/x", "a/../../x", "hooks/", "a\\b", "C:/x", "hooks/install/x")
YAML = st.one_of(
    st.binary(max_size=80),
    st.text(alphabet="ab: -\n\"'|>&*!#%{}[],?<\t\\01.eE~", max_size=80).map(str.encode),
    ODD.map(lambda value: json.dumps(value).encode()),
    st.lists(
        st.sampled_from(
            ["name: web", "summary: s", "description: d", "series: [jammy]", "options:", "  a: {type: int}",
             "requires: {x: {interface: y}}", "peers:", "  p: [", "params: {a: {$ref: '#/a'}}", "&a [*a]",
             "<<: *b", "!!python/object:os.system x", "storage: {s: {type: block, range: 5-1}}", "assumes:",
             "- any-of: [juju >= 99]", "provides: 5", "run: {}", "bases: [{}]",
             "!!binary \uaced0", "%YAML 9.9", "---", "..."]
        ),
        max_size=8,
    ).map(lambda lines: "\n".join(lines).encode()),
)  # fmt: skip


@pytest.fixture(scope="module")
def charm(packs: Charms) -> bytes:
    """A good archive."""
    return packs.make(files={"actions.yaml": "run: {}\n", "src/charm.py": "pass\n" * 200}).path.read_bytes()


def doors(path: Path) -> list[Any]:
    """Bring an archive in by every door; return what was refused."""
    found: list[Any] = []
    place = path.parent
    for door in (lambda: read_charm(path), lambda: unpack(path, place / "fresh")):
        with contextlib.suppress(InvalidCharm):
            found.append(door())
    with contextlib.suppress(unzip.BadArchive), path.open("rb") as file:
        for member in unzip.read_members(file):
            assert unzip.check_name(member.name) == member.name
            assert sum(len(piece) for piece in unzip.content(file, member)) == member.size
    return found


def outside(place: Path) -> set[str]:
    """Return what lies in a folder beside the archive and what was unpacked from it."""
    return {item.name for item in place.iterdir()} - {"x.charm", "fresh"}


@fuzz(40)
@given(
    changes=st.lists(st.tuples(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=4)), max_size=6),
    cut=st.integers(0, 200),
)
def test_a_spoilt_archive_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, charm: bytes, changes: list[tuple[int, bytes]], cut: int
) -> None:
    data = bytearray(charm)
    for at, piece in changes:
        spot = len(data) - 1 - at % 400 if at % 2 else at % len(data)  # the directory is at the end
        data[spot : spot + len(piece)] = piece
    place = tmp_path_factory.mktemp("spoilt")
    path = place / "x.charm"
    path.write_bytes(bytes(data[: len(data) - cut] if cut < 50 else data))
    doors(path)
    assert not outside(place)


@fuzz(60)
@given(
    entries=st.lists(
        st.tuples(
            TEXTS | st.sampled_from(NAMES),
            YAML,
            st.sampled_from([0o100644, 0o100755, 0o120777, 0o040755, 0o010644, 0o104755, 0]),
        ),
        max_size=6,
    )
)  # fmt: skip
def test_an_archive_with_any_entries_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[str, bytes, int]]
) -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as file:
        for name, data, mode in entries:
            info = zipfile.ZipInfo("x")
            info.filename = name.encode("utf-8", "replace").decode()[:60000]
            info.external_attr, info.create_system = mode << 16, 3
            file.NameToInfo.clear()
            with contextlib.suppress(ValueError):
                file.writestr(info, data)
    place = tmp_path_factory.mktemp("any")
    path = place / "x.charm"
    path.write_bytes(body.getvalue())
    doors(path)
    assert not outside(place)


@fuzz(80)
@given(files=st.dictionaries(st.sampled_from(FILES[:8]), YAML, max_size=4))
def test_a_charm_with_any_files_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    place = tmp_path_factory.mktemp("charm")
    good = {"metadata.yaml": b"name: web\nsummary: s\ndescription: d\nseries: [jammy]\n"}
    for name, data in (good | files).items():
        (place / name).write_bytes(data)
    with contextlib.suppress(InvalidCharm):
        assert read_charm(place).charm.meta.name


@fuzz(150)
@given(data=YAML)
def test_any_yaml_is_plain_data_or_refused(data: bytes) -> None:
    try:
        value = load(data)
    except NotValid as error:
        said = error.message
    else:
        said = f"yaml: {json.dumps(value, default=repr)}"
    assert said.startswith("yaml: ")


def test_who_reads_charms_can_start_nothing() -> None:
    risky = {
        "subprocess",
        "children",
        "pickle",
        "marshal",
        "shelve",
        "importlib",
        "runpy",
        "ctypes",
        "multiprocessing",
        "code",
    }
    calls = {
        "eval",
        "exec",
        "compile",
        "__import__",
        "system",
        "popen",
        "execv",
        "execvp",
        "posix_spawn",
        "fork",
    }
    every = set(Path(charms_package.__file__).parent.glob("*.py"))
    for path in (
        path for path in every if path.name != "version.py"
    ):  # asks git about a person's own directory
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            )
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not risky & {name.split(".")[0] for name in names}, path.name
            if isinstance(node, ast.Call):
                called = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
                own = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "re"
                assert own or called not in calls, f"{path.name}: {called}"
