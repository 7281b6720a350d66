"""Reads the output of a program on an untrusted machine, up to a limit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncssh import SSHClientProcess, SSHReader

_PIECE = 1 << 16


class TooMuch(Exception):
    """A program sends more output than the limit."""


async def communicate(
    process: SSHClientProcess[bytes], stdin: bytes, most: int, tail: int
) -> tuple[bytes, bytes]:
    """Send input to a program; return its output and the end of its error output.

    Args:
        process: A started program, whose output is bytes.
        stdin: The input; empty for a program that was started without input.
        most: The limit of the output, in bytes.
        tail: The bytes of error output that are kept.

    Raises:
        TooMuch: The output exceeds the limit.
    """
    try:
        if stdin:
            process.stdin.write(stdin)
            process.stdin.write_eof()
        out, err = await asyncio.gather(_up_to(process.stdout, most), _last(process.stderr, tail))
        await process.wait_closed()
    finally:
        process.close()
    return out, err


async def _up_to(stream: SSHReader[Any], most: int) -> bytes:
    taken = bytearray()
    while piece := await stream.read(_PIECE):
        taken += piece
        if len(taken) > most:
            raise TooMuch
    return bytes(taken)


async def _last(stream: SSHReader[Any], most: int) -> bytes:
    kept = b""
    while piece := await stream.read(_PIECE):
        kept = (kept + piece)[-most:]
    return kept
