"""The built-in plugin `vault`: content of secrets in a HashiCorp Vault.

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
    """Name the type `vault`."""
    return [
        SecretBackendType(
            name=VAULT,
            summary="a HashiCorp Vault, by the second version of its key-value engine over HTTP",
            config_schema=(
                Attr(name="endpoint", summary="URL of the server: https://vault.example:8200", required=True),
                Attr(name="token", summary="What opens it", required=True, secret=True),
                Attr(name="mount-path", summary="Where the engine is mounted; `secret` if not given"),
                Attr(name="namespace", summary="Namespace, of a Vault that has some"),
                Attr(name="ca-cert", summary="Certificate of the authority that signed the server's"),
                Attr(name="client-cert", summary="Certificate that we show to the server"),
                Attr(name="client-key", summary="Its private key", secret=True),
                Attr(name="tls-server-name", summary="Name in the server's certificate, if it is another"),
            ),
        )
    ]


@hookimpl
def pushjuju_open_secret_backend(
    type: str,  # noqa: A002 - the argument's name is the hook's
    config: Mapping[str, str],
) -> SecretBackend | None:
    """Return a Vault."""
    if type != VAULT:
        return None
    from pushjuju.plugins.backends.vault.client import Vault  # HTTP

    return Vault(config)
