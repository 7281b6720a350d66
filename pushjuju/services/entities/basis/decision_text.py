"""Compresses the records of a unit's decisions: deflate with a preset dictionary. Pure.

A record of 1.5 KB becomes 0.3 KB in 30 µs. The dictionary belongs to the format: with another dictionary,
older records cannot be read, so each record begins with the number of its format.
"""

from __future__ import annotations

import functools
import zlib

FORMAT = b"\x01"
_LEVEL = 1
_RAW = 15  # window bits, negated when used: raw deflate without a header
# Each record copies the compressor's tables, so the usual small record gets a small window.
_SMALL, _SMALL_WINDOW, _SMALL_MEMORY = 4096, 12, 6
_WINDOW, _MEMORY = 15, 8
_WORDS = (
    b'"reconcile":"upgrade-charm-url":"action-id":"effects":["failed-hook","hook-step":"queued","kind":"continue",'
    b'"kind":"upgrade""kind":"install""resolved":"retry-hooks","retry-version":"storage-id":"secret-uri":'
    b'"storage":{"data/0":{"attached":true,"life":"dying","kind":"filesystem","location":"/'
    b'"hook":{"kind":"storage-attached""kind":"install""kind":"leader-elected""kind":"stop""kind":"remove"'
    b'"kind":"upgrade-charm""kind":"relation-departed""kind":"relation-broken"'
    b'"kind":"relation-created""kind":"relation-joined","relation-id":1,"remote-application":"remote-unit":"'
    b'"reason":"the unit must start","reason":"a setting changed","reason":"it is time"}'
    b'{"decision":{"answer":"run","badge":"relations","operation":{"hook":{"kind":"relation-changed",'
    b'{"decision":{"answer":"run","badge":"core","operation":{"hook":{"kind":"start"},{"kind":"config-changed"},'
    b'{"kind":"update-status"},"lock":"machine-lock","name":"run-hook","seen":{"addresses-hash":"","boot-id":"'
    b'","config-hash":"","leader-settings-version":1,"trust-hash":"eafb910f4b2d09b6a307b67db3df34444b89a0d9b13b6'
    b'477a042d709ddcbf12b","update-status-version":1}},"reason":"nothing to do"},"format":1,"local":{'
    b'"addresses-hash":"","boot-id":"","config-hash":"","current-charm-url":"local:","current-charm-url":"ch:amd64/'
    b'","installed":true,"leader":true,"relations":{"1":{"application-members":{"":0},"created":true,"members":{"'
    b'/0":1,"/1":1}}},"started":true,"trust-hash":"eafb910f4b2d09b6a307b67db3df34444b89a0d9b13b6477a042d709ddcbf12b'
    b'","update-status-version":1},"remote":{"addresses-hash":"","boot-id":"","charm-url":"local:","config-hash":"'
    b'","leader":true,"relations":{"1":{"app-members":{"":0},"endpoint":"","members":{"/0":1,"/1":1,"/2":1},'
    b'"remote-application":""}},"life":"dying","peer":true,"trust-hash":"eafb910f4b2d09b6a307b67db3df34444b89a0d9b'
    b'13b6477a042d709ddcbf12b","unit":"/0","update-status-version":1}}'
)


@functools.cache
def _begun(window: int, memory: int) -> zlib._Compress:
    """Return a compressor that has read the dictionary; callers use a copy of it."""
    return zlib.compressobj(_LEVEL, zlib.DEFLATED, -window, memory, zdict=_WORDS)


def packed(record: str) -> bytes:
    """Return a record in the compressed form that the store keeps."""
    text = record.encode()
    small = len(text) <= _SMALL
    begun = _begun(_SMALL_WINDOW, _SMALL_MEMORY) if small else _begun(_WINDOW, _MEMORY)
    writer = begun.copy()
    return FORMAT + writer.compress(text) + writer.flush()


def unpacked(kept: bytes | str) -> str:
    """Return the text of a record; earlier releases kept records as plain text.

    Raises:
        ValueError: The record has another format, or is damaged.
    """
    if isinstance(kept, str):
        return kept
    if kept[:1] != FORMAT:
        raise ValueError(f"format {kept[:1].hex() or 'none'}")
    try:
        reader = zlib.decompressobj(-_RAW, zdict=_WORDS)
        return (reader.decompress(kept[1:]) + reader.flush()).decode()
    except zlib.error as error:
        raise ValueError(str(error)) from error
