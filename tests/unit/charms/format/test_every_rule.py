"""Charms that break every rule once: each fault is told with the file and line where it stands.

A line of these files that ends in `#! TEXT` is where TEXT has to be told; several are parted by `&&`. A text
that is told anywhere else, or one that nobody expects, fails the test.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from pushjuju.charms.archive.pack import pack
from pushjuju.charms.archive.reader import load, read_charm
from pushjuju.charms.format.assumes import check_features
from pushjuju.core.errors import InvalidCharm, NotValid
from tests.world.charm_trees import write_tree

Files = dict[str, str]

V2: Files = {
    "metadata.yaml": """\
name: Web_1  #! charm name "Web_1" not valid
summary: 5  #! metadata: summary: expected string, got int(5)
# A comment and an empty line move all that follows.

description: [a]  #! metadata: description: expected string, got []interface {}
subordinate: maybe  #! metadata: subordinate: expected bool, got string("maybe")
format: two  #! metadata: format: expected int, got string("two")
revision: 1.5  #! metadata: revision: expected int, got float64(1.5)
tags: word  #! metadata: tags: expected list, got string("word")
categories:
- 1  #! metadata: categories[0]: expected string, got int(1)
min-juju-version: "3"  #! ambiguous metadata && in metadata v2 not valid && invalid version "3"
charm-user: me  #! parsing charm-user: invalid charm-user "me" expected one of root, sudoer or non-root
provides:
  empty:  #! metadata: provides.empty: expected map, got nothing
  none: {}  #! metadata: provides.none.interface: expected string, got nothing
  juju-x: http  #! charm "Web_1" using a reserved relation name: "juju-x"
  taken: juju-info  #! charm "Web_1" relation "taken" using a reserved interface: "juju-info"
  twice: http
requires:
  limited:
    interface: pgsql
    limit: many  #! metadata: requires.limited.limit: expected int, got string("many")
  scoped: {interface: x, scope: here}  #! metadata: requires.scoped.scope: unexpected value "here"
  maybe:
    interface: x
    optional: 3  #! metadata: requires.maybe.optional: expected bool, got int(3)
  twice: http  #! charm "Web_1" using a duplicated relation name: "twice"
peers:  #! metadata: peers: expected string, got int(5)
  5: ring
  ring: http
extra-bindings:
  bound:
  full: 42  #! metadata: extra-bindings.full: expected empty value, got int(42)
storage:
  typeless: {}  #! metadata: storage.typeless.type: unexpected value <nil>
  a: {type: tape}  #! metadata: storage.a.type: unexpected value "tape"
  b:
    type: block
    location: /x  #! charm "Web_1" storage "b": location may not be specified for "type: block"
  c:
    type: filesystem
    multiple:
      range: woat  #! metadata: storage.c.multiple.range: value "woat" does not match 'm', 'm-n', or 'm+'
  d: {type: filesystem, multiple: {range: 0}}  #! metadata: storage.d.multiple.range: invalid count 0
  e: {type: filesystem, multiple: {range: 0-0}}  #! charm "Web_1" storage "e": invalid maximum count 0
  f:
    type: filesystem
    minimum-size: foo  #! metadata: storage.f.minimum-size: expected a non-negative number, got "foo"
  g: {type: filesystem, minimum-size: 1Q}  #! invalid multiplier suffix "Q", expected one of MGTPEZY
  h: {type: filesystem, minimum-size: 5}  #! metadata: storage.h.minimum-size: expected string, got int(5)
  i:
    type: filesystem
    properties:
    - transient
    - sticky  #! metadata: storage.i.properties[1]: unexpected value "sticky"
  j: {type: filesystem, shared: 7}  #! metadata: storage.j.shared: expected bool, got int(7)
  k: {type: filesystem, read-only: 7}  #! metadata: storage.k.read-only: expected bool, got int(7)
devices:
  none: {}  #! metadata: devices.none.type: expected string, got nothing
  few: {type: gpu, countmin: -1}  #! invalid device count -1
  wrong:
    type: gpu
    countmin: 3
    countmax: 2  #! charm "Web_1" device "wrong": maximum count 2 can not be smaller than minimum count 3
  blank: {type: ""}  #! charm "Web_1" device "blank": type must be specified
resources:
  image: {type: disk}  #! unsupported resource type "disk"
  nameless: {type: file}  #! resource missing filename
  deep:
    filename: a/b  #! filename cannot contain "/" (got "a/b")
payloads:
  "9x": {type: kvm}  #! invalid payload class "9x"
  blank: {}  #! payload class missing type
