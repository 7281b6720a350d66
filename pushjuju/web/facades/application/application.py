"""Application: the applications of a model. Mirrors: juju apiserver/facades/client/application (3.6)"""

from __future__ import annotations

from pushjuju.web import errors
from pushjuju.web.facades.application.application_consume import Consuming
from pushjuju.web.facades.application.application_deploy import Deploying
from pushjuju.web.facades.application.application_documents import Showing
from pushjuju.web.facades.application.application_settings import Settings
from pushjuju.web.facades.application.application_storage import Storing
from pushjuju.web.registry import Needs, facade, method
from pushjuju.web.shapes import applications as shapes


@facade("Application")
class Application(Deploying, Settings, Consuming, Storing, Showing):
    """The applications of the model."""

    @method(Needs.WRITE)
    def scale_applications(self, params: shapes.ScaleApplications) -> None:
        """Refuse: machines have units, not a scale."""
        del params
        raise errors.not_supported("scaling IAAS applications not supported")
