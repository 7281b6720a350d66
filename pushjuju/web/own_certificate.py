"""The operator's own certificate with a public name, for clients that know no private CA, like browsers.

Clients that name a host of this certificate get it; others get the certificate of the controller's CA.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from pushjuju.core.errors import NotValid


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCertificate:
    """A certificate with its chain, and its key, as PEM files."""

    certificate: Path
    key: Path

    def names(self) -> list[str]:
        """Return the DNS names of the certificate, in lower case.

        Raises:
            NotValid: The file is not a certificate with DNS names.
        """
        try:
            found = x509.load_pem_x509_certificate(self.certificate.read_bytes())
            known = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except OSError as error:
            raise NotValid(f"cannot read {self.certificate}: {error.strerror}") from error
        except (ValueError, x509.ExtensionNotFound) as error:
            raise NotValid(f"{self.certificate} is no PEM certificate with names") from error
        return [name.lower() for name in known.get_values_for_type(x509.DNSName)]

    def load(self, context: ssl.SSLContext) -> None:
        """Load the certificate and its key.

        Raises:
            NotValid: The files cannot be read, or do not belong together.
        """
        try:
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            raise NotValid(f"{self.certificate} and {self.key} are no certificate and its key") from error

    def serve_beside(self, usual: ssl.SSLContext, own: ssl.SSLContext) -> None:
        """Make `usual` hand clients that ask for a name of this certificate over to `own`."""
        names = self.names()
        self.load(own)

        def choose(socket: ssl.SSLObject, asked: str | None, _context: ssl.SSLContext) -> None:
            if asked and _is_named(asked.lower(), names):
                socket.context = own

        usual.sni_callback = choose


def _is_named(name: str, known: list[str]) -> bool:
    return name in known or f"*.{name.partition('.')[2]}" in known
