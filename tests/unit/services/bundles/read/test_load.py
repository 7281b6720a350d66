"""Reading bundles: every rule with its place, overlays, includes, hostile files."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from pushjuju.charms.archive.bundles import is_bundle
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.services.bundles.read import placement
from pushjuju.services.bundles.read.load import Loaded, assemble, examine, load
from pushjuju.services.bundles.read.source import Source, read
from pushjuju.services.bundles.read.values import Exposed
from pushjuju.services.bundles.read.verify import HEADER, BundleFaulty


def made(text: str, *overlays: str, folder: Path | None = Path("/b")) -> Loaded:
    """Return a bundle of a text."""
    extra = [
        Source(file=f"over{number}.yaml", text=item.encode(), folder=folder)
        for number, item in enumerate(overlays)
    ]
    return assemble(Source(file="bundle.yaml", text=text.encode(), folder=folder), extra)


def faults(text: str, *overlays: str) -> list[str]:
    """Return what is told of a text."""
    with pytest.raises(BundleFaulty) as caught:
        made(text, *overlays)
    first, *lines = caught.value.message.splitlines()
    assert first == HEADER
    return lines


HERE = Path(__file__).parent


def test_every_rule_that_is_broken_is_told_with_its_place() -> None:
    assert faults((HERE / "bad.yaml").read_text()) == (HERE / "bad.txt").read_text().splitlines()


def test_rules_of_one_document() -> None:
    assert faults("applications: {}") == [
        "at least one application must be specified (applications, bundle.yaml:1)"
    ]
    text = "series: jammy\ndefault-base: ubuntu@24.04\napplications: {a: {charm: mysql}}"
    assert faults(text) == [
        'bundle series "jammy" and base "ubuntu@24.04" must match if both supplied (series, bundle.yaml:1)'
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "malformed bundle: bundle is empty"),
        ("- a", "cannot unmarshal bundle contents: unmarshal document 0: line 1: a map was expected"),
        (
            "a: [",
            "cannot unmarshal bundle contents: unmarshal document 0: yaml: line 2: did not find expected",
        ),
        ("a: &a [*a]", "cannot unmarshal bundle contents: unmarshal document 0: yaml: line 1"),
        ("a: !!python/object:os.system x", "cannot unmarshal bundle contents: unmarshal document 0: yaml"),
    ],
)
def test_what_is_no_bundle(text: str, message: str) -> None:
    with pytest.raises(NotValid) as caught:
        made(text)
    assert caught.value.message.startswith(message), caught.value.message


def test_bombs_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(NotValid, match="excessive aliasing"):
        made("\n".join(lines))
    with pytest.raises(NotValid, match="exceeded max depth"):
        made("a: " + "[" * 100 + "]" * 100)
    one = "a: [" + ", ".join(["x"] * 150_000) + "]\n"
    with pytest.raises(NotValid, match="too many values"):
        made(one + "---\n" + one)


def test_values_are_texts_as_written() -> None:
    text = """
applications:
  a: {charm: mysql, channel: 14.10, annotations: {x: 1.10, y: yes}, num_units: 2.0, to: [0],
      options: {n: 1.50, t: "1.50", b: yes, big: 0x10}}
machines: {0: null}
"""
    app = made(text).bundle.applications["a"]
    assert (app.channel, app.annotations, app.num_units) == ("14.10", {"x": "1.10", "y": "yes"}, 2)
    assert app.options == {"n": 1.5, "t": "1.50", "b": True, "big": 16}
    assert app.to == ("0",)


def test_unknown_and_doubled_keys_are_only_told() -> None:
    loaded = made(
        "variables: &v 1\nservices: x\napplications:\n  a:\n    charm: mysql\n    foo: *v\n    foo: 2\n"
    )
    assert loaded.ignored == (
        "unmarshal document 0: yaml: unmarshal errors:",
        "  line 1: field variables not found in bundle",
        "  line 2: field services not found in bundle",
        "  line 7: field foo not found in applications",
        '  line 7: key "foo" already set in map',
    )
    assert loaded.warnings == ()
    assert "deprecated" in made("series: jammy\napplications: {a: {charm: mysql}}").warnings[0]


# --- overlays ---------------------------------------------------------------------------------------------

BASE = """\
default-base: ubuntu@22.04
applications:
  a: {charm: mysql, num_units: 1, options: {x: 1, y: 2}, annotations: {k: v}, constraints: mem=1G,
      expose: true}
  b: {charm: web, num_units: 1, to: ["0"]}
  c: {charm: web}
