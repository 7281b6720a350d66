"""pushjuju: Juju for every machine that SSH reaches."""

__version__ = "0.1.0"

# What charms see as JUJU_VERSION and what `version` reports: the Juju whose behaviour is emulated.
JUJU_VERSION = "3.6.14"
