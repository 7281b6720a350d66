"""The URL of an offer: `[controller:][owner/]model.offer[:endpoint]`.

Mirrors: juju core/crossmodel/offerurl.go (3.6)
"""

from __future__ import annotations

import re

from pushjuju.core.errors import NotValid
from pushjuju.core.names import is_model, is_user
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote

_FORM = regex(
    r"/?(?:(?P<owner>[^/]+)/)?(?P<model>[^.]*)(?:\.(?P<offer>[^:]*)(?::(?P<endpoint>.*))?)?", re.DOTALL
)
_ENDPOINT = regex(r"[a-zA-Z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferUrl:
    """The URL of an offer; parts that the text leaves out are empty.

    Attributes:
        controller: The controller that has the offer; empty for the current controller.
        endpoint: The endpoint of the offer; empty when the text names no endpoint.
    """

    controller: str = ""
    owner: str = ""
    model: str = ""
    offer: str = ""
    endpoint: str = ""

    def __str__(self) -> str:
        local = self.local
        return f"{self.controller}:{local}" if self.controller else local

    @property
    def local(self) -> str:
        """The URL without the controller: `owner/model.offer`."""
        place = "/".join(part for part in (self.owner, self.model) if part)
        return f"{place}.{self.offer}" + (f":{self.endpoint}" if self.endpoint else "")


def _split_controller(text: str) -> tuple[str, str]:
    parts = text.split(":")
    if len(parts) == 3:
        return parts[0], f"{parts[1]}:{parts[2]}"
    if len(parts) == 2 and not _ENDPOINT.fullmatch(parts[1]):
        return parts[0], parts[1]
    return "", text


def parse(text: str, *, partial: bool = False) -> OfferUrl:
    """Read an offer's URL.

    Args:
        partial: True when the text may leave out model and offer, as in `find-offers`.

    Raises:
        NotValid: The text is not the URL of an offer; the message is Juju's.
    """
    controller, rest = _split_controller(text)
    found = _FORM.fullmatch(rest)
    if found is None or text.startswith(":") or "/" in found["model"] or "/" in (found["offer"] or ""):
        form = "[<user/]<model>.<appname>"
        raise NotValid(f"application offer URL has invalid form, must be {form}: {quote(text)}")
    url = OfferUrl(
        controller=controller,
        owner=found["owner"] or "",
        model=found["model"],
        offer=found["offer"] or "",
        endpoint=found["endpoint"] or "",
    )
    _check(url, partial=partial)
    return url


def _check(url: OfferUrl, *, partial: bool) -> None:
    if not partial and not url.model:
        raise NotValid("application offer URL is missing model")
    if not partial and not url.offer:
        raise NotValid("application offer URL is missing application")
    if url.owner and not is_user(url.owner.partition("@")[0]):
        raise NotValid(f"user name {quote(url.owner)} not valid")
    if url.model and not is_model(url.model):
        raise NotValid(f"model name {quote(url.model)} not valid")
    if url.offer and not is_application(url.offer):
        raise NotValid(f"application name {quote(url.offer)} not valid")
