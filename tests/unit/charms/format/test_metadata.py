"""metadata.yaml and manifest.yaml: every rule and its text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.charms.archive.reader import load
from pushjuju.charms.format import metadata
from pushjuju.charms.format.manifest import normalise_arch
from pushjuju.charms.values.model import Charm, Composite, Feature, Role, Scope
from pushjuju.core.errors import InvalidCharm

HEAD = "name: web\nsummary: s\ndescription: d\n"
MANIFEST = "bases: [{name: ubuntu, channel: '22.04', architectures: [amd64]}]"
META = 'parsing "metadata.yaml" file: '
COERCE = META + "metadata: "
K8S = 'charm "web" is a Kubernetes charm; machine model only'


def read(document: str, manifest: str | None = None, **files: str) -> Charm:
    tree = {"metadata.yaml": document, "manifest.yaml": manifest}
    tree |= {name.replace("__", "-") + ".yaml": text for name, text in files.items()}

    def source(name: str) -> bytes | None:
        text = tree.get(name)
        return None if text is None else text.encode()

    return load(source)


def fault_of(document: str, manifest: str | None = None, **files: str) -> InvalidCharm:
    with pytest.raises(InvalidCharm) as caught:
        read(document, manifest, **files)
    return caught.value


def test_a_full_document() -> None:
    charm = read(
        """
name: web
summary: s
description: d
subordinate: "true"
series: [focal, jammy]
provides: {site: http, ext: {interface: x, limit: 3, optional: t}}
requires:
  db: {interface: pgsql, limit: null, scope: global}
  juju-info: {interface: juju-info, scope: container}
peers: {ring: {interface: ring, scope: global}}
extra-bindings: {admin: null, cluster: }
storage:
  data: {type: filesystem, location: /srv, multiple: {range: 1-3}, minimum-size: 1.5G, shared: true,
         read-only: "1", description: x, properties: [transient]}
  disk: {type: block, multiple: {range: 2+}}
  more: {type: block, multiple: {range: 0-}, minimum-size: "100"}
  three: {type: block, multiple: {range: 3}}
