"""What a machine does not send: what the controller would not keep."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.runner.remote.base.results import log_event
from pushjuju.runner.remote.operation.host import Host


def output(stream: str) -> dict[str, Any]:
    return {"k": "output", "stream": stream, "line": "text"}


@pytest.mark.parametrize(
    ("config", "event", "sent"),
    [
        ("", log_event("TRACE", "any", "text"), True),
        ("<root>=INFO", log_event("DEBUG", "juju.worker", "text"), False),
        ("<root>=INFO", log_event("INFO", "juju.worker", "text"), True),
        ("<root>=INFO;unit=DEBUG", log_event("DEBUG", "unit.web/0.juju-log", "text"), True),
        ("<root>=INFO", output("stdout"), False),
        ("<root>=INFO", output("stderr"), True),
        ("<root>=ERROR", output("stderr"), False),
        ("<root>=INFO;unit=DEBUG", output("stdout"), True),
        ("<root>=CRITICAL", {"k": "status", "scope": "unit", "status": "active", "message": ""}, True),
        ("<root>=CRITICAL", {"k": "version", "version": "1"}, True),
    ],
)
def test_what_is_sent(config: str, event: dict[str, Any], sent: bool) -> None:
    host: Any = Host.__new__(Host)
    host._logging, host._kept, host._output_logger = config, {}, "unit.web/0.install"
    assert (not config or Host._is_kept(host, event)) == sent
