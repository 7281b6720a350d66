"""The commands of storage: their words, refusals and tables."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pushjuju.cli.commands.storage import storage_table

WRONG = [
    (("add-storage", "web/0"), "add-storage requires a unit and a storage directive"),
    (("add-storage", "web", "data"), 'unit name "web" not valid'),
    (("add-storage", "web/0", "data=x,y"), "pool name is already set"),
    (("attach-storage", "web/0"), "attach-storage requires a unit ID and at least one storage ID"),
    (("detach-storage",), "detach-storage requires at least one storage ID"),
    (("remove-storage",), "remove-storage requires at least one storage ID"),
    (("show-storage",), "must specify storage ID(s)"),
    (("storage", "--filesystem", "--volume"), "--filesystem and --volume can not be used together"),
    (("storage", "0"), "specifying IDs only supported with --filesystem and --volume options"),
    (
        ("create-storage-pool", "x"),
        "pool creation requires names, provider type and optional attributes for configuration",
    ),
    (
        ("create-storage-pool", "x", "a=b"),
        "pool creation requires names and provider type before optional attributes for configuration",
    ),
    (("create-storage-pool", "x", "loop", "a"), 'expected "key=value", got "a"'),
    (("remove-storage-pool",), "pool removal requires storage pool name"),
    (("import-filesystem", "local", "x"), "import-filesystem requires a storage provider, provider ID"),
    (("deploy", "./x", "--storage", "data"), 'expected "name=constraints"'),
    (
        ("add-unit", "web", "--attach-storage", "data/0,data"),
        'invalid value "data/0,data" for option --attach-storage: storage ID "data" not valid',
    ),
    (("deploy", "./x", "-n", "2", "--attach-storage", "data/0"), "--attach-storage cannot be used with -n"),
    (("add-unit", "web", "-n", "2", "--attach-storage", "data/0"), "--attach-storage cannot be used with -n"),
]


@pytest.mark.parametrize(("words", "text"), WRONG, ids=lambda item: "-".join(item) if len(item) < 9 else "")
def test_wrong_words(run: Any, words: tuple[str, ...], text: str) -> None:
    done = run(*words)
    assert done.status == 2, done
    assert text in done.err


def test_pools(run: Any) -> None:
    run("bootstrap", "local", "home")
    run("add-model", "m")
    assert run("create-storage-pool", "fast", "tmpfs", "a=1").status == 0
    listed = run("storage-pools").out.splitlines()
    assert [line.split() for line in listed] == [
        ["Name", "Provider", "Attributes"],
        ["fast", "tmpfs", "a=1"],
        ["local", "local"],
        ["loop", "loop"],
        ["rootfs", "rootfs"],
        ["tmpfs", "tmpfs"],
    ]
    assert json.loads(run("storage-pools", "--name", "fast", "--format", "json").out) == {
        "fast": {"provider": "tmpfs", "attrs": {"a": "1"}}
    }
    assert run("update-storage-pool", "fast", "b=2").status == 0
    assert run("remove-storage-pool", "fast").status == 0
    gone = run("storage-pools", "--name", "fast")
    assert (gone.status, gone.out, gone.err) == (0, "", "No storage pools to display.\n")
    refused = run("remove-storage-pool", "fast")
    assert (refused.status, refused.err.splitlines()[0]) == (1, 'ERROR pool "fast" not found')


def test_a_name_that_no_pool_can_have_is_refused(run: Any) -> None:
    run("bootstrap", "local", "home")
    run("add-model", "m")
    refused = run("storage-pools", "--name", "b@d")
    assert (refused.status, refused.out, refused.err) == (1, "", 'ERROR pool name "b@d" not valid\n')


def test_storage_of_a_unit_that_does_not_exist(run: Any) -> None:
    """The same reason for all storage is printed once."""
    run("bootstrap", "local", "home")
    run("add-model", "m")
    missing = 'unit "web/9" not found'
    added = run("add-storage", "web/9", "data", "--no-wait")
    assert (added.status, added.err) == (1, f'failed to add storage "data" to web/9: {missing}\n')
    assert run("add-storage", "web/9", "data", "logs", "--no-wait").err == f"{missing}\n"
    attached = run("attach-storage", "web/9", "data/0", "--no-wait")
    text = 'storage data/0 to unit web/9: storage instance "data/0" not found'
    assert (attached.status, attached.err) == (1, f"failed to attach data/0 to web/9: cannot attach {text}\n")
    for words in (("web", "data/0"), ("web/0", "data")):
        refused = run("attach-storage", *words)
        wrong = 'unit ID "web"' if words[0] == "web" else 'storage ID "data"'
        assert (refused.status, refused.err) == (1, f"ERROR {wrong} not valid\n")


def test_nothing_to_show(run: Any) -> None:
    run("bootstrap", "local", "home")
    run("add-model", "m")
    shown = run("storage")
    assert (shown.status, shown.out, shown.err) == (0, "", "No storage to display.\n")
    shown = run("storage", "--format", "json")
    assert (shown.status, shown.out, shown.err) == (0, "", "")
    missing = run("show-storage", "data/0")
    assert (missing.status, missing.err.splitlines()[0]) == (1, 'ERROR storage instance "data/0" not found')
    failed = run("remove-storage", "data/0", "--no-wait")
    assert failed.status == 1
    assert failed.err.startswith('failed to remove data/0: storage instance "data/0" not found\n')


COMBINED = {
    "filesystems": {
        "0/1": {
            "provider-id": "u-1", "volume": "0/0", "storage": "data/0", "pool": "loop", "size": 2048,
            "attachments": {
                "machines": {"0": {"mount-point": "/srv/db", "read-only": False, "life": "alive"}},
                "units": {"pg/0": {"machine": "0", "life": "alive"}},
            },
            "status": {"current": "attached"},
        },
        "4": {"provider-id": "v", "storage": "data/7", "size": 512, "status": {"current": "detached"}},
    },
    "volumes": {
        "0/0": {
            "provider-id": "volume-0-0", "storage": "data/0", "size": 2048,
            "attachments": {
                "machines": {"0": {"device": "loop0", "read-only": False, "life": "alive"}},
                "units": {"pg/0": {"machine": "0", "life": "alive"}},
            },
            "status": {"current": "error", "message": "no room"},
        },
        "1/1": {  # a disk of a machine
            "provider-id": "volume-1-1", "size": 1024,
            "attachments": {"machines": {"1": {"device": "loop1", "read-only": False, "life": "alive"}}},
            "status": {"current": "attached"},
        },
    },
}  # fmt: skip


def test_tables() -> None:
    rows = [line.rstrip() for line in storage_table.filesystems(COMBINED).splitlines()]
    assert rows == [
        "Machine  Unit  Storage ID  ID   Volume  Provider ID  Mountpoint  Size     State     Message",
        "               data/7      4            v                        512 MiB  detached",
        "0        pg/0  data/0      0/1  0/0     u-1          /srv/db     2.0 GiB  attached",
    ]
    rows = [line.rstrip() for line in storage_table.volumes(COMBINED).splitlines()]
    assert rows == [
        "Machine  Unit  Storage ID  Volume ID  Provider ID  Device  Size     State     Message",
        "0        pg/0  data/0      0/0        volume-0-0   loop0   2.0 GiB  error     no room",
        "1                          1/1        volume-1-1   loop1   1.0 GiB  attached",
    ]
