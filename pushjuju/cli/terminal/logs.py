"""The client's own log: `--debug`, `--show-log`, `--log-file`, `--logging-config`.

Nothing is imported or set up unless one of these is used. Mirrors: juju/cmd logging.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from pushjuju.core.errors import NotValid
from pushjuju.portable.loglevels import parse_levels

_NOT_PYTHONS = {"UNSPECIFIED": 0, "TRACE": 5}
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(filename)s:%(lineno)d %(message)s"


def configure(values: Mapping[str, Any], env: Mapping[str, str], stderr: TextIO) -> None:
    """Set the log up as the global flags say.

    Raises:
        NotValid: The text of `--logging-config` cannot be read.
    """
    debug, show, path = values["debug"], values["show_log"] or values["debug"], values["log_file"]
    spec = values["logging_config"] or env.get("JUJU_LOGGING_CONFIG", "")
    try:
        levels = parse_levels(spec)
    except ValueError as error:
        raise NotValid(str(error)) from None
    if not (show or path):
        return
    import logging
    import time

    formatter = logging.Formatter(_FORMAT, "%H:%M:%S")
    formatter.converter = time.gmtime
    handlers: list[logging.Handler] = [logging.StreamHandler(stderr)] if show else []
    handlers += [logging.FileHandler(path, encoding="utf-8")] if path else []
    for handler in handlers:
        handler.setFormatter(formatter)
        logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG if debug else logging.INFO)
    for name, level in levels.items():
        logging.getLogger(name or None).setLevel(_NOT_PYTHONS.get(level, level))
