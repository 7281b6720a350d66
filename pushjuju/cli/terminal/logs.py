"""The client's own log: `--debug`, `--show-log`, `--log-file`, `--logging-config`.

`logging` is imported only when the user gives one of these flags. Mirrors: juju/cmd logging.go (3.6)
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, TextIO

from pushjuju.core.errors import NotValid
from pushjuju.portable import loglevels

if TYPE_CHECKING:
    from logging import Handler

_NOT_PYTHONS = {"UNSPECIFIED": 0, "TRACE": 5}
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(filename)s:%(lineno)d %(message)s"


def configure(values: Mapping[str, Any], env: Mapping[str, str], stderr: TextIO) -> None:
    """Set up the log as the global flags say."""
    debug, show, path = values["debug"], values["show_log"] or values["debug"], values["log_file"]
    spec = values["logging_config"] or env.get("JUJU_LOGGING_CONFIG", "")
    try:
        levels = loglevels.parse_levels(spec) if spec else {}
    except ValueError as error:
        raise NotValid(str(error)) from None
    if not (show or path):
        return
    logging = _library()

    formatter = logging.Formatter(_FORMAT, "%H:%M:%S")
    formatter.converter = time.gmtime
    handlers: list[Handler] = [logging.StreamHandler(stderr)] if show else []
    handlers += [logging.FileHandler(path, encoding="utf-8")] if path else []
    for handler in handlers:
        handler.setFormatter(formatter)
        logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG if debug else logging.INFO)
    for name, level in levels.items():
        logging.getLogger(name or None).setLevel(_NOT_PYTHONS.get(level, level))


def error_stack(error: BaseException) -> None:
    """Log the traceback of an error."""
    _library().getLogger("pushjuju.cli").debug("error stack", exc_info=error)


def _library() -> ModuleType:
    import logging  # imported here: only a user who wants a log needs these

    return logging