terms:
- good
- Upper  #! wrong term name format "Upper"
- own-/name/1  #! wrong owner format "own-"
- 'UP:name'  #! wrong term tenant format "UP"
- a/b/x  #! invalid revision number "x" strconv.Atoi: parsing "x": invalid syntax
- name/-1  #! negative term revision
- a/b/c/1  #! unknown term id format "a/b/c/1"
assumes:
- juju >= 3
- Juju  #! parsing expression 2 in top level "assumes" block: malformed feature expression "Juju"
- juju >= x  #! malformed feature expression "juju >= x": invalid version "x"
- one-of: []  #! malformed composite expression; expected an "any-of" or "all-of" block
- {any-of: [], all-of: []}  #! parsing expression 5 in top level "assumes" block: malformed
- any-of: juju  #! malformed "any-of" expression; expected a list of sub-expressions
- 5  #! expected a feature, "any-of" or "all-of" expression
""",
    "manifest.yaml": """\
analysis: {}
bases:
- {name: ubuntu, channel: "24.04"}
""",
    "config.yaml": """\
options:
  plain:
    type: string
  a.b: {type: list}  #! invalid config: option "a.b" has unknown type "list"
  flat: 5  #! invalid config: option "flat": expected map, got int(5)
  on:
    type: boolean
    default: henry  #! invalid config default: option "on" expected boolean, got "henry"
  count: {type: int, default: x}  #! invalid config default: option "count" expected int, got "x"
  ratio: {type: float, default: x}  #! invalid config default: option "ratio" expected float, got "x"
  key: {type: secret, default: x}  #! invalid config default: option "key" expected secret, got "x"
  text: {type: string, default: 5}  #! invalid config default: option "text" expected string, got 5
""",
    "actions.yaml": """\
Bad: {}  #! bad action name Bad
juju: {}  #! cannot use action name juju: "juju" is a reserved name
juju-x: {}  #! cannot use action name juju-x: the "juju-" prefix is reserved
flat: 5  #! action "flat" failed to parse as a map
go:
  description: 5  #! value for schema key "description" must be a string
  title: [x]  #! value for schema key "title" must be a string
  parallel: sure  #! value for schema key "parallel" must be a bool
  execution-group: 3  #! value for schema key "execution-group" must be a string
  params: [x]  #! params failed to parse as a map
  required: x  #! value for schema key "required" must be a YAML list
ref:
  params:
    x:
      $ref: y  #! schema key "$ref" not compatible with this version of juju
      5: z  #! map keyed with non-string value
schema:
  $schema: x  #! schema key "$schema" not compatible with this version of juju
typed:
  params:
    x: {type: strin}  #! invalid params schema for action schema typed: properties.x.type: 'strin'
""",
    "metrics.yaml": """\
plan:
  required: 1  #! plan.required: expected bool, got int(1)
metrics:
  juju-units: {type: gauge}  #! metric "juju-units" is using a prefix reserved for built-in
  dial: {type: dial}  #! invalid metrics declaration: metric "dial" has unknown type "dial"
  bare: {type: gauge}  #! invalid metrics declaration: metric "bare" lacks description
  flat: 5  #! metrics.flat: expected map, got int(5)
""",
    "lxd-profile.yaml": """\
config:
  a: [1]  #! failed to unmarshall lxd-profile.yaml: config.a: expected string, got []interface {}
devices:
  d: 5  #! failed to unmarshall lxd-profile.yaml: devices.d: expected map, got int(5)
  eth9: {type: nic}  #! invalid lxd-profile.yaml: contains device type "nic"
""",
}  # fmt: skip

V1: Files = {
    "metadata.yaml": """\
name: old
summary: s
description: d
subordinate: true  #! subordinate charm "old" lacks "requires" relation with container scope
series:  #! ambiguous metadata: keys "series" cannot be used with "assumes"
- jammy
- 'No!'  #! charm "old" declares invalid series: "No!"
- kubernetes  #! charm "old" is a Kubernetes charm; machine model only
requires: {db: pgsql}
extra-bindings:
  db:  #! charm "old" has invalid extra bindings: relation names (db) cannot be used in extra bindings
  other:
assumes: juju  #! malformed "assumes" block; expected an expression list
""",
    "manifest.yaml": """\
bases:
- channel: "24.04"  #! validating manifest: base without name not valid
- {name: beos, channel: "1"}  #! validating manifest: os "beos" not valid
- name: ubuntu  #! validating manifest: channel not valid
- name: ubuntu
  channel: 24.04/soon  #! validating manifest: parsing channel "24.04/soon": channel not valid
- name: ubuntu
  channel: 24.04  #! bases[4].channel: expected string, got float64(24.04)
- name: ubuntu
  channel: "24.04"
  architectures:
  - amd64
  - vax  #! validating manifest: architecture "vax" not valid
- flat  #! bases[6]: expected map, got string("flat")
""",
}  # fmt: skip

SOURCE: Files = {
    "charmcraft.yaml": """\
name: web
title: Web
# no summary: told where the file begins
description: 5  #! metadata: description: expected string, got int(5)
base: ubuntu@24.04
platforms:  #! validating manifest: architecture "vax" not valid
  amd64:
  vax:
  '':  #! platform "" not valid
links: word  #! links: expected map, got string("word")
provides:
  juju-web: http  #! charm "web" using a reserved relation name: "juju-web"
