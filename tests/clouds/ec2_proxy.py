"""A proxy before moto that lets requests go wrong as Amazon's answers do."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tests.clouds.httpfake import Answer, Asked, Fault, HttpFake


def refusal(code: str, message: str = "no", status: int = 400) -> Answer:
    """Return an error as EC2 tells it."""
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error>'
        f"<Code>{code}</Code><Message>{message}</Message>"
        "</Error></Errors><RequestID>4c5c1d1b</RequestID></Response>"
    )
    return Answer(status=status, body=body.encode(), headers={"content-type": "text/xml"})


class Ec2Proxy(HttpFake):
    """Moto, with faults: `break_` names an action of the API, and may look at its parameters."""

    def __init__(self, moto: str, tls: str = "") -> None:
        self._moto = moto
        self._params: dict[int, dict[str, str]] = {}
        super().__init__(tls)

    def break_(self, action: str, where: str = "", **more: Any) -> None:
        """Let the next requests of an action go wrong: those with `where` (a pattern) in their parameters."""
        self.faults.append(Fault(method=action, path=where, **more))

    def fault(self, asked: Asked) -> Fault | None:
        params = asked_for(asked)
        for fault in self.faults:
            said = urlencode(params, safe=":/-")
            if fault.method == params.get("Action") and fault.times and re.search(fault.path, said):
                fault.times -= 1
                return fault
        return None

    def work(self, asked: Asked) -> Answer:
        """Hand a request on."""
        query = f"?{urlencode(asked.query)}" if asked.query else ""
        kept = ("authorization", "content-type", "x-amz-date", "x-amz-content-sha256")
        request = urllib.request.Request(
            f"{self._moto}{asked.path}{query}",
            data=asked.body or None,
            method=asked.method,
            headers={key: asked.headers[key] for key in kept if key in asked.headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return Answer(status=answer.status, body=answer.read(), headers={"content-type": "text/xml"})
        except urllib.error.HTTPError as error:
            return Answer(status=error.code, body=error.read(), headers={"content-type": "text/xml"})

    def times(self, action: str) -> int:
        """Return how often an action was asked for."""
        return sum(asked_for(item).get("Action") == action for item in self.asked)


def asked_for(asked: Asked) -> dict[str, str]:
    """Return the parameters of a request, of its address or its form."""
    return {**asked.query, **dict(parse_qsl(asked.body.decode("utf-8", "replace")))}
