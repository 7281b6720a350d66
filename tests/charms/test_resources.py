"""Resources on real machines: what people give arrives once and whole, of any size, whatever is cut."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.charms import prober
from tests.charms.client import PUSHJUJU, Client
from tests.charms.prober import runs

pytestmark = pytest.mark.machine

MIB = 1 << 20
LARGE = 400 * MIB  # more than the memory of the machine that it goes to
SMALL_MACHINE = "mem=192M"
MOST_MEMORY = 150 * MIB  # of a controller, whatever it carries
RESOURCES = {
    "blob": {"type": "file", "filename": "blob.bin", "description": "Bytes."},
    "notes": {"type": "file", "filename": "notes.txt"},
    "image": {"type": "oci-image"},
}
HERE = "/var/lib/juju/agents/unit-probe-{}/resources/{}"
CACHE = "/var/lib/juju/pushjuju/blobs"


@pytest.fixture
def work(client: Client, tmp_path: Path) -> Iterator[Path]:
    """A charm with resources, deployed by the tests as `probe`."""
    prober.charm(tmp_path, resources=RESOURCES)
    yield tmp_path
    client.run("destroy-model", "--no-prompt", "--force", "default")


def file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def get(client: Client, unit: str, name: str) -> tuple[int, str, str]:
    """Call resource-get in a unit's context."""
    done = client.try_run("exec", "--unit", unit, "--format", "json", "--", "resource-get", name)
    import json

    results = json.loads(done.stdout)[unit]["results"]
    return results["return-code"], results.get("stdout", ""), results.get("stderr", "")


def test_a_resource_from_deploy_to_the_next_one(client: Client, work: Path) -> None:
    first, second = os.urandom(3 * MIB), os.urandom(MIB)
    blob = file(work / "first.bin", first)
    client.run("deploy", work / "probe", "--resource", f"blob={blob}")
    client.run("add-unit", "probe", "--to", "0")
    path = HERE.format(0, "blob/blob.bin")
    assert get(client, "probe/0", "blob") == (0, path, "")
    assert client.on("0", f"sha384sum {path}").split()[0] == hashlib.sha384(first).hexdigest()
    rc, out, err = get(client, "probe/0", "notes")
    assert (rc, out) == (1, "")
    assert err.startswith('ERROR could not download resource: resource "notes" not found')
    assert (
        get(client, "probe/0", "none")[2] == 'ERROR could not download resource: resource "none" not found\n'
    )
    assert "machines accept only files" in get(client, "probe/0", "image")[2]

    # The second unit of the machine takes it from the cache; what a charm does to its own harms nobody.
    name = hashlib.sha256(first).hexdigest()
    before = client.on("0", f"stat -c %i-%Y {CACHE}/{name}").partition("-")[0]
    client.on("0", f"echo odd > {path}")
    assert get(client, "probe/1", "blob") == (0, HERE.format(1, "blob/blob.bin"), "")
    assert client.on("0", f"stat -c %i-%Y {CACHE}/{name}").partition("-")[0] == before
    digest = client.on("0", f"sha384sum {HERE.format(1, 'blob/blob.bin')}").split()[0]
    assert digest == hashlib.sha384(first).hexdigest()
    # A damaged cache is noticed, and the file is brought again.
    client.on("0", f"echo odd > {CACHE}/{name}")
    assert get(client, "probe/0", "blob") == (0, path, "")
    assert client.on("0", f"sha256sum {path}").split()[0] == name

    shown = client.json("resources", "probe")["resources"]
    assert [(item["name"], item["used"], item["size"]) for item in shown] == [
        ("blob", True, 3 * MIB), ("image", False, 0), ("notes", False, 0),
    ]  # fmt: skip
    assert shown[0]["fingerprint"] == hashlib.sha384(first).hexdigest()
    assert shown[0]["revision"] == "0"
    table = client.run("resources", "probe").splitlines()
    assert re.fullmatch(r"blob +admin +\d{4}-\d\d-\d\dT\d\d:\d\d", table[1]), table
    assert table[3].split() == ["notes", "upload", "-"]

    client.run("attach-resource", "probe", f"blob={file(work / 'second.bin', second)}")
    ran = [run.name for run in runs(client, "0")["probe/0"]]
    assert ran[-2:] == ["upgrade-charm", "config-changed"]
    detail = client.json("resources", "probe/0", "--details")
    assert detail[0]["unit"]["fingerprint"] == hashlib.sha384(first).hexdigest()
    assert detail[0]["expected"]["fingerprint"] == hashlib.sha384(second).hexdigest()
    assert get(client, "probe/0", "blob") == (0, path, "")
    assert client.on("0", f"sha384sum {path}").split()[0] == hashlib.sha384(second).hexdigest()
    kept = [each.name for each in (client.data / "controllers/local/blobs").glob("??/*")]
    assert name not in kept
    assert hashlib.sha256(second).hexdigest() in kept

    # With the charm, without the charm's consent, and refused: nothing changes.
    client.run(
        "refresh", "probe", "--path", work / "probe", "--resource", f"notes={file(work / 'n.txt', b'x')}"
    )
    assert client.on("0", f"cat $(pwd)/dev/null {HERE.format(0, 'blob')}/blob.bin | wc -c").strip() == str(
        MIB
    )
    assert get(client, "probe/1", "notes")[0] == 0
    before_refusals = client.json("resources", "probe")
    refused = (
        (
            "probe",
            f"blob={work / 'n.txt'}",
            f'incorrect extension on resource upload "{work}/n.txt", expected',
        ),
        ("probe", "image=docker.io/x", "its type is oci-image: machines accept only files"),
        ("probe", f"blob={work / 'none.bin'}", f"open {work}/none.bin: no such file or directory"),
        ("probe", f"none={blob}", 'resource "probe/none" not found'),
    )
    for application, word, text in refused:
        error = client.fail("attach-resource", application, word).error
        assert error.startswith(f'ERROR failed to upload resource "{word.partition("=")[0]}": '), error
        assert text in error
    assert client.json("resources", "probe") == before_refusals


