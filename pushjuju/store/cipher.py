"""AES-GCM, by cryptography."""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


class Cipher:
    """Encrypts and decrypts with a key."""

    @staticmethod
    def encrypt(key: bytes, nonce: bytes, text: bytes, place: bytes) -> bytes:
        """Return what only the key opens, and only for a place."""
        return AESGCM(key).encrypt(nonce, text, place)

    @staticmethod
    def decrypt(key: bytes, nonce: bytes, text: bytes, place: bytes) -> bytes:
        """Return what was encrypted.

        Raises:
            ValueError: The text was changed, or it is for another key or place.
        """
        try:
            return AESGCM(key).decrypt(nonce, text, place)
        except InvalidTag as error:
            raise ValueError("the text was changed") from error