devices: {gpu: {type: nvidia.com/gpu, countmin: 1, countmax: "2"}}
resources: {bin: {filename: bin.tgz}, img: {type: oci-image}}
payloads: {docker: {type: docker}}
terms: [one, owner/two, owner/three/3, four/4, "cs:five"]
tags: [db]
categories: [old]
min-juju-version: 2.9.0
format: 2
revision: 5
maintainer: me
"""
    )
    meta = charm.meta
    assert (charm.format, meta.subordinate, meta.series) == (1, True, ("focal", "jammy"))
    assert [str(base) for base in charm.bases()] == ["ubuntu@20.04/stable", "ubuntu@22.04/stable"]
    assert [(item.name, item.role) for item in meta.endpoints()] == [
        ("ext", Role.PROVIDER),
        ("site", Role.PROVIDER),
        ("db", Role.REQUIRER),
        ("juju-info", Role.REQUIRER),
        ("ring", Role.PEER),
    ]
    limited = meta.provides["ext"]
    assert (limited.interface, limited.limit, limited.optional) == ("x", 3, True)
    assert meta.requires["juju-info"].scope is Scope.CONTAINER
    assert not meta.requires["juju-info"].implicit
    assert meta.extra_bindings == ("admin", "cluster")
    data = meta.storage["data"]
    assert (data.count_min, data.count_max, data.minimum_size, data.location) == (1, 3, 1536, "/srv")
    assert (data.shared, data.read_only, data.properties) == (True, True, ("transient",))
    counts = {name: (item.count_min, item.count_max) for name, item in meta.storage.items()}
    assert counts == {"data": (1, 3), "disk": (2, -1), "more": (0, -1), "three": (3, 3)}
    assert meta.storage["more"].minimum_size == 100
    assert (meta.devices["gpu"].count_min, meta.devices["gpu"].count_max) == (1, 2)
    assert meta.resources["bin"].type == "file"
    assert meta.terms == ("one", "owner/two", "owner/three/3", "four/4", "cs:five")
    assert charm.warnings == ()


def test_reserved_names_and_their_exemptions() -> None:
    read("name: juju-thing\nsummary: s\ndescription: d\nprovides: {juju-api: juju-api}\n")
    read(HEAD + "requires: {info: {interface: juju-info, scope: container}}\n")
    found = read(HEAD).meta.find_endpoint("juju-info")
    assert found is not None
    assert found.implicit
    assert read(HEAD).meta.find_endpoint("nothing") is None


COERCION = [
    ("", "name: expected string, got nothing"),
    ("name: 5\nsummary: s\ndescription: d", "name: expected string, got int(5)"),
    ("name: true\nsummary: s\ndescription: d", "name: expected string, got bool(true)"),
    ("name: 1.5\nsummary: s\ndescription: d", "name: expected string, got float64(1.5)"),
    ("- a", 'expected map, got []interface {}([]interface {}{"a"})'),
    ("5: x\nname: a", "expected map[string], got map[interface {}]interface {}"),
    (HEAD + "subordinate: maybe", 'subordinate: expected bool, got string("maybe")'),
    (HEAD + "subordinate: 1", "subordinate: expected bool, got int(1)"),
    (HEAD + "provides:", "provides: expected map, got nothing"),
    (HEAD + "provides: {x: }", "provides.x: expected map, got nothing"),
    (HEAD + "provides: {x: {}}", "provides.x.interface: expected string, got nothing"),
    (HEAD + "provides: {1: a}", "provides: expected string, got int(1)"),
    (HEAD + "requires: {x: {interface: a, scope: wide}}", 'requires.x.scope: unexpected value "wide"'),
    (HEAD + "requires: {x: {interface: a, limit: few}}", 'requires.x.limit: expected int, got string("few")'),
    (HEAD + "requires: {x: {interface: a, optional: 3}}", "requires.x.optional: expected bool, got int(3)"),
    (HEAD + "extra-bindings:", "extra-bindings: expected map, got nothing"),
    (HEAD + "extra-bindings: {foo: 42}", "extra-bindings.foo: expected empty value, got int(42)"),
    (HEAD + "extra-bindings: {'': }", 'extra-bindings: expected non-empty binding name, got string("")'),
    (HEAD + "series: jammy", 'series: expected list, got string("jammy")'),
    (HEAD + "series: [1]", "series[0]: expected string, got int(1)"),
    (HEAD + "tags: {}", "tags: expected list, got map[interface {}]interface {}(map"),
    (HEAD + "storage: {a: {}}", "storage.a.type: unexpected value <nil>"),
    (HEAD + "storage: {a: {type: tape}}", 'storage.a.type: unexpected value "tape"'),
    (HEAD + "storage: {a: {type: block, multiple: {range: 0}}}", "storage.a.multiple.range: invalid count 0"),
    (HEAD + "storage: {a: {type: block, multiple: {range: woat}}}",
     "storage.a.multiple.range: value \"woat\" does not match 'm', 'm-n', or 'm+'"),
    (HEAD + "storage: {a: {type: block, minimum-size: foo}}",
     'storage.a.minimum-size: expected a non-negative number, got "foo"'),
    (HEAD + "storage: {a: {type: block, minimum-size: 1Q}}",
     'storage.a.minimum-size: invalid multiplier suffix "Q", expected one of MGTPEZY'),
    (HEAD + "storage: {a: {type: block, minimum-size: 99999Y}}",
     'storage.a.minimum-size: at most 1Z is possible, got "99999Y"'),
    (HEAD + f"storage: {{a: {{type: block, minimum-size: {'9' * 5000}G}}}}",
     "storage.a.minimum-size: at most 1Z is possible, got 5001 characters"),
    (HEAD + "storage: {a: {type: block, minimum-size: 5}}",
     "storage.a.minimum-size: expected string, got int(5)"),
    (HEAD + "storage: {a: {type: block, properties: [fast]}}",
     'storage.a.properties[0]: unexpected value "fast"'),
    (HEAD + "devices: {g: {}}", "devices.g.type: expected string, got nothing"),
    (HEAD + "devices: {g: {type: t, countmin: -1}}", "invalid device count -1"),
    (HEAD + "resources: {r: {filename: 1}}", "resources.r.filename: expected string, got int(1)"),
    (HEAD + "min-juju-version: 2.9", "min-juju-version: expected string, got float64(2.9)"),
    (HEAD + "format: x", 'format: expected int, got string("x")'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "fault"), COERCION)
def test_coercion_texts(text: str, fault: str) -> None:
    error = fault_of(text)
    assert error.message.startswith(COERCE + fault)
    assert error.file == "metadata.yaml"


SEMANTIC: list[tuple[str, str | None, str]] = [
    (HEAD + "subordinate: true", None,
     'subordinate charm "web" lacks "requires" relation with container scope'),
    (HEAD + "series: [Jammy]", None, 'charm "web" declares invalid series: "Jammy"'),
    (HEAD + "provides: {x: a}\nrequires: {x: a}", None, 'charm "web" using a duplicated relation name: "x"'),
    (HEAD + "provides: {x: a}\npeers: {x: b}", None, 'charm "web" using a duplicated relation name: "x"'),
    (HEAD + "requires: {juju-x: a}", None, 'charm "web" using a reserved relation name: "juju-x"'),
    (HEAD + "requires: {juju: a}", None, 'charm "web" using a reserved relation name: "juju"'),
    (HEAD + "provides: {x: juju-a}", None, 'charm "web" relation "x" using a reserved interface: "juju-a"'),
    (HEAD + "peers: {x: juju}", None, 'charm "web" relation "x" using a reserved interface: "juju"'),
    (HEAD + "extra-bindings: {}", None,
     'charm "web" has invalid extra bindings: extra bindings cannot be empty when specified'),
    (HEAD + "requires: {b: x, a: x}\nextra-bindings: {b: , a: , c: }", None,
     'charm "web" has invalid extra bindings: relation names (a, b) cannot be used in extra bindings'),
    (HEAD + "storage: {a: {type: block, location: /x}}", None,
     'charm "web" storage "a": location may not be specified for "type: block"'),
    (HEAD + "storage: {a: {type: block, multiple: {range: 0-0}}}", None,
     'charm "web" storage "a": invalid maximum count 0'),
    (HEAD + "devices: {g: {type: ''}}", None, 'charm "web" device "g": type must be specified'),
    (HEAD + "devices: {g: {type: t, countmin: 3, countmax: 2}}", None,
     'charm "web" device "g": maximum count 2 can not be smaller than minimum count 3'),
    (HEAD + "payloads: {a: {}}", None, "payload class missing type"),
    (HEAD + "payloads: {a_b: {type: x}}", None, 'invalid payload class "a_b"'),
    (HEAD + "resources: {r: {type: tape}}", None, 'unsupported resource type "tape"'),
    (HEAD + "resources: {r: {}}", None, "resource missing filename"),
    (HEAD + "resources: {'': {filename: x}}", None, "resource missing name"),
    (HEAD + "resources: {r: {filename: a/b}}", None, 'filename cannot contain "/" (got "a/b")'),
    (HEAD + "resources: {../r: {filename: x}}", None, 'invalid resource name "../r"'),
    (HEAD + "resources: {r: {filename: ..}}", None, 'filename cannot be ".."'),
    (HEAD + "storage: {$(id): {type: filesystem}}", None,
     'charm "web" storage "$(id)": invalid storage name'),
    (HEAD + f"storage: {{{'a' * 1000}: {{type: block}}}}", None,
     f'charm "web" storage "{"a" * 60}...": invalid storage name'),
    (HEAD + "devices: {../x: {type: t}}", None, 'charm "web" device "../x": invalid device name'),
    (HEAD + "requires: {$(id): a}", None, 'charm "web" using an invalid relation name: "$(id)"'),
    (HEAD + "peers: {a/b: a}", None, 'charm "web" using an invalid relation name: "a/b"'),
    (HEAD + "terms: [A]", None, 'wrong term name format "A"'),
    (HEAD + "terms: [-x/a]", None, 'wrong owner format "-x"'),
    (HEAD + "terms: ['X:a']", None, 'wrong term tenant format "X"'),
    (HEAD + "terms: [o/a/x]", None, 'invalid revision number "x" strconv.Atoi: parsing "x": invalid syntax'),
    (HEAD + "terms: [o/ab/-1]", None, "negative term revision"),
    (HEAD + "terms: [a/b/c/d]", None, 'unknown term id format "a/b/c/d"'),
    (HEAD + "min-juju-version: x.y", None, 'invalid min-juju-version: invalid version "x.y"'),
    (HEAD + "charm-user: nobody", MANIFEST,
     'parsing charm-user: invalid charm-user "nobody" expected one of root, sudoer or non-root'),
    (HEAD + "containers: {c: {}}", MANIFEST, K8S),
    (HEAD + "containers: {c: {}}", None, K8S),
    (HEAD + "series: [kubernetes]", None, K8S),
    (HEAD + "deployment: {type: stateful}", None, K8S),
    (HEAD + "deployment: {type: x}", "{}",
     'charms with deployment metadata only supported for "kubernetes"'),
    (HEAD + "assumes: [juju]", None, "assumes in metadata v1 not valid"),
    (HEAD + "assumes: [juju]\nseries: [jammy]", None,
     'ambiguous metadata: keys "series" cannot be used with "assumes"'),
    (HEAD + "assumes: []\ncontainers: {}\nmin-juju-version: 2.9.0\nseries: []", MANIFEST,
     'ambiguous metadata: keys "min-juju-version", "series" cannot be used with "assumes", "containers"'),
    (HEAD + "min-juju-version: 2.9.0", MANIFEST, "min-juju-version in metadata v2 not valid"),
    (HEAD + "deployment: {type: x}", MANIFEST, "deployment in metadata v2 not valid"),
    (HEAD + "assumes: juju", MANIFEST, 'malformed "assumes" block; expected an expression list'),
    (HEAD + "assumes: [juju, 'juju > 3']", MANIFEST,
     'parsing expression 2 in top level "assumes" block: malformed feature expression "juju > 3"'),
    ("name: [", None, "yaml: line 2: did not find expected node content"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "manifest", "fault"), SEMANTIC)
def test_semantic_texts(text: str, manifest: str | None, fault: str) -> None:
    assert fault_of(text, manifest).message == META + fault


@pytest.mark.parametrize(
    ("extra", "manifest", "also"),
    [
        ("containers: {c: {}}", None, "containers without a manifest.yaml not valid"),
        ("containers: {c: {}}", "{}", "containers in metadata v1 not valid"),
        ("containers: {c: {}}\nseries: [jammy]", MANIFEST, "containers in metadata v1 not valid"),
    ],
)
def test_a_k8s_charm_is_refused_first_and_the_rest_is_told(
    extra: str, manifest: str | None, also: str
) -> None:
    error = fault_of(HEAD + extra, manifest)
    assert also in error.message + error.detail
    assert K8S in error.message + error.detail


MANIFEST_START = 'parsing "manifest.yaml" file: validating manifest: '


def test_all_faults_are_told_at_once() -> None:
    error = fault_of(
        "name: 5\nsummary: s\ndescription: 6\n",
        "bases: [{name: beos, channel: '1'}]",
        config="options: {a: {type: list}}",
        actions="Bad: {}",
    )
    assert error.message == COERCE + "name: expected string, got int(5)"
    assert error.key == "name"
    assert error.detail.splitlines() == [
        "at metadata.yaml:1",
        "also:",
        f"  {COERCE}description: expected string, got int(6) (metadata.yaml:3)",
        f'  {MANIFEST_START}os "beos" not valid (bases[0].name, manifest.yaml:1)',
        '  parsing "config.yaml" file: invalid config: option "a" has unknown type "list" (config.yaml:1)',
        '  parsing "actions.yaml" file: bad action name Bad (actions.yaml:1)',
    ]


def test_unknown_keys_are_warnings() -> None:
    charm = read(
        HEAD
        + "requies: {}\nprovides: {a: {interface: x, scop: global}}\nstorage: {d: {type: block, size: 1G}}\n"
        + "resources: {r: {filename: f, name: x}}\n",
        config="options: {a: {typ: int}}",
    )
    assert charm.warnings == (
        'metadata.yaml: unknown key "requies" is ignored',
        'metadata.yaml: unknown key "storage.d.size" is ignored',
        'metadata.yaml: unknown key "resources.r.name" is ignored',
        'metadata.yaml: unknown key "provides.a.scop" is ignored',
        'config.yaml: unknown key "options.a.typ" is ignored',
    )


def test_assumes_are_kept() -> None:
    meta = read(HEAD + "assumes: [juju >= 3.1, {any-of: [k8s-api, 'juju < 4']}]", MANIFEST).meta
    assert meta.assumes == (
        Feature(name="juju", op=">=", version=(3, 1, 0)),
        Composite(
            kind="any-of", items=(Feature(name="k8s-api"), Feature(name="juju", op="<", version=(4, 0, 0)))
        ),
    )


def test_bases_with_series_stay_format_1() -> None:
    charm = read(HEAD + "series: [focal]", MANIFEST)
    assert charm.format == 1
    assert [base.display for base in charm.bases()] == ["ubuntu@22.04"]


def test_no_metadata_at_all() -> None:
    with pytest.raises(InvalidCharm, match=r'archive file "metadata\.yaml" not found'):
        load(lambda name: None)


@pytest.mark.parametrize(
    ("manifest", "fault"),
    [
        ("- a", "manifest: expected map, got []interface {}"),
        ("bases: x", 'bases: expected list, got string("x")'),
        ("bases: [x]", 'bases[0]: expected map, got string("x")'),
        ("bases: [{channel: '1'}]", "validating manifest: base without name not valid"),
        ("bases: [{name: beos, channel: '1'}]", 'validating manifest: os "beos" not valid'),
        ("bases: [{name: ubuntu}]", "validating manifest: channel not valid"),
        ("bases: [{name: ubuntu, channel: 22.04}]", "bases[0].channel: expected string, got float64(22.04)"),
        ("bases: [{name: ubuntu, channel: 22.04/bold}]",
         'validating manifest: parsing channel "22.04/bold": '),
        ("bases: [{name: ubuntu, channel: '22.04', architectures: [vax]}]",
         'validating manifest: architecture "vax" not valid'),
        ("bases: [{name: ubuntu, channel: '22.04', architectures: amd64}]",
         'bases[0].architectures: expected list, got string("amd64")'),
        ("bases: [", "yaml: "),
    ],
)  # fmt: skip
def test_manifest_texts(manifest: str, fault: str) -> None:
    error = fault_of(HEAD, manifest)
    assert error.message.startswith('parsing "manifest.yaml" file: ' + fault)
    assert error.file == "manifest.yaml"


def test_manifest_arches_and_risks() -> None:
    text = """
