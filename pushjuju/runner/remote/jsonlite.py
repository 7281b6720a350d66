"""JSON on the C accelerators alone.

Importing the ``json`` package pulls in ``re`` and ``enum`` and costs more than everything else the program
imports together; its two C functions do all the work.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


def _make() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    try:
        from _json import encode_basestring_ascii, make_encoder, make_scanner
    except ImportError:
        import json

        return json.loads, lambda value: json.dumps(value, separators=(",", ":"))
    return _fast(encode_basestring_ascii, make_encoder, make_scanner)


def _fast(
    escape: Any, make_encoder: Any, make_scanner: Any
) -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    class Settings:
        strict = False
        object_hook = None
        object_pairs_hook = None
        parse_float = float
        parse_int = int
        parse_constant = float
        memo: dict[str, str] = {}

    def refuse(value: object) -> Any:
        raise TypeError("not a JSON value: %r" % type(value))

    scan = make_scanner(Settings)
    encode = make_encoder(None, refuse, escape, None, ":", ",", False, False, True)

    def loads(text: str) -> Any:
        text = text.strip()
        try:
            value, end = scan(text, 0)
        except StopIteration as stop:
            raise ValueError("not JSON: character %s" % stop.value) from None
        if end != len(text):
            raise ValueError("not JSON: extra data at character %d" % end)
        return value

    return loads, lambda value: "".join(encode(value, 0))


loads, dumps = _make()
