"""The changes that forms may ask for: the access that each needs, its command line, and what it does.

What names a file of this computer, or runs a shell command, is not among them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import yaml

from pushjuju.charms.format import yamlsafe
from pushjuju.core.errors import NotValid
from pushjuju.core.names import is_user
from pushjuju.core.storage import is_storage
from pushjuju.core.values import dataclass
from pushjuju.portable.names import is_application, is_unit
from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.users import LEVELS, Kind
from pushjuju.services.requests import removals
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.application import expose, refresh, settings, unit_requests
from pushjuju.services.requests.model import destroy_model
from pushjuju.services.requests.relation import integrate
from pushjuju.services.requests.storage import storage_requests
from pushjuju.services.requests.user import users
from pushjuju.store.rows.model import Model
from pushjuju.web.registry import Needs

Fields = Mapping[str, str]

_MOST_DIGITS = 6
OPTION, WAS, RESET, PARAMETER, TEXT = "option.", "was.", "reset.", "param.", "text."
"""What the names of fields begin with.

An option's new text, its text before, and its reset; a parameter of an action, and the mark of a parameter
that is a string by its schema.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of a model."""

    words: Callable[[Fields], list[str]]  # returns the words of the command line that does the same
    act: Callable[[Context, Model, Fields], Any]  # makes the change with the rights of the context's user
    needs: Needs = Needs.WRITE
    blocked_by: str = blocks.CHANGE  # the set of disabled commands that forbids the change (`blocks.SETS`)
    in_model: bool = True  # False when the command names the model itself, and takes no `-m`
    has_plan: bool = True  # False for a small change, which is made at once
    # returns what the planned command reads from its standard input in place of its last words, so that the
    # values of a form are not in the arguments of a process; None to plan `words`
    stdin: Callable[[Fields], tuple[list[str], str]] | None = None

    def line(self, fields: Fields) -> tuple[str, str]:
        """Return what a person types before the program, if anything, and the words after program and model.

        A value that begins with `@` would name a file in the words of `config`, and comes through a pipe.
        """
        words = self.words(fields)
        if self.stdin is None or not any(word.partition("=")[2].startswith("@") for word in words):
            return "", shlex.join(words)
        words, text = self.stdin(fields)
        return f"printf %s {shlex.quote(text)} | ", shlex.join(words)

    def planned(self, fields: Fields) -> tuple[list[str], str]:
        """Return the words to plan, and the text of their standard input."""
        return self.stdin(fields) if self.stdin is not None else (self.words(fields), "")


# --- fields -----------------------------------------------------------------------------------------------


def _application(fields: Fields) -> str:
    name = fields.get("application", "")
    if not is_application(name):
        raise NotValid(f'"{name}" is not the name of an application')
    return name


def _unit(fields: Fields) -> str:
    name = fields.get("unit", "")
    if not is_unit(name):
        raise NotValid(f'"{name}" is not the name of a unit')
    return name


def _number(fields: Fields, name: str, least: int) -> int:
    text = fields.get(name, "").strip()
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS and int(text) >= least):
        raise NotValid(f'{name} is a whole number from {least}, not "{text}"')
    return int(text)


def _word(fields: Fields, name: str) -> str:
    """Return a word that no command takes for a flag."""
    text = fields.get(name, "").strip()
    if not text or text.startswith("-") or not text.isprintable() or " " in text:
        raise NotValid(f'{name} is one word, not "{text}"')
    return text


def _typed(fields: Fields, name: str) -> str:
    """Return the name of what is removed; the person has typed the name, too."""
    if fields.get("typed", "").strip() != name:
        raise NotValid(f"nothing was removed: type the name {name} to confirm the removal")
    return name


def _starting(fields: Fields, start: str) -> dict[str, str]:
    return {name.removeprefix(start): text for name, text in fields.items() if name.startswith(start)}


# --- settings ---------------------------------------------------------------------------------------------


def _reset(fields: Fields) -> list[str]:
    return sorted(_starting(fields, RESET))


def _settings(fields: Fields) -> dict[str, str]:
    """Return option -> new text of the options that the person has changed in the form."""
    before, resets = _starting(fields, WAS), _reset(fields)
    found = _starting(fields, OPTION)
    changed = {
        name: text for name, text in found.items() if name not in resets and text != before.get(name, "")
    }
    if not (changed or resets):
        raise NotValid("nothing was changed in the form")
    return changed


def _of_reset(fields: Fields) -> list[str]:
    return ["--reset", ",".join(_reset(fields))] if _reset(fields) else []


def _config_words(fields: Fields) -> list[str]:
    values = [f"{name}={text}" for name, text in _settings(fields).items()]
    return ["config", _application(fields), *values, *_of_reset(fields)]


def _config_stdin(fields: Fields) -> tuple[list[str], str]:
    name, values = _application(fields), _settings(fields)
    file = ["--file", "-"] if values else []
    return ["config", name, *file, *_of_reset(fields)], _on_one_line({name: values}, quote='"')


def _on_one_line(document: Mapping[str, Any], quote: str = "") -> str:
    text = yaml.safe_dump(
        document, default_flow_style=True, default_style=quote, width=float("inf"), allow_unicode=True
    )
    return text.rstrip("\n")


def _set_config(ctx: Context, model: Model, fields: Fields) -> None:
    options = settings.ConfigOptions(
        application=_application(fields), values=_settings(fields), reset=_reset(fields)
    )
    settings.set_config(ctx, model.uuid, options)


# --- applications, units, relations -----------------------------------------------------------------------


def _add_units(ctx: Context, model: Model, fields: Fields) -> None:
    options = unit_requests.AddUnitsOptions(
        application=_application(fields), num_units=_number(fields, "units", 1)
    )
    unit_requests.add_units(ctx, model.uuid, options)


def _remove_application(ctx: Context, model: Model, fields: Fields) -> None:
    removals.remove_applications(ctx, model.uuid, [_typed(fields, _application(fields))])


def _remove_unit(ctx: Context, model: Model, fields: Fields) -> None:
    removals.remove_units(ctx, model.uuid, [_typed(fields, _unit(fields))])


def _side(fields: Fields, field: str) -> str:
    """Return a side of a relation within the model: a plan would tell which offers other models have."""
    text = _word(fields, field)
    if not is_application(text.partition(":")[0]):
        raise NotValid(f'"{text}" is not an application of this model, with or without :endpoint')
    return text


def _pair(fields: Fields) -> tuple[str, str]:
    return _side(fields, "endpoint"), _side(fields, "other")


def _refresh_words(fields: Fields) -> list[str]:
    revision = ["--revision", str(_number(fields, "revision", 0))] if fields.get("revision") else []
    channel = ["--channel", _word(fields, "channel")] if fields.get("channel") else []
    return ["refresh", _application(fields), *revision, *channel]


def _refresh(ctx: Context, model: Model, fields: Fields) -> None:
    options = refresh.RefreshOptions(
        application=_application(fields),
        revision=_number(fields, "revision", 0) if fields.get("revision") else -1,
        channel=_word(fields, "channel") if fields.get("channel") else "",
    )
    refresh.refresh(ctx, model.uuid, options)


def _trust_words(fields: Fields) -> list[str]:
    return ["trust", _application(fields), *(["--remove"] if "remove" in fields else [])]


def _trust(ctx: Context, model: Model, fields: Fields) -> None:
    settings.set_trust(ctx, model.uuid, _application(fields), trusted="remove" not in fields)


def _resolve(ctx: Context, model: Model, fields: Fields) -> None:
    unit_requests.resolve(ctx, model.uuid, [_unit(fields)], retry="skip" not in fields)


# --- storage ----------------------------------------------------------------------------------------------


def _storage(fields: Fields) -> str:
    name = fields.get("storage", "")
    if not is_storage(name):
        raise NotValid(f'"{name}" is not the name of storage, such as data/0')
    return name


def _require_done(answers: Iterable[storage_requests.Answer]) -> None:
    for answer in answers:
        if answer.error is not None:
            raise answer.error


def _attach(ctx: Context, model: Model, fields: Fields) -> None:
    _require_done(storage_requests.attach(ctx, model.uuid, _unit(fields), [_storage(fields)]))


def _detach(ctx: Context, model: Model, fields: Fields) -> None:
    _require_done(storage_requests.detach(ctx, model.uuid, [_storage(fields)]))


# --- actions ----------------------------------------------------------------------------------------------


def _receiver(fields: Fields) -> str:
    name = fields.get("unit", "")
    return name if name.endswith("/leader") and is_application(name[: -len("/leader")]) else _unit(fields)


def parameters(fields: Fields) -> dict[str, Any]:
    """Return the parameters of an action; an empty field stands for the default."""
    texts = _starting(fields, TEXT)
    return {
        name: text if name in texts else yamlsafe.load(text)
        for name, text in _starting(fields, PARAMETER).items()
        if text != ""
    }


def _run_words(fields: Fields) -> list[str]:
    texts, given = _starting(fields, TEXT), list[str]()
    for name, text in _starting(fields, PARAMETER).items():
        is_other = name in texts and not _is_text(text)  # `1` and `on`, which the command reads as YAML
        given += [f"{name}={json.dumps(text) if is_other else text}"] if text != "" else []
    return ["run", _receiver(fields), _word(fields, "action"), *given]


def _is_text(text: str) -> bool:
    """Return True for a text that YAML reads as it stands."""
    try:
        return bool(yamlsafe.load(text) == text)
    except NotValid:
        return False


def _run_stdin(fields: Fields) -> tuple[list[str], str]:
    words = ["run", _receiver(fields), _word(fields, "action"), "--params", "-"]
    return words, _on_one_line(parameters(fields))


def _run(ctx: Context, model: Model, fields: Fields) -> None:
    request = operations.ActionRequest(
        action=_word(fields, "action"), receivers=[_receiver(fields)], parameters=parameters(fields)
    )
    queued = operations.enqueue(ctx, model.uuid, request)
    if queued.errors:
        raise NotValid(queued.errors[0])


def _cancel(ctx: Context, model: Model, fields: Fields) -> None:
    operations.cancel(ctx, model.uuid, [_number(fields, "task", 1)])


# --- models -----------------------------------------------------------------------------------------------


def _shared(fields: Fields) -> users.AccessOptions:
    user, level = fields.get("user", "").strip(), fields.get("level", "")
    if not is_user(user):
        raise NotValid(f'"{user}" is not the name of a user')
    if level not in LEVELS[Kind.MODEL]:
        raise NotValid(f'access to a model is {", ".join(LEVELS[Kind.MODEL])}, not "{level}"')
    return users.AccessOptions(user=user, level=level, kind=Kind.MODEL, names=[fields["model"]])


def _of_access(word: str, act: Callable[[Context, users.AccessOptions], None]) -> Change:
    """Return a change of who may do what in the model; administrators of the model make it."""

    def words(fields: Fields) -> list[str]:
        options = _shared(fields)
        return [word, options.user, options.level, *options.names]

    return Change(
        words=words, act=lambda ctx, _model, fields: act(ctx, _shared(fields)), needs=Needs.ADMIN,
        in_model=False, has_plan=False,
    )  # fmt: skip


def _destroy_words(fields: Fields) -> list[str]:
    _typed(fields, fields["model"].rpartition("/")[2])
    return ["destroy-model", "--no-prompt", fields["model"]]


def _destroy_model(ctx: Context, model: Model, fields: Fields) -> None:
    _destroy_words(fields)
    destroy_model.destroy_models(ctx, [model], None, destroy_storage=None)


def _of_application(word: str) -> Callable[[Fields], list[str]]:
    return lambda fields: [word, _application(fields)]


def _of_relation(word: str) -> Callable[[Fields], list[str]]:
    return lambda fields: [word, *_pair(fields)]


def _of_resolved(fields: Fields) -> list[str]:
    return ["resolved", *(["--no-retry"] if "skip" in fields else []), _unit(fields)]


CHANGES: Mapping[str, Change] = {
    "config": Change(words=_config_words, stdin=_config_stdin, act=_set_config),
    "add-unit": Change(
        words=lambda fields: ["add-unit", _application(fields), "-n", str(_number(fields, "units", 1))],
        act=_add_units,
    ),
    "remove-unit": Change(
        words=lambda fields: ["remove-unit", "--no-prompt", _typed(fields, _unit(fields))],
        act=_remove_unit,
        blocked_by=blocks.REMOVE,
    ),
    "remove-application": Change(
        words=lambda fields: ["remove-application", "--no-prompt", _typed(fields, _application(fields))],
        act=_remove_application,
        blocked_by=blocks.REMOVE,
    ),
    "expose": Change(
        words=_of_application("expose"),
        act=lambda ctx, model, fields: expose.expose(
            ctx, model.uuid, expose.ExposeOptions(application=_application(fields))
        ),
    ),
    "unexpose": Change(
        words=_of_application("unexpose"),
        act=lambda ctx, model, fields: expose.unexpose(ctx, model.uuid, _application(fields)),
    ),
    "integrate": Change(
        words=_of_relation("integrate"),
        act=lambda ctx, model, fields: integrate.integrate(ctx, model.uuid, *_pair(fields)),
    ),
    "remove-relation": Change(
        words=_of_relation("remove-relation"),
        act=lambda ctx, model, fields: integrate.remove_relation(ctx, model.uuid, _pair(fields)),
        blocked_by=blocks.REMOVE,
    ),
    "refresh": Change(words=_refresh_words, act=_refresh),
    "trust": Change(words=_trust_words, act=_trust),
    "grant": _of_access("grant", users.grant),
    "revoke": _of_access("revoke", users.revoke),
    "attach-storage": Change(
        words=lambda fields: ["attach-storage", _unit(fields), _storage(fields)], act=_attach
    ),
    "detach-storage": Change(
        words=lambda fields: ["detach-storage", _storage(fields)], act=_detach, blocked_by=blocks.REMOVE
    ),
    "resolved": Change(words=_of_resolved, act=_resolve, has_plan=False),
    "run": Change(words=_run_words, stdin=_run_stdin, act=_run),
    "cancel-task": Change(
        words=lambda fields: ["cancel-task", str(_number(fields, "task", 1))], act=_cancel, has_plan=False
    ),
    "destroy-model": Change(
        words=_destroy_words, in_model=False, act=_destroy_model, needs=Needs.ADMIN, blocked_by=blocks.DESTROY
    ),
}
