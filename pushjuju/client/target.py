"""The controller on another computer that a command line names, and its model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pushjuju.client import accounts
from pushjuju.client.accounts import Account
from pushjuju.client.connection import Connection, LoginDenied, ModelGone
from pushjuju.core.errors import NotFound, PushjujuError
from pushjuju.core.problems import Subject
from pushjuju.services.entities.model import models as model_service
from pushjuju.store.datadir import DataDir

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHere:
    """A model of the controller."""

    name: str
    owner: str
    uuid: str

    @property
    def qualified(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A controller on another computer and a model of it."""

    folder: DataDir
    account: Account
    wanted: str = ""  # the model that the command line names, or empty for the current model

    @classmethod
    def find(cls, folder: DataDir, name: str, wanted: str = "") -> Target:
        """Return the target of a command line."""
        return cls(folder=folder, account=accounts.find(folder, name), wanted=wanted)

    def controller(self) -> Connection:
        """Return a connection to the controller, to be used as a context manager."""
        return Connection(self.account)

    @contextmanager
    def opened(self) -> Iterator[tuple[Connection, ModelHere]]:
        """Connect to the model; raise NotFound when there is no such model, or no current one."""
        connection, model = self.using(
            lambda found: (Connection(self.account, found.uuid).__enter__(), found)
        )
        with closing(connection):
            yield connection, model

    def using(self, act: Callable[[ModelHere], T]) -> T:
        """Return what a function makes of the model, whose UUID is remembered from the last use.

        Args:
            act: Connects to the model before it does anything else. The function is called a second time
                when the model was made anew with another UUID. The controller refuses the old one then, like
                a model without access.
        """
        owner, name = self._named(self.wanted)
        refused: PushjujuError | None = None
        if known := self.account.models.get(f"{owner}/{name}"):
            try:
                return act(ModelHere(name=name, owner=owner, uuid=known))
            except (LoginDenied, ModelGone) as error:
                refused = error
        with self.controller() as controller:
            model = self.resolve(controller, self.wanted)
        if refused is not None and model.uuid == known:
            raise refused
        accounts.remember(self.folder, self.account.name, model.qualified, model.uuid)
        return act(model)

    def _named(self, wanted: str) -> tuple[str, str]:
        """Return owner and name of a model; of the current model for an empty text."""
        owner, _, name = (wanted or self.account.current_model).rpartition("/")
        return owner or self.account.user, name

    def resolve(self, controller: Connection, wanted: str) -> ModelHere:
        """Return a model by `model`, `owner/model`, or its UUID; the current model for an empty text."""
        wanted = wanted or self.account.current_model
        if not wanted:
            raise model_service.no_model()
        owner, name = self._named(wanted)
        for item in models(controller):
            if item.uuid == wanted or (item.name, item.owner) == (name, owner):
                return item
        raise NotFound(
            f"model {self.account.name}:{wanted if '/' in wanted else f'{owner}/{wanted}'} not found",
            hint=f"pushjuju models -c {self.account.name}    lists the models",
            subject=Subject("model", wanted),
        )

    def focus(self, model: str) -> None:
        """Make a model the current model of the controller; an empty text means no model."""
        accounts.save(self.folder, replace(self.account, current_model=model))


def models(controller: Connection) -> list[ModelHere]:
    """Return the models that the user may see."""
    return [
        ModelHere(name=item["name"], owner=item["owner-tag"].removeprefix("user-"), uuid=item["uuid"])
        for item in summaries(controller, f"user-{controller.account.user}")
    ]


def summaries(controller: Connection, tag: str, *, every: bool = False) -> list[dict[str, Any]]:
    """Return the summaries of the models that a user may see, or of all models."""
    params = {"user-tag": tag, "all": every}
    return [item["result"] for item in controller.each("ModelManager", "ListModelSummaries", params)]
