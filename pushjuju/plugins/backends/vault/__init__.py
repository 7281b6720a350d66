"""The built-in plugin `vault`: stores the contents of secrets in a HashiCorp Vault.

Mirrors: juju internal/secrets/provider/vault (3.6), with its names for the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pushjuju.plugins.api.backends import SecretBackend, SecretBackendType
from pushjuju.plugins.api.clouds import Attr
from pushjuju.plugins.hookspecs import hookimpl

PUSHJUJU_API = (1, 1)
VAULT = "vault"


@hookimpl
def pushjuju_secret_backend_types() -> Sequence[SecretBackendType]:
    """Return the type `vault`."""
    return [
        SecretBackendType(
            name=VAULT,
            summary="a HashiCorp Vault, in version 2 of its key-value engine",
            config_schema=(
                Attr(name="endpoint", summary="URL of the server: https://vault.example:8200", required=True),
                Attr(name="token", summary="Token of the login", required=True, secret=True),
                Attr(name="mount-path", summary="Path where the engine is mounted; by default `secret`"),
                Attr(name="namespace", summary="Namespace, in a Vault with namespaces"),
                Attr(name="ca-cert", summary="CA certificate for the server's certificate"),
                Attr(name="client-cert", summary="Certificate with which pushjuju logs in to the server"),
                Attr(name="client-key", summary="Private key of client-cert", secret=True),
                Attr(name="tls-server-name", summary="Host name in the server's certificate"),
            ),
        )
    ]


@hookimpl
def pushjuju_open_secret_backend(
    type: str,  # noqa: A002 - the argument's name is the hook's
    config: Mapping[str, str],
) -> SecretBackend | None:
    """Return the Vault of a configuration, or None for another type."""
    if type != VAULT:
        return None
    from pushjuju.plugins.backends.vault.client import Vault  # the HTTP client takes long to import

    return Vault(config)
