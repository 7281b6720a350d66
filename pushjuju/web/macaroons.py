"""Macaroons: tokens whose restrictions (caveats) nobody can take away, signed with a chain of HMACs.

A macaroon is an id, caveats and a signature. A caveat is a condition that the server checks, or a condition
that a third party confirms with a second macaroon, the discharge. On the wire a macaroon is JSON in format
2, `{"i", "l", "c": [{"i", "v64", "l"}], "s64"}`, where a key ends with `64` when its value is in base64;
format 1 is read, too. Mirrors: gopkg.in/macaroon.v2. (The library pymacaroons had its last release in 2018,
and fails with errors of any kind when a macaroon is not valid.)
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

_GENERATOR = b"macaroons-key-generator"
_NO_KEY = bytes(32)
_MOST = 20  # macaroons that belong together, and caveats of one


class BadMacaroon(ValueError):
    """A macaroon that was not made with the key, or cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caveat:
    """A restriction of a macaroon."""

    id: bytes  # the condition, or the text that the third party understands
    # the sealed key of the third party's discharge; empty for a condition of the server
    verifier: bytes = b""
    location: str = ""  # the URL of the third party, or empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Macaroon:
    id: bytes
    signature: bytes
    location: str = ""
    caveats: tuple[Caveat, ...] = ()

    def restricted(self, condition: str) -> Macaroon:
        added = Caveat(id=condition.encode())
        return replace(self, caveats=(*self.caveats, added), signature=_hash(self.signature, added.id))

    def demanding(self, key: bytes, id_: bytes, location: str) -> Macaroon:
        """Return the macaroon with a caveat that a third party discharges.

        Args:
            key: The key with which the third party makes the discharge.
            id_: The text that tells the third party what to confirm; the id of the discharge.
        """
        sealed = bytes(SecretBox(self.signature).encrypt(_hash(_GENERATOR, key)))
        added = Caveat(id=id_, verifier=sealed, location=location)
        signature = _hash_pair(self.signature, sealed, id_)
        return replace(self, caveats=(*self.caveats, added), signature=signature)

    def bound(self, first: Macaroon) -> Macaroon:
        """Return a discharge as it is sent together with the macaroon that demands it."""
        return replace(self, signature=_hash_pair(_NO_KEY, first.signature, self.signature))

    def document(self) -> dict[str, object]:
        """Return the macaroon in the form of the wire."""
        found: dict[str, object] = {**_field("i", self.id), "s64": base64_text(self.signature)}
        caveats = [
            {
                **_field("i", item.id),
                **({"v64": base64_text(item.verifier), "l": item.location} if item.verifier else {}),
            }
            for item in self.caveats
        ]
        return {**found, "l": self.location, "c": caveats}


def mint(key: bytes, id_: bytes, location: str = "") -> Macaroon:
    """Return a new macaroon without caveats."""
    return Macaroon(id=id_, signature=_hash(_hash(_GENERATOR, key), id_), location=location)


def conditions(key: bytes, macaroons: Sequence[Macaroon]) -> list[str]:
    """Return the conditions of a macaroon and of the discharges that follow it, which the caller checks.

    Raises:
        BadMacaroon: They were not made with the key, or a discharge is missing or superfluous.
    """
    first, *rest = macaroons
    discharges = {item.id: item for item in rest}
    found: list[str] = []
    if len(macaroons) > _MOST or len(discharges) != len(rest):
        raise BadMacaroon
    if not hmac.compare_digest(
        _signed(first, _hash(_GENERATOR, key), first, discharges, found), first.signature
    ):
        raise BadMacaroon
    if discharges:
        raise BadMacaroon
    return found


def _signed(
    item: Macaroon, derived: bytes, first: Macaroon, discharges: dict[bytes, Macaroon], found: list[str]
) -> bytes:
    """Return the signature that a macaroon must have; collect its conditions, and check its discharges."""
    signature = _hash(derived, item.id)
    for caveat in item.caveats:
        if not caveat.verifier:
            found.append(caveat.id.decode("utf-8", "replace"))
            signature = _hash(signature, caveat.id)
            continue
        _check_discharge(caveat, signature, first, discharges, found)
        signature = _hash_pair(signature, caveat.verifier, caveat.id)
    return signature


def _check_discharge(
    caveat: Caveat, signature: bytes, first: Macaroon, discharges: dict[bytes, Macaroon], found: list[str]
) -> None:
    discharge = discharges.pop(caveat.id, None)
    try:
        derived = SecretBox(signature).decrypt(caveat.verifier)
    except (CryptoError, ValueError):
        raise BadMacaroon from None
    if discharge is None:
        raise BadMacaroon
    own = _signed(discharge, derived, first, discharges, found)
    if not hmac.compare_digest(_hash_pair(_NO_KEY, first.signature, own), discharge.signature):
        raise BadMacaroon


def _hash(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, "sha256")


def _hash_pair(key: bytes, one: bytes, two: bytes) -> bytes:
    return _hash(key, _hash(key, one) + _hash(key, two))


# --- the wire ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CaveatParams:
    """A caveat on the wire: `i`, `v` and `l` in format 2, the other fields in format 1."""

    i: str = ""
    i64: str = ""
    v: str = ""
    v64: str = ""
    l: str = ""  # noqa: E741 - the name on the wire
    cid: str = ""
    vid: str = ""
    cl: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MacaroonParams:
    """A macaroon on the wire: fields of one letter in format 2, the other fields in format 1."""

    i: str = ""
    i64: str = ""
    s: str = ""
    s64: str = ""
    l: str = ""  # noqa: E741 - the name on the wire
    c: list[CaveatParams] = field(default_factory=list)
    identifier: str = ""
    signature: str = ""
    location: str = ""
    caveats: list[CaveatParams] = field(default_factory=list)


def read(params: MacaroonParams) -> Macaroon:
    """Return the macaroon of the wire.

    Raises:
        BadMacaroon: A value is not in base64 or hexadecimal, or there are too many caveats.
    """
    if len(params.c) + len(params.caveats) > _MOST:
        raise BadMacaroon
    try:
        if params.identifier:
            old = tuple(
                Caveat(id=item.cid.encode(), verifier=_bytes("", item.vid), location=item.cl)
                for item in params.caveats
            )
            return Macaroon(
                id=params.identifier.encode(), signature=bytes.fromhex(params.signature), caveats=old,
                location=params.location,
            )  # fmt: skip
        new = tuple(
            Caveat(id=_bytes(item.i, item.i64), verifier=_bytes(item.v, item.v64), location=item.l)
            for item in params.c
        )
        signature = _bytes(params.s, params.s64)
        return Macaroon(id=_bytes(params.i, params.i64), signature=signature, caveats=new, location=params.l)
    except ValueError:
        raise BadMacaroon from None


def _bytes(text: str, encoded: str) -> bytes:
    """Return the bytes of a field: of its text, or of base64 in any of its forms."""
    if not encoded:
        return text.encode()
    return read_base64(encoded)


def read_base64(text: str) -> bytes:
    """Return the bytes of base64 in any of its forms; raise ValueError when the text is not base64."""
    plain = text.rstrip("=").translate(str.maketrans("-_", "+/"))
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def _field(name: str, data: bytes) -> dict[str, str]:
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}64": base64_text(data)}


def base64_text(data: bytes) -> str:
    """Return bytes as base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
