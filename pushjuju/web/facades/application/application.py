"""Application: the applications of a model. Mirrors: juju apiserver/facades/client/application (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.web import errors
from pushjuju.web.facades.application.application_consume import Consuming
from pushjuju.web.facades.application.application_deploy import Deploying
from pushjuju.web.facades.application.application_documents import Showing
from pushjuju.web.facades.application.application_settings import Settings
from pushjuju.web.facades.application.application_storage import Storing
from pushjuju.web.registry import Needs, facade, method


@facade("Application")
class Application(Deploying, Settings, Consuming, Storing, Showing):
    """The applications of the model."""

    @method(Needs.WRITE)
    def scale_applications(self, applications: list[Any]) -> None:
        """Refuse: machines have units, not a scale."""
        del applications
        raise errors.not_supported("scaling IAAS applications not supported")
