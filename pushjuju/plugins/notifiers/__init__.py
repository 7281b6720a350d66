"""The plugin with the notifiers that come with pushjuju: webhook, command, email."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pushjuju.plugins.hookspecs import PLUGIN_API, hookimpl
from pushjuju.plugins.notifiers import command, mail, webhook

if TYPE_CHECKING:
    from pushjuju.plugins.api.notices import Notifier

PUSHJUJU_API = PLUGIN_API


@hookimpl
def pushjuju_notifiers() -> Sequence[Notifier]:
    """Return the notifiers for https:, http:, command:, smtp: and smtps: addresses."""
    return [webhook.Webhook(), command.Command(), mail.Mail()]
