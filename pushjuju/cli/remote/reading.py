"""Commands that only read a model of another computer: they run in the process of its controller."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from pushjuju.cli.remote.call import Call
from pushjuju.cli.syntax.gnuflag import FlagSpec
from pushjuju.client import terminal
from pushjuju.client.target import ModelHere
from pushjuju.portable.flags import dashed

_ALONE = "show-model"  # its argument is the model of the terminal
_HERE = frozenset(["model", "output", "color", "no_color"])  # keys of flags that count on this computer


def read(call: Call) -> None:
    """Print what the command prints on the host of the controller."""
    arguments = () if call.command.name == _ALONE else call.args
    line = shlex.join([str(call.command.name), *_flags(call), "--", *arguments])

    def act(model: ModelHere) -> terminal.Printed:
        with terminal.Terminal(call.target.account, model.uuid) as opened:
            return opened.type(line)

    printed = call.target.using(act)
    for text in printed.err:
        call.cli.console.info(text)
    if printed.out:
        call.cli.output.text(printed.out)
    if printed.error is not None:
        raise printed.error


def _flags(call: Call) -> Iterator[str]:
    """Yield the flags of the command line that count on the other computer."""
    known = {spec.key: spec for spec in call.command.specs}
    for key in sorted(call.cli.given & known.keys() - _HERE):
        for text in _texts(call.values[key]):
            yield from _words(known[key], text)
    if "no_color" in known and call.cli.output.colour:
        yield "--color"


def _words(spec: FlagSpec, text: str) -> tuple[str, ...]:
    name = dashed(spec.name)
    return (f"{name}={text}",) if len(spec.name) > 1 else (name, text)


def _texts(value: Any) -> list[str]:
    """Return the texts from which a flag's value is read."""
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, Mapping):
        return [f"{key}={item}" for key, item in value.items()]
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]
