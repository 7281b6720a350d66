"""Counts useless SSH packets, so that a machine cannot keep the controller busy below the level of frames.

Data of channels is counted where it is read; window adjustments are limited by the data that the controller
sends. This module counts all other packets: ignored ones, debug messages, channel requests and tiny
windows, data without a byte, and, with a higher cost, packets that make the controller compute keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from pushjuju.core import limits
from pushjuju.runner.trust.waste import Bucket

if TYPE_CHECKING:
    import asyncssh

# Numbers of packets (RFC 4250), copied because asyncssh is imported only when needed. `_KEYS` are the packets
# of a key exchange, without its last packet.
_OPEN, _ADJUST, _DATA, _EXTENDED_DATA = 91, 93, 94, 95
_KEYS = frozenset({20, *range(30, 50)})
_LOGIN = range(60, 80)
# Answers to the controller's packets, and ends of channels: asyncssh cuts a connection that sends too many.
# Data and windows of a channel may be useful, so `_count_of_channel` counts them.
_OF_OURS = frozenset({_OPEN, _ADJUST, _DATA, _EXTENDED_DATA, 92, 96, 97, 99, 100})
_WINDOW = 1024  # bytes; a normal server opens its window by more at a time

Spend = Callable[[int], None]


def count(conn: asyncssh.SSHClientConnection) -> None:
    """Cut a connection whose useless packets exceed the limit."""
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
    """Return the cost of a packet of a kind; an ordinary packet costs 1."""
    if kind in _OF_OURS:
        return 0
    return limits.PACKET_OF_KEYS if kind in _KEYS or kind in _LOGIN else 1


def _count_of_channel(channel: Any, spend: Spend) -> None:
    """Count data without a byte, and windows opened by very little or by more than was sent."""
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
