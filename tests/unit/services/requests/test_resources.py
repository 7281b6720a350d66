"""Resources in the model: deploy, attach, refresh, listing; what is refused changes nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.services.entities.application import resources, units
from pushjuju.services.requests.application import pending_resources
from pushjuju.services.requests.controller import backups
from pushjuju.services.views import resource_documents
from pushjuju.store.rows.records import Resource
from pushjuju.workers.loops.cleaner import _drop_blobs
from tests.world.controller import TestController

EXTENSION = 'incorrect extension on resource upload "{}/my.zip", expected '
IMAGE = "its type is oci-image: machines accept only files"
FAILED = "failed to upload resource "
DECLARED: dict[str, Any] = {
    "data": {"type": "file", "filename": "data.tgz", "description": "Archive."},
    "plain": {"type": "file", "filename": "plain"},
    "image": {"type": "oci-image"},
}


def packed(runtime: TestController, **more: Any) -> PackedCharm:
    return runtime.charms.make(resources={**DECLARED, **more})


def given(tmp_path: Path, name: str = "my.tgz", text: str = "one") -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def found(runtime: TestController) -> dict[str, Resource]:
    application = runtime.application()
    return {item.name: item for item in runtime.read(lambda tx: resources.of_application(tx, application))}


def blobs(runtime: TestController) -> set[str]:
    return {path.name for path in runtime.ctx.controller.blobs.root.rglob("*") if path.is_file()}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_deploy_takes_files_and_leaves_the_rest_missing(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy(packed=packed(runtime), resources={"data": given(tmp_path)})
    have = found(runtime)
    assert (have["data"].fingerprint, have["data"].size) == (hashlib.sha384(b"one").hexdigest(), 3)
    assert (have["data"].path, have["data"].origin, have["data"].username) == ("data.tgz", "upload", "admin")
    assert runtime.ctx.controller.blobs.path(have["data"].sha256).read_text() == "one"
    assert (have["plain"].sha256, have["plain"].time, have["image"].time) == ("", "", "")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"none": "x"}, 'unrecognized resource "none"'),
        ({"none": "x", "nor": "y"}, "unrecognized resources: none, nor"),
        ({"data": "my.zip"}, f'resource "data": {EXTENSION}".tgz"'),
        ({"plain": "my.zip"}, f'resource "plain": {EXTENSION}""'),
        ({"data": "gone.tgz"}, 'file for resource "data": stat {}/gone.tgz: no such file or directory'),
        ({"data": "folder.tgz"}, "can't read file for resource \"data\": open {}/folder.tgz: is a directory"),
        ({"image": "docker.io/x"}, f'resource "image": {IMAGE}'),
        ({"data": "7"}, 'resource "data" revision not found, provide via --resource'),
    ],
)  # fmt: skip
def test_what_deploy_refuses(
    runtime: TestController, tmp_path: Path, values: dict[str, str], text: str
) -> None:
    given(tmp_path, "my.zip")
    (tmp_path / "folder.tgz").mkdir()
    charm = packed(runtime)
    before = blobs(runtime)
    paths = {
        name: str(tmp_path / value) if value.startswith(("my", "gone", "folder")) else value
        for name, value in values.items()
    }
    with pytest.raises(PushjujuError) as caught:
        runtime.deploy(packed=charm, resources=paths)
    assert caught.value.message == text.format(tmp_path)
    assert runtime.read(lambda tx: tx.rows("application_list")) == []
    assert blobs(runtime) == before


def test_attach_lets_units_run_upgrade_charm(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy(packed=packed(runtime), resources={"data": given(tmp_path)})
    runtime.settle()
    before = len(runtime.played("0").hooks)
    pending_resources.attach_resource(runtime.ctx, runtime.model, "web", "data", given(tmp_path, text="two"))
    runtime.settle()
    assert runtime.played("0").hooks[before:] == [
        ("web/0", "upgrade-charm"),
        ("web/0", "config-changed"),
    ]
    assert found(runtime)["data"].sha256 == digest("two")
    _drop_blobs(runtime.ctx)
    assert digest("two") in blobs(runtime)
    assert digest("one") not in blobs(runtime)


@pytest.mark.parametrize(
    ("application", "name", "value", "text"),
    [
        ("nope", "data", "my.tgz", 'application "nope" not found'),
        ("web", "nope", "my.tgz", FAILED + '"nope": resource "web/nope" not found'),
        ("web", "nope", "no.tgz", FAILED + '"nope": open {}/no.tgz: no such file or directory'),
        ("web", "data", "no.tgz", FAILED + '"data": open {}/no.tgz: no such file or directory'),
        ("web", "data", "my.zip", FAILED + f'"data": {EXTENSION}".tgz"'),
        ("web", "image", "my.tgz", FAILED + f'"image": {IMAGE}'),
        ("web", "image", "no.tgz", FAILED + f'"image": {IMAGE}'),
    ],
)  # fmt: skip
def test_what_attach_refuses(
    runtime: TestController, tmp_path: Path, application: str, name: str, value: str, text: str
) -> None:
    given(tmp_path)
    given(tmp_path, "my.zip")
    runtime.deploy(packed=packed(runtime), resources={"data": given(tmp_path)})
    before, modified = found(runtime), runtime.application().charm_modified
    with pytest.raises(PushjujuError) as caught:
        pending_resources.attach_resource(
            runtime.ctx, runtime.model, application, name, str(tmp_path / value)
        )
    assert caught.value.message == text.format(tmp_path)
    assert (found(runtime), runtime.application().charm_modified) == (before, modified)


def test_refresh_keeps_what_people_gave_and_asks_for_what_is_new(
    runtime: TestController, tmp_path: Path
) -> None:
    runtime.deploy(packed=packed(runtime), resources={"data": given(tmp_path)})
    newer = packed(
        runtime, data={"type": "file", "filename": "renamed.tgz"}, more={"type": "file", "filename": "x"}
    )
    with pytest.raises(NotValid, match='new resource "more" was missing, please provide it via --resource'):
        runtime.refresh(newer)
    with pytest.raises(NotValid, match='"more" revision not found, provide via --resource'):
        runtime.refresh(newer, resources={"more": "4"})
    assert runtime.application().charm_url == "local:web-0"
    runtime.refresh(newer, resources={"more": given(tmp_path, "more", "three")})
    have = found(runtime)
    assert (have["data"].sha256, have["data"].path) == (digest("one"), "renamed.tgz")
    assert have["more"].sha256 == digest("three")


def test_an_application_takes_its_resources_along(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy(packed=packed(runtime), resources={"data": given(tmp_path)}, count=0)
    runtime.write(lambda tx: tx.run("application_delete", name="web"))
    assert runtime.read(lambda tx: tx.scalar("blob_uses", sha256=digest("one"))) == 0


def test_a_copy_of_the_controller_holds_resources(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy(packed=packed(runtime), resources={"data": given(tmp_path)})
    backups.create(runtime.ctx, tmp_path / "copy")
    runtime.ctx.controller.blobs.delete(digest("one"))
    backups.restore_anywhere(
        runtime.ctx.datadir, tmp_path / "copy", clock=runtime.ctx.clock, name=runtime.ctx.controller.name
    )
    assert digest("one") in blobs(runtime)


def test_units_are_listed_with_what_they_fetched(runtime: TestController, tmp_path: Path) -> None:
    runtime.deploy(packed=packed(runtime), resources={"data": given(tmp_path)}, count=2)
    runtime.write(
        lambda tx: resources.fetched(
            tx,
            units.get(tx, "web/1"),
            resources.wanted(tx, units.get(tx, "web/1"), "data"),
        )
    )
    listing = resource_documents.listing(runtime.ctx, runtime.model, "web")
    detail = [(item.unit, item.has.revision_text, item.expected.revision_text) for item in listing.details()]
    day = f"{runtime.clock.now():%Y-%m-%dT%H:%M}"
    assert detail == [
        ("web/0", "-", day), ("web/0", "-", "-"), ("web/0", "-", "-"),
        ("web/1", day, day), ("web/1", "-", "-"), ("web/1", "-", "-"),
    ]  # fmt: skip
    assert [item.document()["revision"] for item in listing.unit_resources("web/0")] == ["-", "-", "-"]
    assert [item.document()["revision"] for item in listing.unit_resources("web/1")] == ["0", "-", "-"]
    with pytest.raises(NotFound, match='unit "web/7" not found'):
        listing.unit_resources("web/7")
