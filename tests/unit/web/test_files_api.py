"""Files over the API: resources, the files of charms, and charms that were uploaded for an application."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pushjuju.services.entities.basis import users as access
from pushjuju.services.views import resource_documents
from pushjuju.services.views.listings import audit_lines
from tests.charms_tools.hubstore import JAMMY, HubStore
from tests.unit.web.test_libjuju import pytestmark as pytestmark  # noqa: PLC0414 - the same warnings
from tests.unit.web.test_libjuju import working
from tests.world.api import ApiWorld, basic
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.libjuju import model_of

FILES = {"data": {"type": "file", "filename": "data.txt"}, "image": {"type": "oci-image"}}
BODY = b"first\n"


async def transfer(
    served: ApiWorld, method: str, path: str, body: bytes = b"", user: str = "admin", **headers: str
) -> tuple[int, bytes]:
    """Send a request with Basic authentication; return status and body."""
    given = {
        "Content-Type": "application/octet-stream",
        "Content-Sha384": hashlib.sha384(body).hexdigest(),
        "Content-Disposition": 'form-data; filename="data.txt"',
        "Authorization": basic(user),
        **headers,
    }
    url = f"https://{served.endpoint}{path}"
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, data=body or None, ssl=served.trust, headers=given) as answer,
    ):
        return answer.status, await answer.read()


def aside(part: Callable[[], Any]) -> Any:
    """Run a part of a test beside the server's loop: libjuju sends files without giving way."""
    return asyncio.to_thread(lambda: asyncio.run(part()))


async def test_uploads_after_a_deploy_from_the_store_have_the_types_of_their_resources(
    served: ApiWorld, house: TestController, packs: Charms, hub: HubStore
) -> None:
    """Terraform's provider uploads the details of images, and refuses a resource of another type."""
    hub.add("web", packs.make(resources=FILES).path.read_bytes(), revision=3, bases=[JAMMY])
    value = f'"{hub.url}"'
    house.write(lambda tx: tx.run("model_config_set", model=house.model, key="charmhub-url", value=value))
    async with served.entered(house.model) as client:
        wanted = {
            "CharmName": "web", "ApplicationName": "web", "channel": "stable",
            "resources": {"image": "example/image:1", "data": "data.txt"},
        }  # fmt: skip
        answer = await client.ask("Application", 19, "DeployFromRepository", {"args": [wanted]})
        (found,) = answer["Results"]
        assert found["Errors"] == []
        assert {item["Name"]: item["Type"] for item in found["PendingResourceUploads"]} == {
            "image": "oci-image", "data": "file",
        }  # fmt: skip
    details = b"registrypath: example/image:1\nusername: kim\npassword: hush\n"
    image = {"Content-Disposition": 'multipart/form-data; filename="example/image:1"'}
    path = f"/model/{house.model}/applications/web/resources/image"
    status, told = await transfer(served, "PUT", path, details, **image)
    assert status == 200, told
    shown = {item.name: item for item in resource_documents.listing(house.ctx, house.model, "web").resources}
    assert shown["image"].origin == "upload"


async def test_libjuju_deploys_and_attaches_resources(
    served: ApiWorld, house: TestController, packs: Charms, tmp_path: Path
) -> None:
    charm = tmp_path / "web.charm"
    charm.write_bytes(packs.make(resources=FILES).path.read_bytes())
    (tmp_path / "data.txt").write_bytes(BODY)

    async def play() -> None:
        async with model_of(served, house.model) as model:
            given = {"data": str(tmp_path / "data.txt"), "image": "example/image:1"}
            web = await model.deploy(str(charm), application_name="web", resources=given)
            found = await web.get_resources()
            assert found["data"].size == len(BODY)
            assert (found["image"].type_, found["image"].size > 0) == ("oci-image", True)
            with (tmp_path / "data.txt").open("rb") as stream:
                web.attach_resource("data", "data.txt", stream)

    async with working(house):
        await aside(play)
    assert not list((house.ctx.controller.root / "api" / "pending").iterdir())


async def pending(served: ApiWorld, model: str, application: str = "web") -> str:
    """Announce the resource `data`; return its id."""
    async with served.entered(model) as client:
        wanted = [{"name": "data", "type": "file", "path": "data.txt", "origin": "upload"}]
        params = {"tag": f"application-{application}", "resources": wanted}
        found = await client.ask("Resources", 3, "AddPendingResources", params)
        return str(found["pending-ids"][0])


