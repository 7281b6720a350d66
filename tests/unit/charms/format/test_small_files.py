"""LXD profile, metrics, revision, version, ignore rules, Go forms, coercion helpers, the wire form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.charms.archive import ignore
from pushjuju.charms.archive.reader import load
from pushjuju.charms.format import coerce, extras
from pushjuju.charms.values.goform import literal
from pushjuju.charms.values.hooks import hook_names
from pushjuju.charms.values.model import Charm
from pushjuju.charms.values.problems import Problems
from pushjuju.charms.values.wire import from_wire, to_wire
from pushjuju.core.errors import InvalidCharm, NotValid

HEAD = "name: web\nsummary: s\ndescription: d\n"


def charm_of(**files: str) -> Charm:
    names = {"profile": "lxd-profile.yaml", "revision": "revision", "version": "version"}
    tree = {names.get(key, key + ".yaml"): text.encode() for key, text in files.items()}
    return load({"metadata.yaml": HEAD.encode(), **tree}.get)


def test_profile() -> None:
    text = "description: d\nconfig: {security.nesting: true, a: 5}\ndevices: {gpu: {type: gpu}}"
    profile = charm_of(profile=text).lxd_profile
    assert profile is not None
    assert profile.config == {"security.nesting": "true", "a": "5"}
    assert profile.devices == {"gpu": {"type": "gpu"}}
    assert not profile.empty
    extras.check_profile(profile)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("devices: {d: {type: nic}}", 'invalid lxd-profile.yaml: contains device type "nic"'),
        ("devices: {d: {}}", 'invalid lxd-profile.yaml: contains device type ""'),
        ("config: {boot.autostart: 1}", 'invalid lxd-profile.yaml: contains config value "boot.autostart"'),
        ("config: {limits.cpu: 1}", 'invalid lxd-profile.yaml: contains config value "limits.cpu"'),
        ("config: {migration.x: 1}", 'invalid lxd-profile.yaml: contains config value "migration.x"'),
    ],
)
def test_profiles_that_ask_too_much(text: str, fault: str) -> None:
    profile = charm_of(profile=text).lxd_profile
    assert profile is not None
    with pytest.raises(NotValid) as caught:
        extras.check_profile(profile)
    assert caught.value.message == fault


@pytest.mark.parametrize("text", ["[", "[1]", "config: 5", "config: {a: [1]}", "devices: [x]"])
def test_unreadable_profiles(text: str) -> None:
    with pytest.raises(InvalidCharm, match=r"failed to unmarshall lxd-profile\.yaml: "):
        charm_of(profile=text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("metrics: {juju-x: {type: gauge, description: d}}",
         ('metric "juju-x" is using a prefix reserved for built-in metrics: '
         "it should not have type or description specification")),
        ("metrics: {x: {type: dial, description: d}}",
         'invalid metrics declaration: metric "x" has unknown type "dial"'),
        ("metrics: {x: {type: gauge}}", 'invalid metrics declaration: metric "x" lacks description'),
        ("metrics: [", "yaml: "),
    ],
)  # fmt: skip
def test_metrics_faults(text: str, fault: str) -> None:
    with pytest.raises(InvalidCharm) as caught:
        charm_of(metrics=text)
    assert caught.value.message.startswith('parsing "metrics.yaml" file: ' + fault)


def test_good_metrics_are_a_warning() -> None:
    charm = charm_of(
        metrics="metrics: {juju-units: , x: {type: gauge, description: d}}\nplan: {required: true}"
    )
    assert charm.warnings == ("metrics.yaml: metrics are not collected any more; the file is ignored",)
    assert charm_of(metrics="metrics: {}").warnings == ()


@pytest.mark.parametrize(("text", "number"), [("7", 7), (" 12\nx", 12), ("007", 7)])
def test_revision(text: str, number: int) -> None:
    assert charm_of(revision=text).revision == number


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "9" * 30])
def test_bad_revision(text: str) -> None:
    with pytest.raises(InvalidCharm, match="invalid revision file"):
        charm_of(revision=text)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1\nmore", "v1"),
        ("revision-id: x@y-1\n", "x@y-1"),
        ("", ""),
        ("a" * 150, "a" * 100),
        ("  v2  ", "v2"),
    ],
)
def test_version(text: str, version: str) -> None:
    assert charm_of(version=text).version == version


def matches(lines: str, path: str, *, is_dir: bool = False) -> bool:
    return ignore.ignored(ignore.parse_rules(lines.splitlines()), path, is_dir=is_dir)


@pytest.mark.parametrize(
    ("lines", "path", "out"),
    [
        ("*.pyc", "a.pyc", True),
        ("*.pyc", "a/b/c.pyc", True),
        ("*.pyc", "a.pyc/x", False),
        ("/a", "a", True),
        ("/a", "b/a", False),
        ("a/b", "a/b", True),
        ("a/b", "x/a/b", True),
        ("/a/b", "x/a/b", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a*c", "a/c", False),
        ("a**c", "a/x/c", True),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/x/y/c", True),
        ("**/c", "c", True),
        ("**/c", "x/y/c", True),
        ("a/**", "a/x/y", True),
        ("a/**", "a", False),
        ("[ab].x", "a.x", True),
        ("[!ab].x", "a.x", False),
        ("[!ab].x", "c.x", True),
        ("[a-c].x", "b.x", True),
        ("[^a].x", "b.x", True),
        ("# a", "# a", False),
        ("\\#a", "#a", True),
        ("\\!a", "!a", True),
        ("a\\ b", "a b", True),
        ("a\\ ", "a ", True),
        ("a  ", "a", True),
        ("  a", "a", True),
        ("", "a", False),
        ("*.x\n!keep.x", "keep.x", False),
        ("*.x\n!keep.x\nkeep.*", "keep.x", True),
        ("\\*.x", "a.x", False),
        ("\\*.x", "*.x", True),
        ("a.b", "axb", False),
    ],
)
def test_ignore_rules(lines: str, path: str, out: bool) -> None:
    assert matches(lines, path) is out


def test_directory_rules() -> None:
    assert not matches("build/", "build")
    assert matches("build/", "build", is_dir=True)
    assert matches("build", "build", is_dir=True)
    for path in (".git", "sub/.git", ".tox", "build"):
        assert ignore.ignored(ignore.built_in_rules(), path, is_dir=True)
    assert not ignore.ignored(ignore.built_in_rules(), "sub/build", is_dir=True)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("[a", 'unterminated character class in pattern "[a"'),
        ("a\\", 'trailing backslash in pattern "a\\\\"'),
        ("/", 'empty pattern "/"'),
        ("!", 'empty pattern "!"'),
        ("[z-a]", 'bad character class in pattern "[z-a]"'),
    ],
)
def test_bad_ignore_rules(line: str, fault: str) -> None:
    with pytest.raises(InvalidCharm) as caught:
        ignore.parse_rules(["fine", "", line])
    assert caught.value.message == f'parsing ".jujuignore" file: [line 3]: {fault}'


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_rule_is_a_pattern_or_a_fault(line: str, path: str) -> None:
    message = ""
    try:
        ignore.ignored(ignore.parse_rules([line]), path, is_dir=False)
    except InvalidCharm as error:
        message = error.message
    assert message == "" or message.startswith('parsing ".jujuignore" file: [line 1]: ')


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "<nil>"), (True, "true"), (5, "5"), (1.5, "1.5"), (3.0, "3"), (float("inf"), "+Inf"),
        (float("-inf"), "-Inf"), (float("nan"), "NaN"), (1e21, "1e+21"), ('a\n"b\\', '"a\\n\\"b\\\\"'),
        ([1, "x"], '[]interface {}{1, "x"}'), ({"a": 1}, 'map[interface {}]interface {}{"a":1}'),
    ],
)  # fmt: skip
def test_go_literals(value: object, text: str) -> None:
    assert literal(value) == text


@pytest.mark.parametrize(
    ("text", "mib"),
    [("5", 5), ("1G", 1024), ("1.5GiB", 1536), ("0.1M", 1), ("2TB", 2 * 1024**2), (".5G", 512), ("0", 0),
     ("1Y", 1024**6)],
)  # fmt: skip
def test_sizes(text: str, mib: int) -> None:
    assert coerce.parse_size(text) == mib


@pytest.mark.parametrize("text", ["", "G", "-1", ".", "x1"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="expected a non-negative number"):
        coerce.parse_size(text)


def test_hook_names() -> None:
    document = HEAD + "requires: {db: x}\nstorage: {d: {type: block}}\n"
    names = hook_names(load({"metadata.yaml": document.encode()}.get).meta)
    assert {"install", "secret-rotate", "db-relation-created", "d-storage-detaching"} <= names
    assert "juju-info-relation-joined" not in names
    assert len(names) == 14 + 4 + 5 + 2


def test_the_wire_form_is_json_and_comes_back() -> None:
    charm = load(
        {
            "metadata.yaml": (
                HEAD + "provides: {a: {interface: x, scope: container, limit: 2}}\npeers: {p: q}\n"
                "storage: {d: {type: filesystem, properties: [transient]}}\ndevices: {g: {type: t}}\n"
                "resources: {r: {filename: f}}\npayloads: {k: {type: t}}\nterms: [aa]\ntags: [t]\n"
                "extra-bindings: {e: }\nassumes: [juju >= 3, {any-of: [k8s-api, juju]}]\n"
                "charm-user: root\nx: y\n"
            ).encode(),
            "manifest.yaml": b"bases: [{name: ubuntu, channel: 22.04/edge, architectures: [amd64]}]",
            "config.yaml": b"options: {a: {type: float, default: 1.5}, b: {type: secret}}",
            "actions.yaml": b"act: {params: {x: {type: string}}}",
            "lxd-profile.yaml": b"config: {a: b}",
            "metrics.yaml": b"metrics: {m: {type: gauge, description: d}}\nplan: {required: true}",
            "revision": b"4",
            "version": b"v1",
        }.get
    )
    document = json.loads(json.dumps(to_wire(charm)))
    again = from_wire(document)
    assert again == charm
    assert again.meta.provides["a"].scope is charm.meta.provides["a"].scope
    assert type(again.config["b"].type) is type(charm.config["b"].type)
    assert from_wire(to_wire(Charm(meta=charm.meta))) == Charm(meta=charm.meta)


def test_problems_tell_one_warning_once() -> None:
    problems = Problems()
    problems.warn("a")
    problems.warn("a")
    assert problems.warnings == ["a"]
    problems.raise_if_any()
