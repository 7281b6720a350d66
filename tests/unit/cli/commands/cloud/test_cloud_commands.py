"""Clouds and credentials on the command line."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.world.commandline import Run

LAB = """clouds:
  lab:
    type: openstack
    auth-types: [userpass, access-key]
    endpoint: https://lab.example/v3
    regions:
      north: {}
      south: {endpoint: "https://south.example/v3"}
"""
BOB = """credentials:
  lab:
    bob:
      auth-type: userpass
      username: bob
      password: hunter2
      tenant-name: lab
"""
SECRET = "hunter2"


@pytest.fixture
def lab(run: Run, tmp_path: Path) -> Run:
    """A cloud and a credential on the client."""
    (tmp_path / "lab.yaml").write_text(LAB)
    (tmp_path / "bob.yaml").write_text(BOB)
    assert run("add-cloud", "lab", "lab.yaml", "--client").status == 0
    assert run("add-credential", "lab", "-f", "bob.yaml").status == 0
    return run


def _read(folder: Path, name: str) -> dict[str, Any]:
    return tomllib.loads((folder / "data" / name).read_text())


def test_a_cloud_from_a_file_is_told_of_as_juju_does(run: Run, tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(LAB)
    done = run("add-cloud", "lab", "lab.yaml", "--client")
    assert (done.status, done.out) == (0, "")
    assert done.err == (
        'Cloud "lab" successfully added to your local client.\n'
        "You will need to add a credential for this cloud (`pushjuju add-credential lab`)\n"
        "before you can use it to bootstrap a controller (`pushjuju bootstrap lab`) or\n"
        "to create a model (`pushjuju add-model <your model name> lab`).\n"
    )
    stored = _read(tmp_path, "clouds.toml")["clouds"]["lab"]
    assert list(stored["regions"]) == ["north", "south"]
    assert stored["auth-types"] == ["userpass", "access-key"]


def test_a_cloud_is_shown(lab: Run) -> None:
    assert lab("show-cloud", "lab").out == (
        'Client cloud "lab":\n\ndefined: local\ntype: openstack\ndescription: Openstack Cloud\n'
        "auth-types: [userpass, access-key]\nendpoint: https://lab.example/v3\ncredential-count: 1\n"
        "regions:\n  north: {}\n  south:\n    endpoint: https://south.example/v3\n"
    )
    (found,) = json.loads(lab("show-cloud", "lab", "--format", "json").out)
    assert (found["name"], found["type"], found["credential-count"]) == ("lab", "openstack", 1)
    missing = lab("show-cloud", "moon")
    assert (missing.status, missing.err) == (1, 'ERROR cloud "moon" not found\n')


def test_clouds_hides_public_ones_without_a_credential(lab: Run) -> None:
    few, every = lab("clouds", "--format", "json"), lab("clouds", "--all", "--format", "json")
    assert set(json.loads(few.out)) == {"lab", "local", "manual"}
    assert "use --all to see them" in few.err
    assert {"aws", "google", "azure", "digitalocean"} <= set(json.loads(every.out))
    assert every.err == ""


def test_regions(lab: Run) -> None:
    assert lab("regions", "lab").out == "\nClient Cloud Regions\nnorth\nsouth\n"
    found = json.loads(lab("regions", "lab", "--format", "json").out)
    assert found["client-cloud-regions"]["north"] == {"endpoint": "https://lab.example/v3"}
    assert lab("default-region", "lab").err == 'Default region for cloud "lab" is not set on this client.\n'
    assert lab("default-region", "lab", "SOUTH").err == 'Default region in lab set to "south".\n'
    assert lab("default-region", "lab").err == 'Default region for cloud "lab" is "south" on this client.\n'
    bad = lab("default-region", "lab", "west")
    assert bad.err == 'ERROR region "west" not found (expected one of ["north" "south"])\n'
    assert "no longer set" in lab("default-region", "lab", "--reset").err
    assert lab("default-region", "local", "x").err.startswith("ERROR cloud local has no regions\n")


def test_what_is_secret_is_sealed_and_shown_only_when_asked(lab: Run, tmp_path: Path) -> None:
    stored = _read(tmp_path, "credentials.toml")["credentials"]["lab"]["bob"]
    assert stored["username"] == "bob"
    assert stored["password"].startswith("sealed:")
    for words in (
        ("credentials",),
        ("credentials", "--format", "yaml"),
        ("credentials", "--format", "json"),
        ("show-credential", "lab", "bob"),
    ):
        done = lab(*words)
        assert done.status == 0
        assert SECRET not in done.out + done.err
    shown = lab("show-credential", "lab", "bob", "--show-secrets").out
    assert "        password: hunter2\n" in shown
    nested = json.loads(lab("credentials", "--format", "json", "--show-secrets").out)
    details = nested["client-credentials"]["lab"]["cloud-credentials"]["bob"]["details"]
    assert details["password"] == SECRET
    assert not any(SECRET in path.read_text() for path in (tmp_path / "data").iterdir() if path.is_file())


def test_a_moved_seal_is_refused(lab: Run, tmp_path: Path) -> None:
    path = tmp_path / "data" / "credentials.toml"
    path.write_text(path.read_text().replace(".lab.bob]", ".lab.eve]"))
    done = lab("credentials", "--show-secrets", "--format", "yaml")
    assert done.status == 1
    assert "its record was changed" in done.err
    (tmp_path / "data" / "credentials.key").unlink()
    assert "is missing" in lab("show-credential", "lab", "eve", "--show-secrets").err


def test_a_credential_in_plain_toml_is_taken(lab: Run, tmp_path: Path) -> None:
    path = tmp_path / "data" / "credentials.toml"
    path.write_text(path.read_text() + '\n[credentials.lab.ann]\nauth-type = "userpass"\npassword = "p"\n')
    assert "ann, bob" in lab("credentials").out
    assert "password: p\n" in lab("show-credential", "lab", "ann", "--show-secrets").out


def test_default_credential(lab: Run) -> None:
    unset = lab("default-credential", "lab")
    assert unset.err == 'Default credential for cloud "lab" is not set on this client.\n'
    bad = lab("default-credential", "lab", "eve")
    assert bad.err == 'ERROR credential "eve" for cloud lab not valid\n'
    done = lab("default-credential", "lab", "bob")
    assert done.err == 'Local credential "bob" is set to be default for "lab" for this client.\n'
    assert lab("credentials").out.splitlines()[-1].split() == ["lab", "bob*"]


def test_add_cloud_asks(run: Run, tmp_path: Path) -> None:
    answers = "moon\nec2\nopenstack\nmine\nnothing\nhttps://k/v3\n\naccess-key, userpass\nr1\n\ny\nr2\nhttps://r2\nn\n"
    done = run("add-cloud", stdin=answers)
    assert done.status == 0
    assert done.out.startswith(
        "Cloud Types\n  cloudstack\n  lxd\n  maas\n  manual\n  openstack\n  vsphere\n\nSelect cloud type: "
    )
    assert 'Invalid cloud type: "moon"' in done.out
    assert 'Cloud type "ec2" not supported for interactive add-cloud.' in done.out
    assert "Enter a name for your openstack cloud: " in done.out
    assert 'Invalid URL: "nothing"' in done.out
    stored = _read(tmp_path, "clouds.toml")["clouds"]["mine"]
    assert stored["regions"] == {"r1": {}, "r2": {"endpoint": "https://r2"}}
    assert stored["auth-types"] == ["access-key", "userpass"]


def test_add_cloud_asks_for_the_endpoint_of_maas_only(run: Run, tmp_path: Path) -> None:
    done = run("add-cloud", stdin="maas\nrack\nhttp://10.0.0.1:5240/MAAS\n")
    assert done.status == 0, done.err
    assert done.out.endswith("Enter a name for your maas cloud: \nEnter the API endpoint url: \n")
    stored = _read(tmp_path, "clouds.toml")["clouds"]["rack"]
    assert stored == {"type": "maas", "auth-types": ["oauth1"], "endpoint": "http://10.0.0.1:5240/MAAS"}
    (tmp_path / "key.yaml").write_text(
        "credentials:\n  rack:\n    me: {auth-type: oauth1, maas-oauth: 'a:b:hunter2'}\n"
    )
    assert run("add-credential", "rack", "-f", "key.yaml").status == 0
    assert "hunter2" not in (tmp_path / "data" / "credentials.toml").read_text()
    assert "hunter2" not in run("credentials", "--format", "yaml").out


def test_add_cloud_asks_for_the_datacenters_of_vsphere(run: Run, tmp_path: Path) -> None:
    done = run("add-cloud", stdin="vsphere\nvc\n10.0.0.5\ndc0\ny\ndc0\ndc1\nn\n")
    assert done.status == 0, done.err
    assert "Enter the vCenter address or URL: " in done.out
    assert "Enter datacenter name: " in done.out
    assert 'Datacenter "dc0" already exists' in done.out
    assert "Enter another datacenter" in done.out
    assert "endpoint url for" not in done.out
    stored = _read(tmp_path, "clouds.toml")["clouds"]["vc"]
    assert stored == {
        "type": "vsphere", "auth-types": ["userpass"], "endpoint": "10.0.0.5",
        "regions": {"dc0": {}, "dc1": {}},
    }  # fmt: skip


def test_add_cloud_asks_for_the_zones_of_cloudstack(run: Run, tmp_path: Path) -> None:
    done = run("add-cloud", stdin="cloudstack\nlab\nhttps://lab/client/api\n\nparis\nn\n")
    assert done.status == 0, done.err
    assert "Enter the API endpoint url for the cloud (.../client/api): " in done.out
    assert "Enter zone name: " in done.out
    stored = _read(tmp_path, "clouds.toml")["clouds"]["lab"]
    assert stored == {
        "type": "cloudstack", "auth-types": ["access-key"], "endpoint": "https://lab/client/api",
        "regions": {"paris": {}},
    }  # fmt: skip
    (tmp_path / "key.yaml").write_text(
        "credentials:\n  lab:\n    me: {auth-type: access-key, api-key: k, secret-key: hunter2}\n"
    )
    assert run("add-credential", "lab", "-f", "key.yaml").status == 0
    assert "hunter2" not in run("credentials", "--format", "yaml").out


def test_a_definition_of_vsphere_as_juju_has_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "vc.yaml").write_text(
        "clouds:\n  vc:\n    type: vsphere\n    auth-types: [userpass]\n    endpoint: 10.0.0.5\n"
        "    regions:\n      dc0: {}\n"
    )
    assert run("add-cloud", "--client", "vc", "vc.yaml").status == 0
    (tmp_path / "key.yaml").write_text(
        "credentials:\n  vc:\n    me: {auth-type: userpass, user: ann, password: hunter2, vmfolder: shop}\n"
    )
    done = run("add-credential", "vc", "-f", "key.yaml")
    assert done.status == 0, done.err


def test_add_credential_asks(lab: Run, tmp_path: Path) -> None:
    answers = "0bad\nann\nwest\nsouth\nuserpass\nann\nhunter2\nlab\n\n\n\n\n\n"
    done = lab("add-credential", "lab", stdin=answers)
    assert done.status == 0, done.err
    assert 'Invalid credential name: "0bad"' in done.out
    assert 'provided region "west" for cloud "lab" not valid' in done.out
    assert "Select auth type [userpass]: " in done.out
    assert done.out.endswith('Credential "ann" added locally for cloud "lab".\n\n')
    assert _read(tmp_path, "credentials.toml")["credentials"]["lab"]["ann"]["tenant-name"] == "lab"
    kept = lab("add-credential", "lab", stdin="ann\nn\n")
    assert kept.status == 1
    assert 'A credential "ann" already exists locally on this client.' in kept.out


def test_an_end_of_answers_changes_nothing(lab: Run, tmp_path: Path) -> None:
    before = (tmp_path / "data" / "credentials.toml").read_bytes()
    done = lab("add-credential", "lab", stdin="ann\n\nuserpass\nann\n")
    assert (done.status, done.err) == (1, "ERROR EOF\n")
    assert (tmp_path / "data" / "credentials.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("credentials:\n  lab:\n    eve: {auth-type: oauth1}\n", "invalid auth type"),
        ("credentials:\n  lab:\n    eve: {username: x}\n", "missing auth-type"),
        ("credentials:\n  lab:\n    eve: {auth-type: userpass, username: x}\n", "password: expected"),
        ("credentials:\n  lab:\n    0eve: {auth-type: userpass}\n", "not a valid credential name"),
        (
            "credentials:\n  lab:\n    eve: {auth-type: userpass, username: x, password: hunter2, x: y}\n",
            'unknown key "x"',
        ),
        ("credentials:\n  other: {}\n", "no credentials for cloud lab exist"),
        ("credentials: [hunter2]\n", "expected a map"),
        ("- hunter2\n", "expected a map"),
        ("credentials:\n  lab: {eve: {auth-type: userpass, username: [1]}}\n", "username: expected text"),
    ],
)
def test_bad_credentials_change_nothing(lab: Run, tmp_path: Path, text: str, problem: str) -> None:
    before = (tmp_path / "data" / "credentials.toml").read_bytes()
    (tmp_path / "eve.yaml").write_text(text)
    done = lab("add-credential", "lab", "-f", "eve.yaml")
    assert done.status == 1
    assert problem in done.err
    assert SECRET not in done.err
    assert (tmp_path / "data" / "credentials.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("clouds: {}\n", "no personal clouds are defined"),
        ("x: 1\n", "no personal clouds are defined"),
        ("clouds:\n  other: {type: openstack}\n", 'cloud "moon" not found in file'),
        ("clouds:\n  moon: {}\n", "has no type"),
        ("clouds:\n  moon: {type: cheese}\n", 'cloud type "cheese" not valid'),
        ("clouds:\n  moon: {type: openstack, auth-types: [oauth1]}\n", 'auth type "oauth1" not supported'),
        ("clouds:\n  moon: {type: openstack, regions: [1]}\n", "expected text"),
        ("clouds:\n  moon: {type: openstack, skip-tls-verify: 3}\n", "expected true or false"),
    ],
)
def test_bad_clouds_change_nothing(run: Run, tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "moon.yaml").write_text(text)
    done = run("add-cloud", "moon", "moon.yaml")
    assert done.status == 1
    assert problem in done.err
    assert not (tmp_path / "data" / "clouds.toml").exists()
    assert run("add-cloud", "moon", "no-such.yaml").status == 1
    assert run("add-cloud", "mo on", "moon.yaml").status == 2


def test_names_that_are_taken(lab: Run, tmp_path: Path) -> None:
    again = lab("add-cloud", "lab", "lab.yaml")
    assert again.err == 'ERROR "lab" already exists; use `update-cloud` to replace this existing cloud\n'
    (tmp_path / "aws.yaml").write_text("clouds:\n  aws: {type: ec2}\n  local: {type: local}\n")
    public, built_in = lab("add-cloud", "aws", "aws.yaml"), lab("add-cloud", "local", "aws.yaml")
    assert public.err.startswith('ERROR "aws" is the name of a public cloud; use `update-cloud`')
    assert built_in.err.startswith('ERROR "local" is the name of a built-in cloud; use `update-cloud`')
    assert lab("add-cloud", "aws", "aws.yaml", "--force").status == 0
    done = lab("update-cloud", "lab", "-f", "lab.yaml")
    assert done.err == 'Cloud "lab" updated on this client using provided file.\n'
    assert lab("update-cloud", "lab").status == 1


def test_update_credential(lab: Run, tmp_path: Path) -> None:
    (tmp_path / "bob.yaml").write_text(BOB.replace(SECRET, "better"))
    done = lab("update-credential", "lab", "bob", "-f", "bob.yaml")
    assert done.err == "Local client was updated successfully with provided credential information.\n"
    assert "password: better" in lab("show-credential", "lab", "bob", "--show-secrets").out
    assert lab("update-credential").status == 2
    missing = lab("update-credential", "lab", "eve", "-f", "bob.yaml")
    assert missing.err == 'ERROR credential "eve" for cloud "lab" in file bob.yaml not found\n'
    twice = lab("add-credential", "lab", "-f", "bob.yaml")
    assert twice.status == 1
    assert "already exists locally, use 'pushjuju update-credential lab bob -f bob.yaml'" in twice.err


def test_removal_leaves_a_controller_what_its_models_use(run: Run, tmp_path: Path) -> None:
    (tmp_path / "here.yaml").write_text("clouds:\n  here: {type: local, regions: {one: {}}}\n")
    assert run("add-cloud", "here", "here.yaml").status == 0
    done = run("bootstrap", "here")
    assert done.status == 0, done.err
    assert 'Creating Juju controller "here-one" on here/one' in done.err
    assert run("add-model", "shop").status == 0
    removed = run("remove-cloud", "here")
    assert removed.err == 'Removed details of cloud "here" from this client\n'
    assert run("add-model", "shop2").status == 0
    refused = run("remove-cloud", "here", "-c", "here-one")
    assert refused.err == "ERROR cloud is used by 2 models\n"
    assert run("remove-cloud", "nothing").err == 'No cloud called "nothing" exists on this client\n'
    assert run("remove-cloud", "aws").err == 'Cannot remove public cloud "aws" from client\n'


def test_a_credential_of_a_controller(lab: Run, tmp_path: Path) -> None:
    assert lab("bootstrap", "local", "home").status == 0
    refused = lab("add-credential", "lab", "-f", "bob.yaml", "-c", "home")
    assert 'No cloud "lab" found on the controller "home"' in refused.out
    done = lab("add-cloud", "lab", "-c", "home")
    assert done.status == 0, done.err
    listed = json.loads(lab("clouds", "-c", "home", "--format", "json").out)
    assert listed["lab"]["defined"] == "public"
    assert "description" not in listed["lab"]
    assert 'Cloud "lab" added to controller "home".\nCredential "bob" for cloud "lab" added' in done.err
    shown = lab("show-credential", "lab", "bob").out
    assert "controller-credentials:\n  lab:\n    bob:\n      content:\n        auth-type: userpass\n" in shown
    gone = lab("remove-credential", "lab", "bob", "--client")
    assert gone.err == 'Credential "bob" for cloud "lab" removed from this client.\n'
    assert "Controller Credentials:" in lab("credentials").out
    assert SECRET not in (tmp_path / "data" / "controllers" / "home" / "credentials.toml").read_text()
    assert lab("remove-credential", "lab", "bob", "-c", "home").status == 0
    empty = lab("credentials")
    assert (empty.out, "No credentials" in empty.err) == ("", True)


def test_which_credential_bootstrap_takes(lab: Run, tmp_path: Path) -> None:
    (tmp_path / "ann.yaml").write_text(BOB.replace("    bob:\n", "    ann:\n"))
    assert lab("add-credential", "lab", "-f", "ann.yaml").status == 0
    several = lab("bootstrap", "lab")
    assert several.err.startswith(
        "ERROR more than one credential is available\nspecify a credential using the --credential argument\n"
    )
    missing = lab("bootstrap", "lab", "--credential", "eve")
    assert missing.err == 'ERROR credential "eve" for cloud "lab" not found\n'
    region = lab("bootstrap", "lab/west", "--credential", "ann")
    assert region.err == 'ERROR region "west" not found (expected one of ["north" "south"])\n'
    none = lab("bootstrap", "aws")
    assert none.err.startswith("ERROR missing credentials for cloud aws\n")
    assert lab("bootstrap", "moon").err.startswith("ERROR cloud moon not found\n")
    assert not (tmp_path / "data" / "controllers").exists()


AWS = "[default]\naws_access_key_id = AK\naws_secret_access_key = hunter2\n"


def test_lxd_is_another_name_of_localhost_and_without_a_server_local_is_offered(run: Run) -> None:
    pytest.importorskip("pylxd")
    env = {"LXD_SOCKET": "/nowhere/unix.socket"}
    offer = "for machines on this computer without LXD: pushjuju bootstrap local"
    for name in ("lxd", "localhost"):
        assert run("bootstrap", name, env=env).err.splitlines() == [
            "ERROR the LXD server of localhost does not answer",
            "no socket /nowhere/unix.socket",
            offer,
        ]
        (found, *_) = json.loads(run("doctor", name, "--format", "json", env=env).out)
        assert (found["subject"], found["level"]) == ("server", "error")
        assert found["message"].endswith(offer)
    assert run("bootstrap", "--regions", "lxd").out == "localhost\n"


def test_a_cloud_of_ones_own_may_be_called_lxd(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "clouds.toml").write_text('[clouds.lxd]\ntype = "manual"\n', encoding="utf-8")
    assert run("bootstrap", "lxd").status == 0


def test_autoload_offers_what_it_finds(lab: Run, tmp_path: Path) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(AWS)
    (tmp_path / ".aws" / "config").write_text("[default]\nregion = eu-west-1\n")
    done = lab("autoload-credentials", stdin="x\n1\nlab\n1\n\nq\n")
    assert done.status == 0, done.err
    assert "\nLooking for cloud and credential information on local client...\n" in done.err
    assert '\n1. aws credential "default" (new)\nSelect a credential to save by number' in done.err
    assert "Invalid choice, enter a number between 1 and 1\n" in done.err
    assert 'WARNING chosen credential not compatible with "openstack" cloud\n' in done.err
    assert 'Saved aws credential "default" to cloud aws locally\n' in done.err
    assert '1. aws credential "default" (existing, will overwrite)' in done.err
    assert SECRET not in done.err + done.out
    stored = _read(tmp_path, "credentials.toml")["credentials"]["aws"]
    assert (stored["default-region"], stored["default-credential"]) == ("eu-west-1", "default")
    assert stored["default"]["secret-key"].startswith("sealed:")
    assert lab("autoload-credentials", "gce").err.endswith("No cloud credentials found.\n")
    assert lab("autoload-credentials", "google").err.endswith("No cloud credentials found.\n")
    odd = lab("autoload-credentials", "goggle")
    assert odd.status == 1
    assert odd.err.startswith('ERROR cloud type "goggle" not found\nknown types: azure, ')


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("images: [a]", "ERROR cloud rack: images: expected a map\n"),
        ("pool: {a: b}", "ERROR cloud rack: pool: expected text\n"),
        ("auth-types: [userpass]", 'ERROR auth type "userpass" not supported\nmaas takes: oauth1\n'),
    ],
)
def test_a_cloud_with_a_wrong_value_is_refused(run: Run, tmp_path: Path, keys: str, problem: str) -> None:
    (tmp_path / "rack.yaml").write_text(
        f"clouds:\n  rack:\n    type: maas\n    endpoint: http://x\n    {keys}\n"
    )
    done = run("add-cloud", "rack", "rack.yaml")
    assert done.status == 1
    assert done.err.startswith(problem)
    assert not (tmp_path / "data" / "clouds.toml").exists()


def test_a_key_that_nobody_knows_is_a_warning(run: Run, tmp_path: Path) -> None:
    text = "clouds: {rack: {type: TYPE, end-point: http://x, KEY}}\n"
    (tmp_path / "a.yaml").write_text(text.replace("TYPE", "maas").replace("KEY", "pool: swim"))
    done = run("add-cloud", "rack", "a.yaml")
    assert (done.status, done.err.splitlines()[0]) == (
        0,
        "WARNING cloud rack: maas has no key end-point; perhaps you mean endpoint",
    )
    assert run("show-cloud", "rack", "--format", "yaml").out.endswith("pool: swim\n")
    (tmp_path / "b.yaml").write_text(text.replace("TYPE", "vsphere").replace("KEY", "datastore: fast"))
    done = run("update-cloud", "rack", "-f", "b.yaml")
    assert "datastore; as a default of its models it belongs below config\n" in done.err


@pytest.mark.parametrize(
    ("cloud", "auth", "attribute", "value", "problem"),
    [
        ("rack", "oauth1", "maas-oauth", SECRET, "maas-oauth is not a key of MAAS\na key has the form"),
        ("google", "jsonfile", "file", '{"type": "user"}', "not a key file of a service account\ngcloud"),
        ("google", "jsonfile", "file", '{"private_key": "hunter2"}', "a key file without client_email"),
    ],
)  # fmt: skip
def test_a_credential_that_cannot_be_one_is_refused_at_once(
    run: Run, tmp_path: Path, cloud: str, auth: str, attribute: str, value: str, problem: str
) -> None:
    run("add-cloud", stdin="maas\nrack\nhttp://10.0.0.1:5240/MAAS\n")
    document = {"credentials": {cloud: {"bob": {"auth-type": auth, attribute: value}}}}
    (tmp_path / "bob.yaml").write_text(json.dumps(document))
    done = run("add-credential", cloud, "-f", "bob.yaml")
    assert done.status == 1
    assert done.err.startswith(f"ERROR {problem}")
    assert SECRET not in done.err
    assert not (tmp_path / "data" / "credentials.toml").exists()


JUJU = """clouds:
  lab: {type: openstack, auth-types: [userpass], endpoint: "https://lab.example/v3", regions: {north: {}}}
  far: {type: kubernetes, endpoint: "https://far.example"}
  local: {type: openstack, endpoint: "https://other.example"}