config:
  options:
    on: {type: bool}  #! invalid config: option "on" has unknown type "bool"
actions:
  go:
    parallel: 5  #! value for schema key "parallel" must be a bool
parts: {charm: {plugin: nil}}
""",
    "src/charm.py": "",
}


def expected(files: Files, origin: str) -> set[tuple[str, str]]:
    """Return (place, text) of every mark."""
    found = set()
    for name, content in files.items():
        for number, line in enumerate(content.splitlines(), 1):
            for text in filter(None, map(str.strip, line.partition("#!")[2].split("&&"))):
                found.add((f"{origin}{name}:{number}", text))
    return found


def told(error: InvalidCharm) -> list[tuple[str, str]]:
    """Return (place, text) of every fault of an error."""
    first, *rest = [line for line in error.detail.splitlines() if line != "also:"]
    lines = [f"{error.message} ({first.removeprefix('at ')})", *rest]
    found = []
    for line in lines:
        match = re.fullmatch(r"\s*(.*) \((?:.*, )?(\S+:\d+)\)", line)
        assert match, line
        found.append((match[2], match[1]))
    return found


def check(error: InvalidCharm, files: Files, origin: str, more: Mapping[str, str] | None = None) -> None:
    wanted = expected(files, origin) | {(place, text) for text, place in (more or {}).items()}
    seen = told(error)
    missing = [item for item in wanted if not any(item[0] == at and item[1] in text for at, text in seen)]
    surplus = [item for item in seen if not any(item[0] == at and text in item[1] for at, text in wanted)]
    assert (missing, surplus) == ([], [])
    assert len(seen) == len(wanted)


def plain(files: Files) -> dict[str, str | bytes]:
    return {name: content.replace("#!", "#") for name, content in files.items()}


@pytest.mark.parametrize("files", [V2, V1], ids=["v2", "v1"])
def test_a_directory(tmp_path: Path, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path / "web", {**plain(files), "hooks/install": "#!/bin/sh\n"})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidCharm) as caught:
        pack(Path("./web"), tmp_path / "out")
    check(caught.value, files, "web/")


@pytest.mark.parametrize("files", [V2, V1], ids=["v2", "v1"])
def test_an_archive(tmp_path: Path, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "web.charm", "w") as archive:
        for name, content in plain(files).items():
            archive.writestr(name, content)
        archive.writestr("dispatch", "#!/bin/sh\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidCharm) as caught:
        pack(Path("web.charm"), tmp_path / "out")
    check(caught.value, files, "web.charm/")


def test_a_source_tree_is_told_in_the_file_that_was_written(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "web", plain(SOURCE))
    with pytest.raises(InvalidCharm) as caught:
        read_charm(root)
    more = {"summary: expected string, got nothing": f"{root}/charmcraft.yaml:1"}
    check(caught.value, SOURCE, f"{root}/", more)


def test_a_profile_that_asks_for_too_much(tmp_path: Path) -> None:
    profile = """\
config:
  security.nesting: "true"
  limits.cpu: "2"
  boot.autostart: "1"
devices:
  eth9: {type: nic}
"""
    head = "name: web\nsummary: s\ndescription: d\n"
    root = write_tree(tmp_path / "web", {"metadata.yaml": head, "lxd-profile.yaml": profile})
    with pytest.raises(NotValid) as caught:
        check_features(read_charm(root).charm)
    start = "invalid lxd-profile.yaml: contains"
    assert caught.value.message == f'validating lxd profile: {start} device type "nic"'
    assert caught.value.detail.splitlines() == [
        f"at devices.eth9.type, {root}/lxd-profile.yaml:6",
        "also:",
        f'  {start} config value "limits.cpu" (config.limits.cpu, {root}/lxd-profile.yaml:3)',
        f'  {start} config value "boot.autostart" (config.boot.autostart, {root}/lxd-profile.yaml:4)',
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name: web\n  summary: s\n", "metadata.yaml:2"),
        ("name: web\nname: web\n", "metadata.yaml:2"),
        ("name: web\nsummary: &a [*a]\n", "metadata.yaml:2"),
        ("- a\n", "metadata.yaml:1"),
        ("\n\nname: web\n", "metadata.yaml:3"),
        ("", "metadata.yaml"),
    ],
)
def test_a_file_that_is_no_document_has_a_place_too(text: str, place: str) -> None:
    with pytest.raises(InvalidCharm) as caught:
        load({"metadata.yaml": text.encode()}.get)
    assert caught.value.detail.splitlines()[0] == f"at {place}"


def test_a_file_with_thousands_of_faults_is_told_in_part() -> None:
    options = "".join(f"  o{number}: 5\n" for number in range(700))
    head = b"name: web\nsummary: s\ndescription: d\n"
    with pytest.raises(InvalidCharm) as caught:
        load({"metadata.yaml": head, "config.yaml": f"options:\n{options}".encode()}.get)
    lines = caught.value.detail.splitlines()
    assert (len(lines), lines[-1]) == (502, "  and 200 more")
