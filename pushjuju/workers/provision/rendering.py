"""Renders the templates of user data with jinja2."""

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
    """Return a rendered template; templates in `overrides` win over those of the package.

    Raises:
        NotValid: The template cannot be rendered.
    """
    try:
        return _environment(overrides).get_template(name).render(values)
    except TemplateError as error:
        raise NotValid(str(error)) from None


@cache
def _environment(overrides: Path) -> Environment:
    # Values go through `tojson`, which is valid YAML; nothing becomes HTML. Without a cache, a template that
    # a user puts into the data directory counts for the next machine.
    return SandboxedEnvironment(
        loader=FileSystemLoader([overrides, _TEMPLATES]),
        undefined=StrictUndefined,
        autoescape=False,
        cache_size=0,
    )
