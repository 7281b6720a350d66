"""Secret backends: where the contents of secrets are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pushjuju.core.values import dataclass
from pushjuju.plugins.api.clouds import Attr


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretBackendType:
    """A kind of backend for the contents of secrets.

    Attributes:
        config_schema: The keys of its configuration. Values of keys marked as secret are never shown.
    """

    name: str
    summary: str
    config_schema: tuple[Attr, ...] = ()


class SecretBackend(Protocol):
    """A secret backend. Its methods run in a thread of their own and may block."""

    def ping(self) -> None:
        """Check that the backend answers and accepts our credentials.

        Raises:
            BackendError: The backend does not answer, or refuses the credentials.
        """
        ...

    def save(self, path: str, content: Mapping[str, str]) -> None:
        """Store content (key -> value in base64) at a path, and replace what the path had before.

        Raises:
            BackendError: The content could not be stored.
        """
        ...

    def fetch(self, path: str) -> Mapping[str, str]:
        """Return the content at a path.

        Raises:
            NotFound: Nothing is stored at the path.
            BackendError: The backend does not answer.
        """
        ...

    def delete(self, path: str) -> None:
        """Delete the content at a path for good; a path without content is no error.

        Raises:
            BackendError: The content could not be deleted.
        """
        ...
