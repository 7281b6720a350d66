"""Counts packets of SSH without use: below the frames, too, no machine may keep a controller busy.

What comes over channels is counted where it is read, and how often a server may ask for more of what is sent
follows from how much is sent. All else is counted here: to be ignored, for debugging, questions, requests and
windows of channels, data without a byte, and, as more, what makes us calculate keys and signatures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from pushjuju.core import limits
from pushjuju.runner.trust.waste import Bucket

if TYPE_CHECKING:
    import asyncssh

# Numbers of packets (RFC 4250), since asyncssh is not imported before it is needed. Those of keys are of an
# exchange, but for its last packet.
_OPEN, _ADJUST, _DATA, _EXTENDED_DATA = 91, 93, 94, 95
_KEYS = frozenset({20, *range(30, 50)})
_LOGIN = range(60, 80)
# Answers to what we asked, and ends, each of which comes once: asyncssh ends a connection with others.
# Data and windows of a channel may bring something, and are counted there.
_OF_OURS = frozenset({_OPEN, _ADJUST, _DATA, _EXTENDED_DATA, 92, 96, 97, 99, 100})
_WINDOW = 1024  # bytes: no honest server opens its window by less at a time

Spend = Callable[[int], None]


def count(conn: asyncssh.SSHClientConnection) -> None:
    """Cut a connection that is kept busy with packets that bring nothing."""
    spent = Bucket(limits.PACKETS, limits.PACKETS_EACH_S)
    finish, process = conn._finish_recv_packet, conn.process_packet

    def spend(number: int) -> None:
        spent.add(number)
        if spent.over_s():
            conn.abort()

    def finish_packet(kind: int, *parts: Any, **options: Any) -> None:
        spend(_cost(kind))
        finish(kind, *parts, **options)

    def process_packet(kind: int, number: int, packet: Any) -> Any:
        result = process(kind, number, packet)
        if kind == _OPEN:
            for channel in conn._channels.values():
                _count_of_channel(channel, spend)
        return result

    conn._finish_recv_packet = cast("Any", finish_packet)  # type: ignore[method-assign] # no option for it
    conn.process_packet = cast("Any", process_packet)  # type: ignore[method-assign] # no option for it


def _cost(kind: int) -> int:
    """Return as how many packets one of a kind counts."""
    if kind in _OF_OURS:
        return 0
    return limits.PACKET_OF_KEYS if kind in _KEYS or kind in _LOGIN else 1


def _count_of_channel(channel: Any, spend: Spend) -> None:
    """Count data without a byte, and windows that are opened by little, or by more than was sent."""
    if "process_packet" in vars(channel):
        return
    process, largest = channel.process_packet, channel._send_window
    empty = {_DATA: 4, _EXTENDED_DATA: 8}

    def process_packet(kind: int, number: int, packet: Any) -> Any:
        nonlocal largest
        said = packet.get_remaining_payload()
        if kind in empty and len(said) <= empty[kind]:
            spend(1)
        elif kind == _ADJUST:
            opened = int.from_bytes(said[:4], "big")
            if opened < _WINDOW or channel._send_window + opened > largest:
                spend(1)
            largest = max(largest, channel._send_window + opened)
        return process(kind, number, packet)

    channel.process_packet = process_packet