async def test_a_resource_is_attached_and_downloaded(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    house.active("web", packed=packs.make(resources=FILES))
    path = f"/model/{house.model}/applications/web/resources/data"
    assert (await transfer(served, "GET", path))[0] == 404
    status, text = await transfer(served, "PUT", path, BODY)
    assert (status, b'"size": 6' in text) == (200, True)
    assert await transfer(served, "GET", path) == (200, BODY)


async def test_uploads_of_resources_that_are_refused_leave_nothing(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    house.active("web", packed=packs.make(resources=FILES))
    served.add_user("kim")
    with served.ctx.store.write() as tx:
        access.grant(tx, "kim", "read", access.Kind.MODEL, house.model)
    path = f"/model/{house.model}/applications/web/resources/data"
    number, before = await pending(served, house.model), house.blobs()
    other = {"Content-Disposition": 'form-data; filename="../../data.sh"'}
    odd = {"Content-Disposition": 'form-data; filename="data.a/../b"'}
    for wanted, text, answer in (
        (401, b"permission denied", await transfer(served, "PUT", path, BODY, "kim")),
        (400, b"Content-Sha384", await transfer(served, "PUT", path, BODY, **{"Content-Sha384": "00"})),
        (500, b'upload \\"../../data.sh\\", expected', await transfer(served, "PUT", path, BODY, **other)),
        (500, b"incorrect extension", await transfer(served, "PUT", path, BODY, **odd)),
        (404, b"not found", await transfer(served, "PUT", path.replace("data", "none"), BODY)),
        (404, b"not found", await transfer(served, "PUT", f"{path}?pendingid=../../x", BODY)),
        (404, b"not found", await transfer(served, "PUT", f"{path}x?pendingid={number}", BODY)),
        (500, b"incorrect ext", await transfer(served, "PUT", f"{path}?pendingid={number}", BODY, **other)),
    ):
        assert (answer[0], text in answer[1]) == (wanted, True), answer
    assert house.blobs() == before


async def test_uploads_are_in_the_audit_logs_with_the_host_and_the_error_of_refused_ones(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    house.active("web", packed=packs.make(resources=FILES))
    path = f"/model/{house.model}/applications/web/resources/data"
    assert (await transfer(served, "PUT", path, BODY))[0] == 200
    assert (await transfer(served, "PUT", path.replace("data", "none"), BODY))[0] == 404
    (line,) = audit_lines.lines(house.ctx, audit_lines.Wanted(most=1))
    assert (line["host"], line["command"]) == ("127.0.0.1", "Resources.Upload")
    log = house.ctx.controller.root / "log" / "audit.log"
    found = [json.loads(text) for text in log.read_text().splitlines()]
    ends = [item["errors"]["errors"] for item in found if "errors" in item]
    assert [error and error[0]["code"] for error in ends] == [None, "not found"]


async def test_a_pending_resource_is_its_applications_and_not_kept_for_ever(
    served: ApiWorld, house: TestController
) -> None:
    folder = house.ctx.controller.root / "api" / "pending"
    number = await pending(served, house.model)
    deploy = {
        "applications": [{"application": "db", "charm-url": "local:web-0", "resources": {"data": number}}]
    }
    async with served.entered(house.model) as client:
        found = await client.ask("Application", 19, "Deploy", deploy)
        assert 'pending resource "db/data" not found' in found["results"][0]["error"]["message"]
    old = time.time() - 25 * 60 * 60
    os.utime(folder / number, (old, old))
    assert [path.name for path in folder.iterdir()] == [number]
    newer = await pending(served, house.model)
    assert [path.name for path in folder.iterdir()] == [newer]


async def test_an_application_gets_a_charm_that_was_uploaded(
    served: ApiWorld, house: TestController, packs: Charms
) -> None:
    house.active("web")
    charm = packs.make(files={"src/new.py": "pass\n"}, resources={"data": FILES["data"]})
    zipped = {"Content-Type": "application/zip"}
    path = f"/model/{house.model}/charms"
    status, _ = await transfer(served, "POST", f"{path}?series=jammy", charm.path.read_bytes(), **zipped)
    assert status == 200
    url = "local:jammy/web-1"
    number = await pending(served, house.model)
    put = f"/model/{house.model}/applications/web/resources/data?pendingid={number}"
    assert (await transfer(served, "PUT", put, BODY))[0] == 200
    async with served.entered(house.model) as client:
        params = {"application": "web", "charm-url": url, "resource-ids": {"data": number}}
        assert await client.ask("Application", 19, "SetCharm", params) == {}
    assert house.application().charm_url == url
    house.settle()
    assert house.unit("web/0").charm_url == url


async def test_the_files_of_a_charm_are_read(served: ApiWorld, house: TestController, packs: Charms) -> None:
    house.active("web")
    base = f"/model/{house.model}/charms?url=local:web-0"
    status, text = await transfer(served, "GET", base)
    assert (status, b"metadata.yaml" in text) == (200, True)
    assert b"name: web" in (await transfer(served, "GET", f"{base}&file=metadata.yaml"))[1]
    assert b"<svg" in (await transfer(served, "GET", f"{base}&icon=1"))[1]
    archive = (await transfer(served, "GET", f"{base}&file=*"))[1]
    digest = hashlib.sha256(archive).hexdigest()[:7]
    assert (await transfer(served, "GET", f"/model-{house.model}/charms/web-{digest}")) == (200, archive)
    for other in (f"{base}&file=../../state.db", f"{base}&file=/etc/hostname", f"{base}9"):
        assert (await transfer(served, "GET", other))[0] == 404
    served.add_user("kim")
    assert (await transfer(served, "GET", base, user="kim"))[0] == 401


@pytest.mark.usefixtures("own")
async def test_the_controllers_own_model_has_charms_too(served: ApiWorld, packs: Charms) -> None:
    body, zipped = packs.make("web").path.read_bytes(), {"Content-Type": "application/zip"}
    status, text = await transfer(served, "POST", "/charms?series=jammy", body, **zipped)
    assert (status, json.loads(text)) == (200, {"charm-url": "local:jammy/web-0"})
    status, text = await transfer(served, "GET", "/charms?url=local:jammy/web-0")
    assert (status, b"metadata.yaml" in text) == (200, True)
    served.add_user("kim")
    assert (await transfer(served, "GET", "/charms?url=local:jammy/web-0", user="kim"))[0] == 401


async def test_a_wrong_method_is_refused_with_an_error_in_json(served: ApiWorld) -> None:
    for method, path in (("DELETE", "/charms"), ("POST", "/api"), ("PUT", "/model/x/charms")):
        status, text = await transfer(served, method, path)
        found = {"error": f'unsupported method: "{method}"', "error-code": "method not allowed"}
        assert (status, json.loads(text)) == (405, found)
