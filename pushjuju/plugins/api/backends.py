"""Secret backends: where the content of secrets is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pushjuju.plugins.api.clouds import Attr


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretBackendType:
    """A kind of backend for the content of secrets.

    Attributes:
        config_schema: The keys of its configuration; values of secret ones are never shown.
    """

    name: str
    summary: str
    config_schema: tuple[Attr, ...] = ()


class SecretBackend(Protocol):
    """A secret backend: keeps the content of secrets. Methods run in a thread of their own and may block."""

    def ping(self) -> None:
        """Check that the backend is there and takes our credentials.

        Raises:
            BackendError: It does not.
        """
        ...

    def save(self, path: str, content: Mapping[str, str]) -> None:
        """Keep content (key -> value in base64); what is there already under that path is replaced.

        Raises:
            BackendError: It could not be kept.
        """
        ...

    def fetch(self, path: str) -> Mapping[str, str]:
        """Return content.

        Raises:
            NotFound: The place has no such charm.
            BackendError: The backend does not answer.
        """
        ...

    def delete(self, path: str) -> None:
        """Delete content for good; what is not there is no error.

        Raises:
            BackendError: It could not be deleted.
        """
        ...