def test_one_larger_than_the_memory_of_its_machine(client: Client, work: Path) -> None:
    """Everything on the way holds a piece of it at a time."""
    large = work / "large.bin"
    piece = os.urandom(MIB)
    with large.open("wb") as stream:
        for number in range(LARGE // MIB):
            stream.write(number.to_bytes(4, "big") + piece[4:])
    client.run("deploy", work / "probe", "--constraints", SMALL_MACHINE)
    assert measured(client, "attach-resource", "probe", f"blob={large}") < MOST_MEMORY
    assert measured(client, "exec", "--unit", "probe/0", "--", "resource-get", "blob") < MOST_MEMORY
    fingerprint = client.on("0", f"sha384sum {HERE.format(0, 'blob/blob.bin')}").split()[0]
    assert fingerprint == client.json("resources", "probe")["resources"][0]["fingerprint"]


MEASURE = """
import os, resource, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def measured(client: Client, *words: str) -> int:
    """Run a command that must succeed; return the most memory that it had.

    A small process starts it: what its parent has counts for it, until it runs its own program.
    """
    argv = [sys.executable, "-I", "-S", "-c", MEASURE, str(PUSHJUJU), *words]
    done = subprocess.run(argv, cwd=client.work, env=client.environ, stdout=subprocess.PIPE, check=True)
    return int(done.stdout.split()[-1]) * 1024


def test_an_upload_that_is_cut_changes_nothing(client: Client, work: Path) -> None:
    large = work / "large.bin"
    with large.open("wb") as stream:
        stream.truncate(4 << 30)
    client.run("deploy", work / "probe", "--no-wait")
    blobs = client.data / "controllers/local/blobs"
    for number in (signal.SIGINT, signal.SIGKILL):
        process = client.start("attach-resource", "probe", f"blob={large}")
        client.until(lambda: any(blobs.glob(".new-*")))
        process.send_signal(number)
        process.communicate(timeout=30)
        assert process.returncode != 0
    assert not any(item["used"] for item in client.json("resources", "probe")["resources"])
    halves = list(blobs.glob(".new-*"))
    assert len(halves) == 1  # the killed one's: nobody was left to take it away
    os.utime(halves[0], (0, 0))
    client.run("attach-resource", "probe", f"blob={file(work / 'small.bin', b'small')}", "--no-wait")
    assert not halves[0].exists()
    assert client.json("resources", "probe")["resources"][0]["size"] == 5


def test_a_delivery_that_is_cut_goes_on(client: Client, work: Path) -> None:
    """The controller dies while a hook waits for its resource; the next one brings the rest."""
    large = work / "large.bin"
    with large.open("wb") as stream:
        stream.truncate(LARGE)
    client.run("deploy", work / "probe", "--resource", f"blob={large}")
    process = client.start(
        "config", "probe", "config-changed=cd /; resource-get blob > /root/where; echo >> /root/times"
    )
    part = f"ls -s {CACHE} | grep part"
    client.until(lambda: client.try_run("ssh", "0", "sudo", "sh", "-c", f"'{part}'").rc == 0)
    process.kill()
    process.communicate(timeout=30)
    client.run("update-status")
    assert client.on("0", "cat /root/where").strip() == HERE.format(0, "blob/blob.bin")
    assert client.on("0", "wc -l < /root/times").strip() == "1"
    assert client.agents("probe")["probe/0"] == ("active", "idle")
