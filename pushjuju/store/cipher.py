"""AES-GCM, with the package cryptography."""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


class Cipher:
    """Encrypts and decrypts with a key."""

    @staticmethod
    def encrypt(key: bytes, nonce: bytes, text: bytes, place: bytes) -> bytes:
        """Return encrypted text, which can be decrypted only with the key and for the same place."""
        return AESGCM(key).encrypt(nonce, text, place)

    @staticmethod
    def decrypt(key: bytes, nonce: bytes, text: bytes, place: bytes) -> bytes:
        """Return the decrypted text.

        Raises:
            ValueError: The text was changed, or it was encrypted with another key or for another place.
        """
        try:
            return AESGCM(key).decrypt(nonce, text, place)
        except InvalidTag as error:
            raise ValueError("the text was changed") from error
