"""Templates of user data, by jinja2."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from pushjuju.core.errors import NotValid

_TEMPLATES = Path(__file__).with_name("templates")


def render(overrides: Path, name: str, values: Mapping[str, Any]) -> str:
    """Return the text that a template makes; templates of a folder win over the package's.

    Raises:
        NotValid: The template cannot be rendered.
    """
    try:
        return _environment(overrides).get_template(name).render(values)
    except TemplateError as error:
        raise NotValid(str(error)) from None


@cache
def _environment(overrides: Path) -> Environment:
    # Texts go through `tojson`, which is YAML too; nothing here becomes HTML. Nothing is kept: a template
    # that somebody puts into the data directory counts for the next machine.
    return SandboxedEnvironment(
        loader=FileSystemLoader([overrides, _TEMPLATES]),
        undefined=StrictUndefined,
        autoescape=False,
        cache_size=0,
    )
