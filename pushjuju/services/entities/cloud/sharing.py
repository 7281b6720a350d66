"""The clouds and credentials of a controller that several hosts share."""

from __future__ import annotations

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.store.rows.model import Model


def take_in(ctx: Context) -> None:
    """Copy the clouds and credentials that models use from this user to the controller, for its other hosts.

    A controller that is not shared needs no copies.
    """
    if ctx.controller.vault is None:
        return
    own, client = ctx.controller.cloud_files, ctx.datadir.cloud_files
    with ctx.store.read() as tx:
        used = {(model.cloud, model.credential) for model in tx.list(Model, "model_list")}
    for cloud, name in sorted(used):
        defined = client.clouds().get(cloud)
        if defined is not None and cloud not in own.clouds():
            own.put_cloud(cloud, defined)
        found = client.credentials(cloud).credentials.get(name)
        if found is not None and name not in own.credentials(cloud).credentials:
            clouds.keep_credential(own, cloud, name, found)