bases:
- {name: Ubuntu, channel: 22.04/edge, architectures: [x86_64, amd64, aarch64], extra: 1}
- {name: ubuntu, channel: '24.04', architectures: [all]}
- {name: centos, channel: '7'}
analysis: {}
"""
    manifest = read(HEAD, text).manifest
    assert manifest is not None
    assert [(str(item.base), item.architectures) for item in manifest.bases] == [
        ("ubuntu@22.04/edge", ("amd64", "arm64")),
        ("ubuntu@24.04/stable", ()),
        ("centos@7/stable", ()),
    ]


@pytest.mark.parametrize(
    ("text", "arch"),
    [("amd64", "amd64"), ("i686", "i386"), ("i386", "i386"), ("armv7l", "armhf"), ("arm64", "arm64"),
     ("ppc64le", "ppc64el"), ("s390x", "s390x"), ("riscv64", "riscv64"), ("vax", None)],
)  # fmt: skip
def test_arches(text: str, arch: str | None) -> None:
    assert normalise_arch(text) == arch


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=5) | st.sampled_from(["type", "interface", "range"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(sorted(metadata._FIELDS))


@given(st.dictionaries(KEYS, ANY, max_size=8), ANY, ANY, ANY)
def test_any_document_is_read_or_refused(meta: Any, manifest: Any, config: Any, actions: Any) -> None:
    import yaml

    texts = {"metadata.yaml": meta, "manifest.yaml": manifest, "config.yaml": config, "actions.yaml": actions}

    def source(name: str) -> bytes | None:
        return yaml.safe_dump(texts[name]).encode() if name in texts else None

    found: object = None
    try:
        found = load(source)
    except InvalidCharm as error:
        found = error
    assert isinstance(found, Charm | InvalidCharm)