"""
JUJUS = """credentials:
  lab:
    default-region: north
    default-credential: bob
    bob: {auth-type: userpass, username: bob, password: hunter2, tenant-name: lab}
    ann: {auth-type: oauth9, token: hunter2}
  nowhere:
    kim: {auth-type: userpass, username: kim, password: hunter2}
"""


def test_files_of_a_juju_client_are_taken_over_on_request_and_never_changed(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / ".local/share/juju"
    folder.mkdir(parents=True)
    texts = {
        "clouds.yaml": JUJU,
        "credentials.yaml": JUJUS,
        "public-clouds.yaml": "clouds: {x: {type: odd}}\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    done = run("clouds", "--import-juju", "--format", "json")
    assert done.status == 0
    assert list(json.loads(done.out)) == ["lab", "local", "manual"]
    assert done.err.splitlines()[:6] == [
        'cloud "lab" is copied',
        'cloud "far" is left out: clouds of type "kubernetes" are not supported',
        'cloud "local" exists here already',
        'credential "bob" of cloud "lab" is copied',
        'credential "ann" of cloud "lab" is left out: auth-type "oauth9" is not supported',
        'credential "kim" of cloud "nowhere" is left out: cloud nowhere not found',
    ]
    assert SECRET not in (tmp_path / "data" / "credentials.toml").read_text()
    assert SECRET not in done.err
    again = run("clouds", "--import-juju")
    assert 'credential "bob" of cloud "lab" exists here already' in again.err
    assert {name: (folder / name).read_text() for name in texts} == texts
    stored = _read(tmp_path, "credentials.toml")["credentials"]["lab"]
    assert (stored["default-region"], stored["default-credential"]) == ("north", "bob")


def test_without_files_of_a_juju_client_there_is_nothing_to_take_over(run: Run, tmp_path: Path) -> None:
    done = run("clouds", "--import-juju", env={"JUJU_DATA": str(tmp_path / "no")})
    text = f"ERROR no clouds.yaml or credentials.yaml of a Juju client in {tmp_path}/no\n"
    assert (done.status, done.err) == (1, text)
    (tmp_path / "juju").mkdir()
    (tmp_path / "juju" / "clouds.yaml").write_text("clouds: [")
    done = run("clouds", "--import-juju", env={"XDG_DATA_HOME": str(tmp_path)})
    assert (done.status, done.out) == (1, "")
    assert "clouds.yaml" in done.err
