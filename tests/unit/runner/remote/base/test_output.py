"""Output of hooks and commands within its limits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pushjuju.runner.remote.base import output


def collect(pieces: list[bytes], limit: int = output.EVENT_LIMIT) -> tuple[list[bytes], list[int]]:
    """Feed pieces; return the lines and what was told to be left out."""
    found: list[bytes] = []
    left_out: list[int] = []
    stream = output.LineStream(found.append, output.Budget(limit))
    for piece in pieces:
        stream.feed(piece)
    stream.close(left_out.append)
    return found, left_out


def cut(data: bytes) -> list[bytes]:
    """Return what the lines of some output must be."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    size = output.LINE_LIMIT
    return [line[at : at + size] for line in lines for at in range(0, max(len(line), 1), size)]


@given(st.lists(st.binary(max_size=9000) | st.sampled_from([b"\n", b"a\nb", b"x" * 5000]), max_size=8))
def test_lines_do_not_depend_on_the_pieces(pieces: list[bytes]) -> None:
    assert collect(pieces) == (cut(b"".join(pieces)), [])


@given(st.integers(min_value=0, max_value=400), st.integers(min_value=1, max_value=3000))
def test_beyond_the_limit_the_end_is_kept_and_the_rest_counted(count: int, width: int) -> None:
    pieces = [b"%06d" % number + b"." * width + b"\n" for number in range(count)]
    data = b"".join(pieces)
    found, left_out = collect(pieces, limit=100_000)
    assert sum(len(line) for line in found) <= 100_000 + output.TAIL + 2 * output.LINE_LIMIT
    assert sum(len(line) + 1 for line in found) + sum(left_out) == len(data)
    if pieces:
        assert found[-1] == cut(pieces[-1])[-1]
        assert found[0] == cut(pieces[0])[0]


@given(st.integers(min_value=300, max_value=700), st.integers(min_value=1, max_value=9), st.booleans())
def test_beyond_the_limit_nothing_is_told_twice(count: int, size: int, ended: bool) -> None:
    """However many lines arrive at once, and whether or not the last one is ended."""
    data = b"\n".join(b"%06d" % number + b"." * 300 for number in range(count)) + b"\n" * ended
    step = len(data) // size
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    found, left_out = collect(pieces, limit=100_000)
    numbers = [int(line[:6]) for line in found]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 0
    assert numbers[-1] == count - 1
    assert sum(len(line) + 1 for line in found) + sum(left_out) == len(data) + (not ended)


def test_the_budget_is_shared_by_both_streams() -> None:
    budget = output.Budget(1000)
    found: list[bytes] = []
    streams = [output.LineStream(found.append, budget) for _ in range(2)]
    for _ in range(100):
        for stream in streams:
            stream.feed(b"x" * 99 + b"\n")
    assert sum(map(len, found)) < 1200


@given(st.lists(st.binary(max_size=3000), max_size=20), st.integers(min_value=0, max_value=5000))
def test_capture_keeps_beginning_and_end(pieces: list[bytes], limit: int) -> None:
    capture = output.Capture(limit)
    for piece in pieces:
        capture.feed(piece)
    data = b"".join(pieces)
    value = capture.value()
    if len(data) <= limit + output.TAIL:
        assert value == data
    else:
        assert value.startswith(data[:limit])
        assert value.endswith(data[-output.TAIL :])
        assert b"%d bytes of output left out" % (len(data) - limit - output.TAIL) in value


def test_text_and_what_is_not_text() -> None:
    assert output.as_text("å".encode()) == ("å", "")
    assert output.as_text(b"\xff") == ("/w==", "base64")
