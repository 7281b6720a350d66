"""The identity of an instance: model, machine and request, written as tags, words or the name. Pure.

A repeated start finds the instance of the first start by this identity, which contains a digest of the
request's nonce, since few clouds accept every character.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pushjuju.core.values import regex

MODEL_TAG, MACHINE_TAG, NONCE_TAG = "juju-model-uuid", "pushjuju-machine", "pushjuju-nonce"
_NAME = regex(r"juju-([0-9a-f]{32})-([0-9a-z-]+?)-([0-9a-f]{16}|none)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The model, the machine and the request for which an instance was made.

    Attributes:
        nonce: A digest that is unique for the request; an instance without a nonce is never found.
    """

    model: str
    machine: str
    nonce: str

    @classmethod
    def of(cls, model: str, machine: str, nonce: str) -> Identity:
        found = hashlib.sha256(f"{model} {machine} {nonce}".encode()).hexdigest()[:16]
        return cls(model=model, machine=machine, nonce=found if nonce else "")

    def tags(self) -> dict[str, str]:
        """Return the identity as tags with lower-case letters, digits and dashes."""
        machine = self.machine.replace("/", "-")
        return {MODEL_TAG: self.model, MACHINE_TAG: machine, NONCE_TAG: self.nonce}

    @classmethod
    def from_tags(cls, tags: Mapping[str, str]) -> Identity:
        """Return the identity that `tags` wrote; missing parts are empty."""
        return cls(
            model=tags.get(MODEL_TAG, ""),
            machine=tags.get(MACHINE_TAG, "").replace("-", "/"),
            nonce=tags.get(NONCE_TAG, ""),
        )

    def words(self) -> list[str]:
        """Return the identity as `key:value`, for clouds whose tags are single words."""
        return [word(key, value) for key, value in self.tags().items()]

    @classmethod
    def from_words(cls, words: Iterable[str]) -> Identity:
        """Return the identity that `words` wrote; other words are ignored."""
        return cls.from_tags(dict(item.split(":", 1) for item in words if ":" in item))

    def name(self) -> str:
        """Return the identity as an instance's name of at most 63 characters, for clouds without tags."""
        machine = self.machine.replace("/", "-")
        return f"juju-{self.model.replace('-', '')}-{machine}-{self.nonce or 'none'}"

    @classmethod
    def from_name(cls, text: str) -> Identity:
        """Return the identity that `name` wrote; any other name has an empty identity."""
        found = _NAME.fullmatch(text)
        if not found:
            return cls(model="", machine="", nonce="")
        raw, machine, nonce = found.groups()
        model = "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))
        return cls(model=model, machine=machine.replace("-", "/"), nonce="" if nonce == "none" else nonce)


def word(key: str, value: str) -> str:
    """Return a tag for clouds whose tags are single words of letters, digits and `:_-`."""
    return re.sub(r"[^A-Za-z0-9:_-]", "_", f"{key}:{value}")[:255]
