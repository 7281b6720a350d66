"""Finds the base of an application or a machine of a bundle. Pure."""

from __future__ import annotations

from pushjuju.core.base import Base
from pushjuju.services.bundles.read.values import Application, Bundle, Machine


def machine_base(bundle: Bundle, machine: Machine) -> str:
    """Return the base that a bundle gives a machine, `os@track/risk`, or an empty text."""
    return _first_base(machine.base, machine.series, bundle.default_base, bundle.series)


def application_base(bundle: Bundle, app: Application) -> str:
    """Return the base that a bundle gives an application, `os@track/risk`, or an empty text."""
    return _first_base(app.base, app.series, bundle.default_base, bundle.series)


def _first_base(base: str, series: str, default_base: str, default_series: str) -> str:
    for text, old in ((base, series), (default_base, default_series)):
        if text:
            return str(Base.parse(text))
        if old:
            return str(Base.from_series(old))
    return ""
