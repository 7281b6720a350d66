"""Resources in the model: deploy, attach, refresh, listing; what is refused changes nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.services.entities.application import resources, units
from pushjuju.services.requests import backups
from pushjuju.services.views import resource_documents
from pushjuju.store.rows.records import Resource
from pushjuju.workers.loops.cleaner import _drop_blobs
from tests.world.controller import World

EXTENSION = 'incorrect extension on resource upload "{}/my.zip", expected '
IMAGE = "it is an oci-image: machines take files only"
FAILED = "failed to upload resource "
DECLARED: dict[str, Any] = {
    "data": {"type": "file", "filename": "data.tgz", "description": "Archive."},
    "plain": {"type": "file", "filename": "plain"},
    "image": {"type": "oci-image"},
}


def packed(shop: World, **more: Any) -> PackedCharm:
    return shop.charms.make(resources={**DECLARED, **more})


def given(tmp_path: Path, name: str = "my.tgz", text: str = "one") -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def found(shop: World) -> dict[str, Resource]:
    application = shop.application()
    return {item.name: item for item in shop.read(lambda tx: resources.of_application(tx, application))}


def blobs(shop: World) -> set[str]:
    return {path.name for path in shop.ctx.controller.blobs.root.rglob("*") if path.is_file()}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_deploy_takes_files_and_leaves_the_rest_missing(shop: World, tmp_path: Path) -> None:
    shop.deploy(packed=packed(shop), resources={"data": given(tmp_path)})
    have = found(shop)
    assert (have["data"].fingerprint, have["data"].size) == (hashlib.sha384(b"one").hexdigest(), 3)
    assert (have["data"].path, have["data"].origin, have["data"].username) == ("data.tgz", "upload", "admin")
    assert shop.ctx.controller.blobs.path(have["data"].sha256).read_text() == "one"
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
def test_what_deploy_refuses(shop: World, tmp_path: Path, values: dict[str, str], text: str) -> None:
    given(tmp_path, "my.zip")
    (tmp_path / "folder.tgz").mkdir()
    charm = packed(shop)
    before = blobs(shop)
    paths = {
        name: str(tmp_path / value) if value.startswith(("my", "gone", "folder")) else value
        for name, value in values.items()
    }
    with pytest.raises(PushjujuError) as caught:
        shop.deploy(packed=charm, resources=paths)
    assert caught.value.message == text.format(tmp_path)
    assert shop.read(lambda tx: tx.rows("application_list", model=shop.model)) == []
    assert blobs(shop) == before


def test_attach_lets_units_run_upgrade_charm(shop: World, tmp_path: Path) -> None:
    shop.deploy(packed=packed(shop), resources={"data": given(tmp_path)})
    shop.settle()
    before = len(shop.box("0").hooks)
    resources.attach(shop.ctx, shop.model, "web", "data", given(tmp_path, text="two"))
    shop.settle()
    assert shop.box("0").hooks[before:] == [("web/0", "upgrade-charm"), ("web/0", "config-changed")]
    assert found(shop)["data"].sha256 == digest("two")
    _drop_blobs(shop.ctx)
    assert digest("two") in blobs(shop)
    assert digest("one") not in blobs(shop)


@pytest.mark.parametrize(
    ("application", "name", "value", "text"),
    [
        ("nope", "data", "my.tgz", 'application "nope" not found'),
        ("web", "nope", "my.tgz", FAILED + '"nope": resource "web/nope" not found'),
        ("web", "data", "no.tgz", FAILED + '"data": open {}/no.tgz: no such file or directory'),
        ("web", "data", "my.zip", FAILED + f'"data": {EXTENSION}".tgz"'),
        ("web", "image", "my.tgz", FAILED + f'"image": {IMAGE}'),
    ],
)  # fmt: skip
def test_what_attach_refuses(
    shop: World, tmp_path: Path, application: str, name: str, value: str, text: str
) -> None:
    given(tmp_path)
    given(tmp_path, "my.zip")
    shop.deploy(packed=packed(shop), resources={"data": given(tmp_path)})
    before, modified = found(shop), shop.application().charm_modified
    with pytest.raises(PushjujuError) as caught:
        resources.attach(shop.ctx, shop.model, application, name, str(tmp_path / value))
    assert caught.value.message == text.format(tmp_path)
    assert (found(shop), shop.application().charm_modified) == (before, modified)


def test_refresh_keeps_what_people_gave_and_asks_for_what_is_new(shop: World, tmp_path: Path) -> None:
    shop.deploy(packed=packed(shop), resources={"data": given(tmp_path)})
    newer = packed(
        shop, data={"type": "file", "filename": "renamed.tgz"}, more={"type": "file", "filename": "x"}
    )
    with pytest.raises(NotValid, match='new resource "more" was missing, please provide it via --resource'):
        shop.refresh(newer)
    with pytest.raises(NotValid, match='"more" revision not found, provide via --resource'):
        shop.refresh(newer, resources={"more": "4"})
    assert shop.application().charm_url == "local:web-0"
    shop.refresh(newer, resources={"more": given(tmp_path, "more", "three")})
    have = found(shop)
    assert (have["data"].sha256, have["data"].path) == (digest("one"), "renamed.tgz")
    assert have["more"].sha256 == digest("three")


def test_an_application_takes_its_resources_along(shop: World, tmp_path: Path) -> None:
    shop.deploy(packed=packed(shop), resources={"data": given(tmp_path)}, count=0)
    shop.write(lambda tx: tx.run("application_delete", model=shop.model, name="web"))
    assert shop.read(lambda tx: tx.scalar("blob_uses", sha256=digest("one"))) == 0


def test_a_copy_of_the_controller_holds_resources(shop: World, tmp_path: Path) -> None:
    shop.deploy(packed=packed(shop), resources={"data": given(tmp_path)})
    backups.create(shop.ctx, tmp_path / "copy")
    shop.ctx.controller.blobs.delete(digest("one"))
    backups.restore(shop.ctx, tmp_path / "copy")
    assert digest("one") in blobs(shop)


def test_units_are_listed_with_what_they_fetched(shop: World, tmp_path: Path) -> None:
    shop.deploy(packed=packed(shop), resources={"data": given(tmp_path)}, count=2)
    shop.write(
        lambda tx: resources.fetched(
            tx,
            units.get(tx, shop.model, "web/1"),
            resources.wanted(tx, units.get(tx, shop.model, "web/1"), "data"),
        )
    )
    listing = resource_documents.listing(shop.ctx, shop.model, "web")
    detail = [(item.unit, item.has.revision_text, item.expected.revision_text) for item in listing.details()]
    day = f"{shop.clock.now():%Y-%m-%dT%H:%M}"
    assert detail == [
        ("web/0", "-", day), ("web/0", "-", "-"), ("web/0", "-", "-"),
        ("web/1", day, day), ("web/1", "-", "-"), ("web/1", "-", "-"),
    ]  # fmt: skip
    assert [item.document()["revision"] for item in listing.unit_resources("web/0")] == ["-", "-", "-"]
    assert [item.document()["revision"] for item in listing.unit_resources("web/1")] == ["0", "-", "-"]
    with pytest.raises(NotFound, match='unit "web/7" not found'):
        listing.unit_resources("web/7")
