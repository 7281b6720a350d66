"""status of a model on another computer."""

from __future__ import annotations

from pushjuju.cli.commands.status import status as local
from pushjuju.cli.remote.call import Call
from pushjuju.cli.terminal.times import clock_text, stored_text
from pushjuju.client import status_document as documents


def status(call: Call) -> None:
    """Show the state of the model."""

    def read(*, utc: bool, relations: bool) -> local.Reading:
        with call.target.opened() as (connection, found):
            full = connection.call("Client", "FullStatus", {"include-storage": True})
        document = documents.document(full, call.target.account.name, stored_text(utc=utc))
        document["controller"] = {"timestamp": clock_text(document["controller"]["timestamp"], utc=utc)}
        rows = documents.relation_rows(full) if relations else []
        return local.Reading(document=document, relations=rows, model=found.qualified)

    options = {key: value for key, value in vars(call.flags).items() if key != "model"}
    local.show(call.cli, call.args, read, **options)
