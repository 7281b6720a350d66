"""Hook tools with any arguments: an answer, no fault of ours; the controller takes what they note."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.portable import jsontext
from pushjuju.runner.remote.tools import goyaml
from pushjuju.runner.remote.tools.toolcontext import ToolContext
from pushjuju.runner.trust import intake
from tests.fuzz.hostile import TEXTS, fuzz
from tests.world.hook_run import REGISTRY, SNAPSHOT, HookRun

KNOWN = [
    "-",
    "--",
    "-r",
    "--relation",
    "--relation=1",
    "-r1",
    "db:1",
    "cluster:0",
    "9",
    "--app",
    "--app=false",
    "--format",
    "--format=json",
    "--format=yaml",
    "smart",
    "--file",
    "--file=-",
    "--help",
    "-h",
    "-l",
    "--now",
    "--include-data",
    "--application",
    "a=b",
    "a=",
    "=b",
    "a.b.c=d",
    ".",
    "a..b=1",
    "80",
    "80-90/tcp",
    "90-80",
    "icmp",
    "0/udp",
    "65536",
    "80/icmp",
    "--endpoints",
    "--endpoints=db,site,,",
    "web/0",
    "pg/0",
    "pg",
    "blocked",
    "active",
    "running",
    "secret:x",
    "--strict",
    "--primary-address",
    "--ingress-address",
    "db",
    "-debug",
    "--debug",
    "monitor",
    "docker",
]
WORDS = st.one_of(
    st.sampled_from(KNOWN),
    TEXTS,
    st.from_regex(r"--?[a-z-]{1,12}=?.{0,6}", fullmatch=True),
    st.text(alphabet="a.=-", max_size=12),
)  # fmt: skip
SCALARS = st.one_of(TEXTS, st.from_regex(r"[-+0-9.:eExX_~]{1,12}", fullmatch=True))
DOCUMENTS = st.one_of(
    st.binary(max_size=60),
    st.text(alphabet="ab: -\n\"'|>&*!#%{}[],?\t\\0x", max_size=60).map(str.encode),
    st.dictionaries(TEXTS, SCALARS, max_size=4).map(lambda value: json.dumps(value).encode()),
)


class Run(HookRun):
    """A hook run whose files are all one file in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.context = copy.deepcopy(SNAPSHOT)
        self.context["payload_classes"] = {"monitor": "docker"}


@pytest.fixture(scope="module", autouse=True)
def only_one_file(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Keep `--output` and `--file` from the rest of the machine."""
    path = tmp_path_factory.mktemp("tools") / "file"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ToolContext, "path", lambda *_: str(path))
        yield


@fuzz(150)
@given(
    calls=st.lists(
        st.tuples(st.sampled_from(sorted(REGISTRY)), st.lists(WORDS, max_size=5), DOCUMENTS),
        min_size=1,
        max_size=3,
    ),
    kind=st.sampled_from(["hook", "action"]),
    leader=st.booleans(),
)  # fmt: skip
def test_any_call_gets_an_answer(tmp_path: Path, calls: list[Any], kind: str, leader: bool) -> None:
    run = Run(tmp_path)
    run.context.update(kind=kind, leader=leader)
    if kind == "action":
        run.context["action"] = {"name": "a", "id": "1", "params": {"x": {"y": 1}}}
    for name, argv, stdin in calls:
        words = [word.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape") for word in argv]
        rc, out, err = run.run(name, *words, stdin=stdin)
        assert rc in (0, 1, 2)
        assert b"internal error" not in err
        assert isinstance(out, bytes)
    result = {"outcome": "ok", "writes": json.loads(jsontext.dumps(run.writes))}
    taken = intake.read_result(result)
    assert taken["outcome"] == "ok", taken["message"]
    events = [json.loads(jsontext.dumps(event)) for event in run.events]
    assert all(intake.read_event(event) for event in events)


@fuzz(150)
@given(data=DOCUMENTS)
def test_any_settings_file_is_read_or_refused(data: bytes) -> None:
    try:
        found = goyaml.read_settings(data)
    except goyaml.YamlError as error:
        found, said = {}, str(error)
    else:
        said = "fine"
    assert said
    assert all(isinstance(part, str) for item in found.items() for part in item)


@pytest.mark.parametrize(
    "data",
    [b"[" * 100_000, b"{a: " * 50_000, b"- " * 50_000, b"a: " * 50_000, b"? " * 50_000],
)
def test_a_deep_settings_file_is_refused(data: bytes) -> None:
    with pytest.raises(goyaml.YamlError):
        goyaml.read_settings(data)


def test_results_deeper_than_any_record_fail_the_tool_not_the_hook(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.context.update(kind="action", action={"name": "a", "id": "1", "params": {}})
    rc, _, err = run.run("action-set", ".".join("a" * 5000) + "=1")
    assert rc == 2
    assert b"levels" in err
    assert jsontext.dumps(run.writes)
