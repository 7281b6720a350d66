"""Delivers events through Apprise: `pushjuju notify add NAME apprise:URL`."""

from __future__ import annotations

import apprise

from pushjuju.core.errors import NotifyError, NotValid
from pushjuju.plugins.api.notices import Event, NotifyTarget
from pushjuju.plugins.hookspecs import hookimpl

PUSHJUJU_API = (1, 6)


class Apprise:
    """Sends the sentence of an event to one service."""

    schemes = ("apprise",)
    summary = "sends a message through Apprise"

    def check(self, target: NotifyTarget) -> None:
        """Check that Apprise knows the URL."""
        _opened(target)

    def shown(self, address: str) -> str:
        """Return the name of the service; the rest of the URL may be a password."""
        return f"{':'.join(address.split(':')[:2])}://…"

    def send(self, target: NotifyTarget, event: Event) -> None:
        """Send the sentence; Apprise does not say why it failed."""
        if not _opened(target).notify(title=f"pushjuju: {event.name}", body=event.text):
            raise NotifyError(f"{self.shown(target.address)} did not take the message")


def _opened(target: NotifyTarget) -> apprise.Apprise:
    made = apprise.Apprise()
    if not made.add(target.address.partition(":")[2]):
        raise NotValid("Apprise does not know the URL", hint="https://github.com/caronc/apprise/wiki")
    return made


@hookimpl
def pushjuju_notifiers() -> list[Apprise]:
    """Return the notifier for apprise: addresses."""
    return [Apprise()]
