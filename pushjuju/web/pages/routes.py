"""The pages of the dashboard: their addresses, templates and what reads them."""

from __future__ import annotations

from pushjuju.web.pages import activity, controllers, entities, listings, operations, overview, topology
from pushjuju.web.pages.changing import forms, typed
from pushjuju.web.pages.visit import Page

PAGES = (
    Page(path="/", template="models.html", read=overview.all_models, writes=True),
    Page(path="/m/{owner}/{model}/", template="model.html", read=overview.model),
    Page(path="/m/{owner}/{model}/topology", template="topology.html", read=topology.topology),
    Page(path="/m/{owner}/{model}/units", template="units.html", read=overview.units),
    Page(path="/m/{owner}/{model}/machines", template="machines.html", read=overview.machines),
    Page(path="/m/{owner}/{model}/timeline", template="timeline.html", read=activity.timeline, writes=True),
    Page(path="/m/{owner}/{model}/operations", template="operations.html", read=operations.operations),
    Page(path="/m/{owner}/{model}/operation/{id}", template="operation.html", read=operations.operation),
    Page(path="/m/{owner}/{model}/actions", template="listing.html", read=operations.charm_actions),
    Page(path="/m/{owner}/{model}/task/{id}", template="task.html", read=operations.task),
    Page(path="/m/{owner}/{model}/log", template="log.html", read=activity.log, writes=True),
    Page(path="/m/{owner}/{model}/relations", template="listing.html", read=listings.relations),
    Page(path="/m/{owner}/{model}/relation/{id}", template="relation.html", read=listings.relation),
    Page(path="/m/{owner}/{model}/storage", template="storage.html", read=listings.storage),
    Page(path="/m/{owner}/{model}/resources", template="resources.html", read=listings.resources),
    Page(path="/m/{owner}/{model}/secrets", template="listing.html", read=listings.secrets),
    Page(path="/m/{owner}/{model}/offers", template="listing.html", read=listings.offers),
    Page(path="/m/{owner}/{model}/access", template="access.html", read=listings.access),
    Page(path="/m/{owner}/{model}/settings", template="listing.html", read=listings.settings),
    Page(path="/m/{owner}/{model}/history", template="listing.html", read=listings.history),
    Page(path="/controller", template="listing.html", read=controllers.controller),
    Page(path="/m/{owner}/{model}/a/{name}/config", template="config.html", read=forms.config),
    Page(path="/m/{owner}/{model}/a/{name}/actions", template="actions.html", read=forms.charm_actions),
    Page(path="/m/{owner}/{model}/a/{name}", template="application.html", read=entities.application),
    Page(path="/m/{owner}/{model}/u/{name}/{number}", template="unit.html", read=entities.unit, writes=True),
    Page(path="/m/{owner}/{model}/machine/{name:.+}", template="machine.html", read=entities.machine),
    Page(path="/m/{owner}/{model}/op/{id}", template="run.html", read=activity.run, writes=True),
    Page(path="/m/{owner}/{model}/plan", template="typed.html", read=typed.page),
)
