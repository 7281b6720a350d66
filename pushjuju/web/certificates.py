"""The certificates of the API: a CA of the controller, and a server certificate that it signs.

Both are in `api/` of the controller's directory, readable by the owner alone, and are made at the first
start. The server certificate is renewed after two thirds of its time, or when the server gets an address.
Clients that name a host of the operator's own certificate get that one: browsers know no private CA.
"""

from __future__ import annotations

import hmac
import ipaddress
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pushjuju.core.clock import SystemClock
from pushjuju.core.errors import NotValid
from pushjuju.store import databases
from pushjuju.store.datadir import ControllerDir
from pushjuju.store.files.private import private_dir, replace_text

SERVER_NAMES = ("localhost", "juju-apiserver", "juju-mongodb", "anything")
_CA_DAYS, _SERVER_DAYS = 3653, 825
_BEFORE = timedelta(hours=24)  # clocks of clients may be behind


@dataclass(frozen=True, slots=True)
class Certificates:
    """The files of a controller's certificates."""

    folder: Path

    @property
    def ca(self) -> Path:
        """The certificate that clients trust."""
        return self.folder / "ca.pem"

    @property
    def ca_key(self) -> Path:
        """The key that signs server certificates."""
        return self.folder / "ca-key.pem"

    @property
    def server(self) -> Path:
        return self.folder / "server.pem"

    @property
    def server_key(self) -> Path:
        """The key of the server's certificate."""
        return self.folder / "server-key.pem"


def of_hosts(controller: ControllerDir, names: Sequence[str] = (), *, renew: bool = False) -> Certificates:
    """Return the certificates of a controller on this host; all of its hosts have one CA.

    Args:
        names: As for `ready`.
        renew: Make a new CA.
    """
    folder, now = controller.root / "api", SystemClock().now()
    with databases.editing(controller.vault):
        return renew_ca(folder, now) if renew else ready(folder, names, now)


def ready(folder: Path, names: Sequence[str], now: datetime) -> Certificates:
    """Return the certificates of a controller; make those that are missing or too old.

    Args:
        names: Host names and addresses of the server, in addition to Juju's own names.
    """
    found = Certificates(folder)
    private_dir(folder)
    if not _is_whole(found):
        _make_ca(found, now)
    if not _serves(found, (*SERVER_NAMES, *names), now):
        _make_server(found, (*SERVER_NAMES, *names), now)
    return found


def renew_ca(folder: Path, now: datetime) -> Certificates:
    """Make a new CA, and a server certificate with the names of the present one; return both.

    When the process is killed in between, `ready` completes the renewal.
    """
    found = Certificates(folder)
    private_dir(folder)
    names = _names(_read(found.server)) if found.server.exists() else set()
    _make_ca(found, now)
    _make_server(found, {*SERVER_NAMES, *names}, now)
    return found


def derived_key(found: Certificates) -> bytes:
    """Return a secret of the controller that is made from the key of its CA."""
    return hmac.digest(found.ca_key.read_bytes(), b"macaroons", "sha256")


def server_context(found: Certificates, own: OwnCertificate | None = None) -> ssl.SSLContext:
    """Return the SSL context of a server, for TLS 1.2 and 1.3.

    Args:
        own: The operator's certificate, which serves its own DNS names, or None.
    """
    context = _context()
    context.load_cert_chain(found.server, found.server_key)
    if own is not None:
        own.serve_beside(context, _context())
    return context


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def fingerprint(found: Certificates) -> str:
    """Return the SHA-256 of the CA's certificate, in the form that users compare."""
    digest = _read(found.ca).fingerprint(hashes.SHA256())
    return digest.hex(":").upper()


def _make_ca(found: Certificates, now: datetime) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Juju"),
            x509.NameAttribute(NameOID.COMMON_NAME, "juju-ca"),
        ]
    )
    usage = x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    made = (
        _builder(name, name, key, now, _CA_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    _write_key(found.ca_key, key)
    replace_text(found.ca, _pem(made))


def _make_server(found: Certificates, names: Iterable[str], now: datetime) -> None:
    ca, ca_key = _read(found.ca), _read_key(found.ca_key)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Juju")])
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    made = (
        _builder(name, ca.subject, key, now, _SERVER_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(issuer, critical=False)
        .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    _write_key(found.server_key, key)
    replace_text(found.server, _pem(made) + _pem(ca))


def _builder(
    name: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, days: int
) -> x509.CertificateBuilder:
    public = key.public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _names(made: x509.Certificate) -> set[str]:
    """Return the names and addresses that a server certificate serves."""
    found = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(item.value) for item in found}


def _read(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def _read_key(path: Path) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey), "the CA is made here"
    return key


def _is_whole(found: Certificates) -> bool:
    """Return True when the CA is there and the key is the CA's: a renewal may have been cut in between."""
    if not found.ca.exists():
        return False
    return _read_key(found.ca_key).public_key() == _read(found.ca).public_key()


def _is_signed(made: x509.Certificate, ca: x509.Certificate) -> bool:
    try:
        made.verify_directly_issued_by(ca)
    except (InvalidSignature, ValueError):
        return False
    return True


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _serves(found: Certificates, names: Iterable[str], now: datetime) -> bool:
    """Return True when this CA signed the server certificate, which is young enough and has all names."""
    if not (found.server.exists() and found.server_key.exists()):
        return False
    made = _read(found.server)
    known = set(made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    renewed = made.not_valid_after_utc - (made.not_valid_after_utc - made.not_valid_before_utc) / 3
    return now < renewed and _is_signed(made, _read(found.ca)) and known.issuperset(map(_general, names))


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    form, container = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    replace_text(path, key.private_bytes(form, container, serialization.NoEncryption()).decode())


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCertificate:
    """The operator's own certificate with its chain, and its key, as PEM files."""

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
        """Load the certificate and its key."""
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
