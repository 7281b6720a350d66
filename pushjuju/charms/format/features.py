"""Checks at deploy and refresh that the model offers what a charm asks for; `--force` skips the check."""

from __future__ import annotations

from pushjuju import JUJU_VERSION
from pushjuju.charms.format import assumes
from pushjuju.charms.format.extras import check_profile
from pushjuju.charms.values.model import Charm
from pushjuju.core.errors import NotValid


def check_features(charm: Charm, *, juju_version: str = JUJU_VERSION) -> None:
    """Check the LXD profile, the assumed features and the minimum Juju version of a charm.

    Args:
        charm: The charm to deploy or to refresh to.

    Raises:
        NotValid: The model does not offer what the charm asks for; the message is Juju's.
    """
    if charm.lxd_profile:
        try:
            check_profile(charm.lxd_profile)
        except NotValid as error:
            raise NotValid(f"validating lxd profile: {error.message}", detail=error.detail) from None
    assumes.check_assumes(charm.meta.assumes, assumes.model_features(juju_version))
    assumes.check_min_version(charm.meta.min_juju_version, juju_version)
