"""Posts of events: what arrives, how it is signed, and which servers are refused."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import NotifyError, NotValid
from pushjuju.plugins.api.notices import Event, NotifyTarget
from pushjuju.plugins.notifiers.webhook import Webhook
from tests.clouds.certificates import certificate as certificate  # noqa: PLC0414 - a fixture
from tests.unit.plugins.notifiers.receivers import bit_by_bit, unused_port, web

EVENT = Event(
    id="1f", name="unit.error", source="/controllers/c/models/m", time="2025-03-01T09:00:00Z",
    subject="unit web/0", text='lab:admin/shop: unit web/0 is in error: hook failed: "install"',
    data={"model": "admin/shop", "unit": "web/0", "count": 1},
)  # fmt: skip


def target(address: str, **more: str) -> NotifyTarget:
    return NotifyTarget(name="t", address=address, **more)  # type: ignore[arg-type]


def refused(address: str, **more: Any) -> str:
    with pytest.raises(NotifyError) as caught:
        Webhook(**more).send(target(address), EVENT)
    return caught.value.message


def test_an_event_arrives_as_a_cloud_event() -> None:
    with web() as posted:
        Webhook().send(target(f"http://127.0.0.1:{posted.port}/in?x=1"), EVENT)
    ((path, headers, body),) = posted.requests
    assert path == "/in?x=1"
    assert headers["Content-Type"].startswith("application/cloudevents+json")
    assert "X-Pushjuju-Signature" not in headers
    assert {key: body[key] for key in ("specversion", "id", "type", "subject")} == {
        "specversion": "1.0", "id": "1f", "type": "io.pushjuju.unit.error.v1", "subject": "unit web/0",
    }  # fmt: skip
    assert body["data"] == {"model": "admin/shop", "unit": "web/0", "count": 1, "text": EVENT.text}


def test_a_chat_gets_the_sentence_alone() -> None:
    with web() as posted:
        Webhook().send(target(f"http://localhost:{posted.port}/", body="text"), EVENT)
    assert posted.requests[0][2] == {"text": EVENT.text}


def test_a_secret_signs_time_and_body() -> None:
    with web() as posted:
        Webhook(clock=lambda: 1_700_000_000.7).send(
            target(f"http://127.0.0.1:{posted.port}/", secret="k"), EVENT
        )
    ((_, headers, body),) = posted.requests
    text = f"1700000000.{json.dumps(body)}".encode()
    wanted = hmac.new(b"k", text, hashlib.sha256).hexdigest()
    assert (headers["X-Pushjuju-Time"], headers["X-Pushjuju-Signature"]) == ("1700000000", f"sha256={wanted}")


@pytest.mark.parametrize(
    "address",
    ["http://example.com/", "http://10.0.0.1/", "https://", "https://u@h/", "https://h:x/", "https://h/ä"],
)
def test_an_address_that_cannot_be_used_is_refused_when_it_is_added(address: str) -> None:
    with pytest.raises(NotValid):
        Webhook().check(target(address))


def test_no_text_shows_the_path_of_an_address() -> None:
    """The path of a chat service's address is its password."""
    shown = Webhook().shown("https://hooks.example.com/services/T0/B0/s3cret?key=s3cret")
    assert shown == "https://hooks.example.com/…"
    told = refused(f"http://127.0.0.1:{unused_port()}/s3cret")
    assert "cannot be reached: Connection refused" in told
    assert "s3cret" not in told


def test_a_redirect_is_a_failure_and_not_followed() -> None:
    with web() as other, web() as posted:
        posted.status, posted.location = 307, f"http://127.0.0.1:{other.port}/"
        told = refused(f"http://127.0.0.1:{posted.port}/s3cret")
    assert told.endswith("answered with status 307")
    assert other.requests == []


def test_a_name_that_leads_to_a_metadata_service_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is checked when it was looked up, and the checked address is the one that is asked."""
    known = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 443))
    mapped = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::ffff:169.254.169.254", 443, 0, 0))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_words, **_named: [known, mapped])
    assert "169.254.169.254 is not asked" in refused("https://metadata.example.com/")
    local = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 80))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_words, **_named: [local])
    assert "10.0.0.1 is not asked" in refused("http://localhost/")


def test_a_server_that_answers_bit_by_bit_is_cut_off() -> None:
    with web() as posted:
        posted.drip = bit_by_bit
        begun = time.monotonic()
        told = refused(f"http://127.0.0.1:{posted.port}/", timeout_s=0.5)
        assert told.endswith("it took too long to answer")
        assert time.monotonic() - begun < 5


def test_a_server_that_is_silent_took_too_long() -> None:
    with web() as posted:
        ended = threading.Event()
        posted.drip = lambda _: ended.wait(30)
        told = refused(f"http://127.0.0.1:{posted.port}/", timeout_s=0.2)
        ended.set()
    assert told.endswith("it took too long to answer")


def test_a_certificate_of_nobody_is_refused(certificate: Path) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    with web(server) as posted:
        address = f"https://127.0.0.1:{posted.port}/"
        assert "CERTIFICATE" in refused(address).upper()
        known = ssl.create_default_context(cafile=str(certificate))
        Webhook(trust=lambda: known).send(target(address), EVENT)
    assert posted.events == ["unit.error"]