machines: {"0": null}
relations:
- [a:db, b:db]
- [b:web, c:web]
"""


def test_overlays_change_what_they_name() -> None:
    over = """
default-base: ubuntu@24.04
applications:
  a: {options: {y: 3, z: 4}, annotations: null, expose: false, scale: 3}
  c: null
  d: {charm: new}
saas: {other: {url: admin/m.offer}}
machines: {"0": {constraints: mem=2G}}
relations: [[d:x, a:x], [other:x, a:y]]
"""
    bundle = made(BASE, over, "applications: {a: {constraints: ''}}").bundle
    app = bundle.applications["a"]
    assert (app.options, app.annotations, app.num_units) == ({"x": 1, "y": 3, "z": 4}, {}, 3)
    assert (app.expose, app.constraints, app.charm) == (False, "", "mysql")
    assert sorted(bundle.applications) == ["a", "b", "d"]
    assert bundle.relations == (("a:db", "b:db"), ("d:x", "a:x"), ("other:x", "a:y"))
    assert (bundle.saas, bundle.default_base) == ({"other": "admin/m.offer"}, "ubuntu@24.04")
    assert bundle.machines["0"].constraints == "mem=2G"


def test_further_documents_are_overlays() -> None:
    text = (
        BASE
        + """\
---
--- # two
applications:
  a:
    expose: false
    offers: {mine: {endpoints: [db], acl: {bob: consume}}}
    exposed-endpoints: {"": {expose-to-spaces: [dmz]}}
