"""Emails of events, taken by a real mail server."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from pushjuju.core.errors import NotifyError, NotValid
from pushjuju.core.values import changed
from pushjuju.plugins.api.notices import NotifyTarget
from pushjuju.plugins.notifiers.mail import Mail
from pushjuju.plugins.notifiers.webhook import cut_at
from tests.clouds.certificates import certificate as certificate  # noqa: PLC0414 - a fixture
from tests.unit.plugins.notifiers.receivers import unused_port
from tests.unit.plugins.notifiers.test_webhook import EVENT


class Box:
    """What a mail server has taken."""

    def __init__(self) -> None:
        self.messages: list[tuple[list[str], Message]] = []
        self.logins: list[tuple[bytes, bytes]] = []
        self.answers_logins = True

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - its name
        self.messages.append((envelope.rcpt_tos, message_from_bytes(envelope.content)))
        return "250 taken"

    def log_in(self, _server: Any, _session: Any, _envelope: Any, _kind: str, data: Any) -> AuthResult:
        self.logins.append((data.login, data.password))
        return AuthResult(success=data.password == b"pw", handled=not self.answers_logins)


@pytest.fixture
def box() -> Box:
    return Box()


def served(box: Box, **more: Any) -> Controller:
    made = Controller(box, hostname="127.0.0.1", port=unused_port(), authenticator=box.log_in, **more)
    made.start()
    return made


@pytest.fixture
def plain(box: Box) -> Iterator[int]:
    """The port of a mail server without TLS."""
    made = served(box)
    yield made.port
    made.stop()


@pytest.fixture
def secure(box: Box, certificate: Path) -> Iterator[int]:
    """The port of a mail server with STARTTLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    made = served(box, tls_context=context, require_starttls=True)
    yield made.port
    made.stop()


def target(port: int, rest: str = "ops@example.com", user: str = "", **more: str) -> NotifyTarget:
    return NotifyTarget(name="t", address=f"smtp://{user}127.0.0.1:{port}/{rest}", **more)  # type: ignore[arg-type]


def test_an_email_has_the_sentence_and_the_event(box: Box, plain: int) -> None:
    Mail().send(target(plain, "ops@example.com,boss@example.com?from=juju@example.com"), EVENT)
    ((to, message),) = box.messages
    assert to == ["ops@example.com", "boss@example.com"]
    assert (message["From"], message["Subject"]) == ("juju@example.com", EVENT.text)
    assert '"id": "1f"' in message.get_payload()


def test_a_hostile_text_makes_no_header(box: Box, plain: int) -> None:
    text = "unit web/0 is in error: x\r\nBcc: all@example.com\r\n\r\nhi \x1b[31m"
    Mail().send(target(plain, body="text"), changed(EVENT, text=text))
    ((to, message),) = box.messages
    assert (to, message["Bcc"]) == (["ops@example.com"], None)
    assert "Bcc: all@example.com" in str(message["Subject"]).replace("\n", "")


def test_a_password_goes_over_tls_alone(box: Box, plain: int, secure: int, certificate: Path) -> None:
    known = ssl.create_default_context(cafile=str(certificate))
    with pytest.raises(NotifyError, match="offers no TLS: the password is not sent"):
        Mail().send(target(plain, user="me@", secret="pw"), EVENT)
    assert box.logins == []
    Mail(lambda: known).send(target(secure, user="me@", secret="pw"), EVENT)
    assert (box.logins, len(box.messages)) == ([(b"me", b"pw")], 1)
    with pytest.raises(NotifyError, match="refused the user or the password"):
        Mail(lambda: known).send(target(secure, user="me@", secret="wr0ng"), EVENT)
    with pytest.raises(NotifyError, match="did not take the message"):  # a certificate of nobody
        Mail().send(target(secure, user="me@", secret="pw"), EVENT)


def test_a_server_that_does_not_answer_a_login_has_not_refused_the_password(
    box: Box, secure: int, certificate: Path
) -> None:
    box.answers_logins = False
    known = ssl.create_default_context(cafile=str(certificate))
    with pytest.raises(NotifyError, match="took too long"):
        Mail(lambda: known, whole_s=0.5).send(target(secure, user="me@", secret="wr0ng"), EVENT)


def test_a_server_that_refuses_the_receivers_is_told_with_its_code(
    box: Box, plain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any) -> str:
        return "550 ops@example.com is unknown here"

    monkeypatch.setattr(box, "handle_RCPT", refuse, raising=False)
    with pytest.raises(NotifyError, match=r"/ops@example\.com refused the receivers: 550$"):
        Mail().send(target(plain), EVENT)


def test_receivers_whom_a_server_refuses_are_named_while_others_have_the_email(
    box: Box, plain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:
        if address == "gone@example.com":
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 taken"

    monkeypatch.setattr(box, "handle_RCPT", refuse, raising=False)
    told = Mail().send(target(plain, "ops@example.com,gone@example.com"), EVENT)
    assert told == "127.0.0.1 refused some receivers, the others have it: gone@example.com (550)"
    assert [to for to, _ in box.messages] == [["ops@example.com"]]


def test_a_server_that_ends_the_connection_is_told_in_words(
    box: Box, plain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang_up(server: Any, *_: Any) -> str:
        server.transport.close()
        return "421 no"

    monkeypatch.setattr(box, "handle_DATA", hang_up)
    with pytest.raises(NotifyError, match="ended the connection before it took the message"):
        Mail().send(target(plain), EVENT)


@pytest.mark.parametrize("more", [b"220-and more\r\n", b""])
def test_a_server_whose_greeting_never_ends_is_cut_off(more: bytes) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def greet() -> None:
            with listening.accept()[0] as link, suppress(OSError):
                while more:
                    link.sendall(more)
                link.recv(1)

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(NotifyError, match="took too long"):
            Mail(whole_s=0.3).send(target(listening.getsockname()[1]), EVENT)
        thread.join()


def test_a_connection_that_stands_only_after_the_end_is_cut_off() -> None:
    ours, theirs = socket.socketpair()
    looked, made = threading.Event(), list[socket.socket]()

    def found() -> socket.socket | None:
        looked.set()
        return made[0] if made else None

    with closing(ours), closing(theirs), cut_at(time.monotonic(), found):
        assert looked.wait(60)
        made.append(ours)
        assert ours.recv(1) == b""


@pytest.mark.parametrize(
    "address",
    ["smtp://", "smtp://h/", "smtp://h/ops", "smtp://u:pw@h/a@b", "smtp://h/a@b%0aBcc:c@d", "smtp://h:x/a@b"],
)
def test_an_address_without_server_or_receivers_or_with_a_password_is_refused(address: str) -> None:
    with pytest.raises(NotValid):
        Mail().check(NotifyTarget(name="t", address=address))


def test_a_server_that_is_away_is_named_without_its_user(box: Box) -> None:
    with pytest.raises(NotifyError) as caught:
        Mail().send(target(unused_port(), user="s3cret@"), EVENT)
    assert "Connection refused" in caught.value.message
    assert "s3cret" not in caught.value.message
