"""SSH keys, made with the package cryptography."""

from __future__ import annotations

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def new_pair() -> tuple[str, str]:
    """Return a new private key and its public key, in OpenSSH's format."""
    return _written(Ed25519PrivateKey.generate())


def pair_of(seed: bytes) -> tuple[str, str]:
    """Return the private key that derives from 32 bytes, and its public key."""
    return _written(Ed25519PrivateKey.from_private_bytes(seed))


def _written(key: Ed25519PrivateKey) -> tuple[str, str]:
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return private.decode(), public.decode()
