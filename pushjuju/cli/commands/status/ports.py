"""Open ports as the text of a cell. Pure. Mirrors: juju cmd/juju/status/output_tabular.go (3.6.23)"""

from __future__ import annotations

from collections.abc import Iterable


def ports_text(ports: Iterable[str]) -> str:
    """Return `80,443,8080-8081/tcp 161/udp` for single ports and ranges.

    Adjacent single ports join into a range; ranges that a charm opened stay.

    Args:
        ports: Texts such as `80/tcp`, `1000-1010/udp`, `icmp`.
    """
    by_protocol: dict[str, set[str]] = {}
    for text in ports:
        number, slash, protocol = text.partition("/")
        by_protocol.setdefault(protocol if slash else number, set()).update([number] if slash else [])
    groups = (
        f"{','.join(_joined(numbers))}/{protocol}" if numbers else protocol
        for protocol, numbers in sorted(by_protocol.items())
    )
    return " ".join(groups)


def _joined(numbers: Iterable[str]) -> list[str]:
    """Return the ports in order, with adjacent single ports joined."""
    found: list[str] = []
    run: list[int] = []
    for text in sorted(numbers, key=lambda text: (len(text), text)):
        if run and (not text.isdigit() or int(text) != run[-1] + 1):
            found.append(_run_text(run))
            run = []
        if text.isdigit():
            run.append(int(text))
        else:
            found.append(text)
    return [*found, _run_text(run)] if run else found


def _run_text(run: list[int]) -> str:
    return str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}"
