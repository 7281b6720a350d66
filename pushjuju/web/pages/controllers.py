"""The page of the controller: users, clouds, processes, waiting work, the store, plugins, and settings."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pushjuju import JUJU_VERSION, __version__
from pushjuju.core.errors import NotFound
from pushjuju.plugins.info import PluginInfo
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.model import models
from pushjuju.services.views import cloud_documents
from pushjuju.services.views.listings import processes, users
from pushjuju.services.views.listings import settings as settings_of
from pushjuju.services.views.metrics.reading import LATE
from pushjuju.web.call import is_superuser
from pushjuju.web.pages import cells
from pushjuju.web.pages.cells import Cell, Table
from pushjuju.web.pages.visit import Content, Visit


def controller(visit: Visit) -> Content:
    """Return the page of the controller; for superusers."""
    if not is_superuser(visit.ctx):
        raise NotFound("only superusers of the controller see this page")
    people = users.documents(visit.ctx, disabled=True)
    working = processes.documents(visit.ctx)
    config = settings_of.of_controller(visit.ctx)
    store = _store(visit)
    plugins = PluginHost(environ=visit.ctx.environ).list_plugins()
    first = _users(people), _clouds(visit), _processes(working), _queue(visit)
    last = _pairs("Store and versions", store), _plugins(plugins), _pairs("Settings", config)
    document = {
        "users": people,
        "processes": working,
        "store": store,
        "plugins": [asdict(plugin) for plugin in plugins],
        "settings": config,
    }
    command = f"pushjuju show-controller {visit.ctx.controller.name}"
    values = {"tables": (*first, *last), "page": "controller"}
    return Content(title="Controller", command=command, values=values, document=lambda: document)


def _pairs(name: str, values: Mapping[str, object]) -> Table:
    rows = [cells.row(key, value) for key, value in values.items()]
    return Table(name=name, heads=("Key", "Value"), rows=rows, none="")


def _plugins(listed: Sequence[PluginInfo]) -> Table:
    return Table(
        name="Plugins",
        heads=("Plugin", "Version", "From", "Not used because"),
        rows=[cells.row(item.name, item.version, item.source, item.error) for item in listed],
        none="",
    )


def _users(people: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        name="Users",
        heads=("User", "Access", "Disabled", "Last connection"),
        rows=[
            cells.row(
                item["user-name"], item["access"], bool(item.get("disabled")),
                Cell(time=item["last-connection"]),
            )
            for item in people
        ],
        none="",
    )  # fmt: skip


def _clouds(visit: Visit) -> Table:
    """Return the clouds with the names of their credentials, never the credentials."""
    with visit.ctx.store.read() as tx:
        listed = list(models.listed(tx))
    used: dict[str, list[str]] = {}
    for model in listed:
        used.setdefault(model.cloud, []).append(model.qualified)
    known = cloud_documents.controller_credentials(visit.ctx, visit.ctx.user)
    return Table(
        name="Clouds",
        heads=("Cloud", "Your credentials", "Models"),
        rows=[
            cells.row(cloud, sorted(known[cloud].credentials) if cloud in known else "", used.get(cloud, []))
            for cloud in sorted({*used, *known})
        ],
        none="The controller uses no cloud yet.",
    )


def _processes(working: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        name="Processes that work",
        heads=("Host", "Process id", "State", "Keys", "Version", "Started", "Seen"),
        rows=[
            cells.row(
                item["host"], item["pid"], item["state"], item["keys"], item["version"],
                Cell(time=item["started"]), Cell(time=item["seen"]),
            )
            for item in working
        ],
        none="No process works now.",
    )  # fmt: skip


def _queue(visit: Visit) -> Table:
    """Return what waits to be done, by model."""
    now = visit.ctx.clock.now()
    with visit.ctx.store.read() as tx:
        names = {model.uuid: model.qualified for model in models.listed(tx)}
        rows = tx.rows("metrics_queue", now=now, late=now - LATE)
    return Table(
        name="Work",
        heads=("Model", "Kind", "State", "Number", "Earliest"),
        rows=[
            cells.row(names[row["model"]], row["kind"], row["state"], row["items"], cells.time(row["due"]))
            for row in rows
            if row["model"] in names
        ],
        none="Nothing waits to be done.",
    )


def _store(visit: Visit) -> dict[str, object]:
    sizes = visit.ctx.store.engine.sizes()
    return {
        "kind": "file" if isinstance(visit.ctx.store.place, Path) else "PostgreSQL",
        **{_SIZES[name]: size for name, size in sizes.items()},
        "pushjuju": __version__,
        "as Juju": JUJU_VERSION,
        "Python": platform.python_version(),
    }


_SIZES = {"store": "bytes", "store_wal": "bytes of the write-ahead log"}
