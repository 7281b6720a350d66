"""What the server imports before the first request."""

from __future__ import annotations

import subprocess
import sys

from tests.world.api import ApiWorld
from tests.world.controller import TestController

_LISTS = """
import sys
from pushjuju.cli.work import api
api.serving()
print(*(name for name in sys.modules if name.startswith("pushjuju.web.facades.")))
"""


def test_a_started_server_has_imported_no_facade() -> None:
    done = subprocess.run([sys.executable, "-c", _LISTS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


async def test_changes_that_are_sent_at_once_keep_their_order(
    served: ApiWorld, house: TestController
) -> None:
    async with served.entered(house.model) as client:
        for number in range(3):
            note = {"annotations": [{"entity": f"model-{house.model}", "annotations": {"k": str(number)}}]}
            await client.send("Annotations", "Set", note, version=2)
        numbers = [(await client.read())["request-id"] for _ in range(3)]
        assert numbers == sorted(numbers)
        asked = {"entities": [{"tag": f"model-{house.model}"}]}
        found = await client.ask("Annotations", 2, "Get", asked)
    assert found["results"][0]["annotations"] == {"k": "2"}
