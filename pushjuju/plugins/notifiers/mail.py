"""Sends events as email, through a mail server that the user names."""

from __future__ import annotations

import json
import smtplib
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.errors import MessageError
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import parse_qs, unquote, urlsplit

from pushjuju.core.errors import NotifyError, NotValid
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.notices import Event, NotifyTarget
from pushjuju.plugins.notifiers.webhook import cut_at

TIMEOUT_S, WHOLE_S = 10.0, 30.0  # for one step, and for all
_FORM = "smtp://[USER@]HOST[:PORT]/TO[,TO...][?from=ADDRESS]"
_MOST_SUBJECT = 150  # letters
Trust = Callable[[], ssl.SSLContext]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """A mail server, with the sender and the receivers of messages."""

    host: str
    port: int
    encrypted: bool
    user: str
    to: tuple[str, ...]
    sender: str


class Mail:
    """Sends to smtps: addresses with TLS, and to smtp: addresses with STARTTLS if the server offers it.

    The password of a user is the target's secret; it is sent only over TLS.

    Args:
        trust: Returns the certificates that a server must show.
        whole_s: Seconds for the whole delivery.
    """

    schemes: tuple[str, ...] = ("smtps", "smtp")
    summary = "sends an email"

    def __init__(self, trust: Trust = ssl.create_default_context, whole_s: float = WHOLE_S) -> None:
        self._trust = trust
        self._whole_s = whole_s

    def check(self, target: NotifyTarget) -> None:
        """Check that an address names a server and receivers."""
        server = _parsed(target.address)
        if target.secret and not server.user:
            raise NotValid("a password needs a user", hint=_FORM)

    def shown(self, address: str) -> str:
        """Return the server and the receivers."""
        url = urlsplit(address)
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"

    def send(self, target: NotifyTarget, event: Event) -> str:
        """Send an email with the sentence, and with the event as JSON behind it; name receivers refused."""
        server = _parsed(target.address)
        end = time.monotonic() + self._whole_s
        try:
            message = _message(server, target, event)
            with self._connected(server, end) as connection:
                if server.user:
                    _log_in(connection, server, target.secret, end)
                refused = connection.send_message(message)
        except (OSError, smtplib.SMTPException, MessageError, ValueError) as error:
            said = "took too long" if _is_late(error) or time.monotonic() >= end else _said(error)
            raise NotifyError(f"{self.shown(target.address)} {said}") from None
        told = ", ".join(f"{name} ({code})" for name, (code, _) in sorted(refused.items()))
        return told and f"{server.host} refused some receivers, the others have it: {told}"

    @contextmanager
    def _connected(self, server: _Server, end: float) -> Iterator[smtplib.SMTP]:
        if server.encrypted:
            made: smtplib.SMTP = smtplib.SMTP_SSL(timeout=TIMEOUT_S, context=self._trust())
        else:
            made = smtplib.SMTP(timeout=TIMEOUT_S)
        made._host = server.host  # type: ignore[attr-defined] # the constructor sets it, and connects without cut_at
        with cut_at(end, lambda: made.sock), made:
            made.connect(server.host, server.port)
            if not server.encrypted:
                made.ehlo()
                if made.has_extn("starttls"):
                    made.starttls(context=self._trust())
            yield made


def _is_late(error: Exception) -> bool:
    """Return True for a step that took too long; smtplib makes it the context of its own error."""
    return isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError)


def _said(error: Exception) -> str:
    """Return what a server did: never its text, which may repeat what was sent."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            codes = sorted({code for code, _ in error.recipients.values()})
            return f"refused the receivers: {', '.join(map(str, codes))}"
        case smtplib.SMTPResponseException():
            return f"refused the message: {error.smtp_code}"
        case smtplib.SMTPServerDisconnected():
            return "ended the connection before it took the message"
    return f"did not take the message: {getattr(error, 'strerror', None) or type(error).__name__}"


def _log_in(connection: smtplib.SMTP, server: _Server, password: str, end: float) -> None:
    if not isinstance(connection.sock, ssl.SSLSocket):
        raise NotifyError(f"{server.host} offers no TLS: the password is not sent")
    try:
        connection.login(server.user, password)
    except (smtplib.SMTPAuthenticationError, smtplib.SMTPServerDisconnected) as error:
        if _is_late(error) or time.monotonic() >= end:
            raise
        # some servers just hang up
        raise NotifyError(f"{server.host} refused the user or the password") from None


def _message(server: _Server, target: NotifyTarget, event: Event) -> EmailMessage:
    message = EmailMessage()
    line = "".join(letter if letter.isprintable() else " " for letter in event.text)
    message["Subject"] = line[:_MOST_SUBJECT]
    message["From"], message["To"] = server.sender, ", ".join(server.to)
    message["Date"] = formatdate()
    message["Message-ID"] = f"<{event.id}@pushjuju>"
    message["Auto-Submitted"] = "auto-generated"
    whole = json.dumps(event.document(), indent=2, ensure_ascii=False) if target.body == "json" else ""
    message.set_content(f"{event.text}\n\n{whole}".strip() + "\n")
    return message


def _parsed(address: str) -> _Server:
    try:
        url = urlsplit(address)
        port = url.port or (465 if url.scheme == "smtps" else 25)
    except ValueError:
        raise NotValid("the address is no mail server", hint=_FORM) from None
    to = tuple(filter(None, unquote(url.path).strip("/").split(",")))
    sender = parse_qs(url.query).get("from", ["pushjuju@localhost"])[0]
    if not url.hostname or url.password or not to or not all(map(_is_mailbox, (*to, sender))):
        raise NotValid("the address names no mail server with receivers, or holds a password", hint=_FORM)
    return _Server(
        host=url.hostname, port=port, encrypted=url.scheme == "smtps", user=unquote(url.username or ""),
        to=to, sender=sender,
    )  # fmt: skip


def _is_mailbox(text: str) -> bool:
    name, _, host = text.rpartition("@")
    return bool(name and host) and text.isprintable() and not set(text) & set(' <>,;"()[]\\')
