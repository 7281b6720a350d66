"""Secrets: the user secrets of the model. Mirrors: juju apiserver/facades/client/secrets (3.6)"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.model.secrets import Content
from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.secret.secrets import Change
from pushjuju.services.requests.secret import user_secrets
from pushjuju.services.views.listings import user_secrets as listing
from pushjuju.web import times
from pushjuju.web.call import each, reach
from pushjuju.web.errors import ErrorResults
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes.common import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentParams:
    """Keys with values in base64."""

    data: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSecret:
    content: ContentParams = field(default_factory=ContentParams)
    description: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateSecret:
    """Changes of a secret, which the client names by URI or label."""

    uri: str = ""
    existing_label: str = ""
    label: str | None = None
    description: str | None = None
    content: ContentParams = field(default_factory=ContentParams)
    auto_prune: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSecret:
    """A secret to remove, or some of its revisions."""

    uri: str = ""
    label: str = ""
    revisions: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantSecret:
    """Applications that may read a secret."""

    uri: str = ""
    label: str = ""
    applications: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which secrets to list."""

    uri: str | None = None
    label: str | None = None
    revision: int | None = None
    owner_tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSecrets:
    """A filter of secrets to list, and whether to show their content."""

    show_secrets: bool = False
    filter: Filter = field(default_factory=Filter)


def _content(params: ContentParams) -> Content | None:
    """Return the content that a client sends, or None for no content; errors never quote the content."""
    try:
        for value in params.data.values():
            base64.b64decode(value, validate=True)
    except ValueError:
        raise NotValid("the content of a secret is not valid base64") from None
    return Content(params.data) if params.data else None


@facade("Secrets")
class Secrets(Facade):
    """The secrets of the model."""

    @method(Needs.READ)
    def list_secrets(self, params: ListSecrets) -> Results:
        """Return secrets; only administrators of the model get the content."""
        if params.show_secrets:
            reach(self.ctx, self.model, "admin")
        chosen = params.filter
        named = chosen.uri or chosen.label
        known = listing.documents(self.ctx, self.model)
        if named:
            try:
                wanted = next(iter(listing.show(self.ctx, self.model, named)))
            except NotFound:
                return {"results": []}
            known = {wanted: known[wanted]}
        return {"results": [self._listed(name, params) for name in known]}

    def _listed(self, name: str, params: ListSecrets) -> dict[str, object]:
        number = params.filter.revision or 0
        shown = listing.show(
            self.ctx, self.model, name, reveal=params.show_secrets, every=True, number=number
        )
        return _document(self.model, name, shown[name])

    @bulk("args", Needs.WRITE, since=2, blocked_by=blocks.CHANGE)
    def create_secrets(self, item: CreateSecret) -> dict[str, object]:
        content = _content(item.content)
        if content is None:
            raise NotValid("empty secret value")
        return {"result": user_secrets.add(self.ctx, self.model, item.label, content, item.description)}

    @bulk("args", Needs.WRITE, since=2, blocked_by=blocks.CHANGE)
    def update_secrets(self, item: UpdateSecret) -> None:
        change = Change(
            content=_content(item.content),
            label=item.label,
            description=item.description,
            auto_prune=item.auto_prune,
        )
        user_secrets.update(self.ctx, self.model, item.uri or item.existing_label, change)

    @bulk("args", Needs.WRITE, since=2, blocked_by=blocks.REMOVE)
    def remove_secrets(self, item: DeleteSecret) -> None:
        """Remove secrets, or revisions of them."""
        for number in item.revisions or (None,):
            user_secrets.remove(self.ctx, self.model, item.uri or item.label, number)

    @method(Needs.WRITE, since=2, blocked_by=blocks.CHANGE)
    def grant_secret(self, params: GrantSecret) -> ErrorResults:
        """Let applications read a secret."""
        return self._each_application(user_secrets.grant, params)

    @method(Needs.WRITE, since=2, blocked_by=blocks.CHANGE)
    def revoke_secret(self, params: GrantSecret) -> ErrorResults:
        """Revoke grants; an application that does not exist is ignored."""
        return self._each_application(user_secrets.revoke, params, missing_ok=True)

    def _each_application(
        self, act: Callable[..., None], params: GrantSecret, *, missing_ok: bool = False
    ) -> ErrorResults:
        which = params.uri or params.label
        user_secrets.require(self.ctx, self.model, which)

        def one(name: str) -> None:
            try:
                act(self.ctx, self.model, which, [name])
            except NotFound:
                if not missing_ok:
                    raise

        return {"results": [each(one, name) for name in params.applications]}


def _time(moment: datetime | None) -> str | None:
    return times.text(moment) if moment else None


def _document(model: str, name: str, shown: dict[str, Any]) -> dict[str, object]:
    owner = shown["owner"]
    kind = f"model-{model}" if owner == "<model>" else _owner(owner)
    found: dict[str, object] = {
        "uri": f"secret:{name}",
        "version": 1,
        "owner-tag": kind,
        "rotate-policy": shown.get("rotation", "never"),
        "latest-revision": shown["revision"],
        "latest-revision-checksum": shown.get("checksum", ""),
        "label": shown.get("name") or shown.get("label", ""),
        "description": shown.get("description", ""),
        "create-time": _time(shown.get("created")),
        "update-time": _time(shown.get("updated")),
        "revisions": [_revision(item) for item in shown.get("revisions", ())],
        "access": [_access(item) for item in shown.get("access", ())],
    }
    if "rotates" in shown:
        found["next-rotate-time"] = _time(shown["rotates"])
    if "content" in shown:
        found["value"] = {"data": {key: _encoded(text) for key, text in shown["content"].items()}}
    return found


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()


def _owner(name: str) -> str:
    return f"unit-{name.replace('/', '-')}" if "/" in name else f"application-{name}"


def _access(item: dict[str, str]) -> dict[str, str]:
    return {"target-tag": item["target"], "scope-tag": item["scope"], "role": item["role"]}


def _revision(item: dict[str, Any]) -> dict[str, object]:
    return {
        "revision": item["revision"],
        "backend-name": item.get("backend", ""),
        "create-time": _time(item.get("created")),
        "update-time": _time(item.get("updated")),
    }
