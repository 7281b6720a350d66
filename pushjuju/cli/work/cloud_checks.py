"""What clouds say before anything is recorded: checks of the workers, loaded by `checks.of_clouds`."""

from __future__ import annotations

from pushjuju.workers.provision import checkup, precheck


class CloudChecks:
    """Each refuses what a cloud can never do."""

    machine = staticmethod(precheck.precheck)
    units = staticmethod(precheck.precheck_units)
    constraints = staticmethod(precheck.check_constraints)
    settings = staticmethod(checkup.check_settings)