"""
    )
    app = made(text).bundle.applications["a"]
    assert app.offers["mine"].acl == {"bob": "consume"}
    assert app.exposures == {"": Exposed(spaces=("dmz",))}
    gone = made(text, "applications: {a: {offers: {mine: null}}}").bundle.applications["a"]
    assert gone.offers == {}


def test_faults_of_overlays_name_their_file() -> None:
    told = faults(BASE, "\napplications:\n  a:\n    constraints: x=y\nrelations: [[a:db, b:db]]\n")
    assert told == [
        (
            'invalid constraints "x=y" in application "a": unknown constraint "x" '
            "(applications.a.constraints, over0.yaml:4)"
        ),
        'relation ["a:db" "b:db"] is defined more than once (relations.2, over0.yaml:5)',
    ]
    with pytest.raises(NotValid, match="deprecated 'services' key"):
        made(BASE, "services: {a: {charm: x}}")


def test_base_is_checked_alone_first() -> None:
    assert faults("applications: {a: {options: {x: 1}}}", "applications: {a: {charm: mysql}}") == [
        "empty charm path (applications.a.charm, bundle.yaml:1)"
    ]


# --- files ------------------------------------------------------------------------------------------------


def test_includes_and_charms_are_relative_to_their_file(tmp_path: Path) -> None:
    sub = tmp_path / "sub"
    sub.mkdir()
    (tmp_path / "motd").write_text("héllo\n")
    (sub / "blob").write_bytes(b"\0\1")
    (tmp_path / "web").mkdir()
    (tmp_path / "bundle.yaml").write_text(
        "applications:\n  a:\n    charm: ./web\n    num_units: 1\n    to: ['0']\n"
        "    options: {m: 'include-file://motd', n: 'x include-file://motd'}\n"
        "machines: {'0': {annotations: {m: 'include-file://motd'}}}\n"
    )
    (sub / "over.yaml").write_text("applications: {a: {options: {b: 'include-base64://blob'}}}")
    bundle = load(tmp_path, [str(sub / "over.yaml")]).bundle
    app = bundle.applications["a"]
    assert app.charm == str(tmp_path / "web")
    assert app.options == {"m": "héllo\n", "n": "x include-file://motd", "b": "AAE="}
    assert bundle.machines["0"].annotations == {"m": "héllo\n"}
    (sub / "over.yaml").write_text("applications: {a: {annotations: {b: 'include-file://../web'}}}")
    with pytest.raises(NotValid) as caught:
        load(tmp_path / "bundle.yaml", [str(sub / "over.yaml")])
    assert caught.value.message.splitlines()[1].startswith(
        'processing annotation "b" for application "a": resolving include "include-file://../web": include'
    )
    assert caught.value.message.endswith(f"(applications.a.annotations.b, {sub / 'over.yaml'}:1)")
    (sub / "over.yaml").write_text("applications: {a: {options: {b: 'include-file://none'}}}")
    with pytest.raises(NotValid, match=r'processing option "b" .* include file ".*none" not found'):
        load(tmp_path / "bundle.yaml", [str(sub / "over.yaml")])
    with pytest.raises(NotFound, match="unable to process overlays"):
        load(tmp_path, [str(tmp_path / "none.yaml")])


def test_a_bundle_in_an_archive_gets_no_file_of_this_computer(tmp_path: Path) -> None:
    """Bundles of stores come as archives: what they name here would be sent to machines of their choice."""
    secret, path, over = tmp_path / "id_rsa", tmp_path / "shop.bundle", tmp_path / "over.yaml"
    secret.write_text("private")
    fields = (
        f"options: {{a: 'include-file://{secret}', b: 'include-base64://{secret}', c: 'include-file://x'}}"
    )
    fields += f", annotations: {{d: 'include-file://{secret}'}}, resources: {{e: {secret}, f: id_rsa, g: 3}}"
    text = f"applications: {{web: {{charm: {tmp_path}, {fields}}}}}"
    text += f"\nmachines: {{'0': {{annotations: {{h: 'include-file://{secret}'}}}}}}"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bundle.yaml", text)
    with pytest.raises(NotValid) as caught:
        load(path)
    told = f"{caught.value.message}\n{caught.value.detail}"
    assert told.count("remote bundle includes not supported") == 5
    assert "an archive holds no charms" in told
    assert told.count("a bundle in an archive gets no file of this computer") == 2
    assert "private" not in told
    assert examine(path).bundle.applications["web"].resources == {"g": 3}  # no later check looks for them
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bundle.yaml", "applications: {web: {charm: web, resources: {g: 3}}}")
    over.write_text("applications: {web: {options: {a: 'include-file://id_rsa'}, resources: {e: ./id_rsa}}}")
    app = load(path, [str(over)]).bundle.applications["web"]
    assert (app.options, app.resources) == ({"a": "private"}, {"e": "./id_rsa", "g": 3})


def test_archives(tmp_path: Path) -> None:
    path = tmp_path / "shop.bundle"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bundle.yaml", "applications: {a: {charm: mysql}}")
    assert is_bundle(path)
    assert load(path).bundle.applications["a"].charm == "mysql"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bundle.yaml", "applications: {a: {charm: ./x}}")
    with pytest.raises(NotValid, match="an archive holds no charms"):
        load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.yaml", "")
    assert not is_bundle(path)
    with pytest.raises(NotValid, match="interpret bundle contents as a bundle archive"):
        read(path)
    path.write_bytes(b"PK\x03\x04junk")
    assert not is_bundle(path)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bundle.yaml", b"#" * 8_000_000)
    path.write_bytes(buffer.getvalue())
    with pytest.raises(NotValid, match="is larger than"):
        read(path)


@pytest.mark.parametrize(
    "text", ["", "a b", "lxd:", "x/y", "foo:0", "-1", "01", "a/01", "lxd:new:1", "0/lxd/0"]
)
def test_placements_that_are_none(text: str) -> None:
    with pytest.raises(NotValid, match="invalid placement syntax"):
        placement.parse(text)


def test_placements() -> None:
    assert placement.parse("lxd:db/3") == placement.Target(container="lxd", application="db", unit=3)
    assert placement.parse("12").machine == "12"
    assert placement.parse("lxd:new").machine == "new"


def test_a_bundle_without_applications_has_a_place() -> None:
    told = "at least one application must be specified (applications, bundle.yaml:2)"
    assert faults("# nothing\nname: x\n") == [told]
    assert faults("name: x\napplications: {}\n") == [told]
    old = "  `services` is not read: its name is `applications`"
    assert faults("name: x\nservices: {a: {charm: web}}\n") == [told, old]
