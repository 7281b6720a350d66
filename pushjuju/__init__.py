"""pushjuju: Juju for every machine that SSH reaches."""

__version__ = "0.1.0"

# The version of Juju that pushjuju emulates: charms see it as JUJU_VERSION, `version` prints it.
JUJU_VERSION = "3.6.14"
