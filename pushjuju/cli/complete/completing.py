"""Completes a command line: what shells offer at each TAB.

Each TAB starts a process, so this module imports almost nothing: no click, no store, no TOML. One small SQL
statement reads names from the store. A command's own module is imported only to list its flags. An error ends
the completion without a text, because a text would disturb the prompt.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from pushjuju.cli.commands import registry
from pushjuju.cli.complete import flag_cache
from pushjuju.cli.complete.completables import (
    ARGUMENTS,
    BARE,
    FIXED,
    OF_COMMAND,
    OF_CONTROLLER,
    QUERIES,
    SWITCHES,
    VALUES,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pushjuju.cli.complete.setting_names import SettingNames

Offer = tuple[str, str]  # the text to insert, and a short description

_RELATION_KINDS = ("requires", "provides", "peers")
_RELATION_HOOKS = ("created", "joined", "changed", "departed", "broken")
_HOOKS = (
    "install", "start", "config-changed", "update-status", "upgrade-charm", "leader-elected", "stop",
    "remove", "secret-changed", "secret-rotate",
)  # fmt: skip
_PLAIN = "-_.,:/@=+%"
_MOST = 1000
_BUSY_S = 0.1


class Line:
    """A command line up to the cursor, taken apart."""

    def __init__(self, words: Sequence[str], env: Mapping[str, str]) -> None:
        """Parse all words but the last, which the user is typing."""
        self.env = env
        self.current = words[-1] if words else ""
        self.command = ""  # the command's name, aliases resolved; empty while it is not typed yet
        self.given: list[str] = []  # the arguments in front of the word to complete
        self.flag = ""  # the flag whose value is being typed; empty for none
        self.flags_over = False
        self.model = env.get("JUJU_MODEL", "")  # the value of `-m`
        self.controller = env.get("JUJU_CONTROLLER", "")  # the value of `-c`
        for word in words[:-1]:
            self._take(word)

    def _take(self, word: str) -> None:
        if self.flag:
            self._value(self.flag, word)
            self.flag = ""
        elif self.command == "plan" and (word == "--" or not word.startswith("-")):
            self.command, self.flags_over = "" if word == "--" else _alias(word), False
        elif word == "--":
            self.flags_over = True
        elif word.startswith("-") and len(word) > 1 and not self.flags_over:
            name, equals, value = word.partition("=")
            if equals:
                self._value(name, value)
            elif self.takes_value(name):
                self.flag = name
        elif not self.command:
            self.command = _alias(word)
        else:
            self.given.append(word)

    def _value(self, flag: str, value: str) -> None:
        if flag in ("-m", "--model"):
            self.model = value
        elif flag in ("-c", "--controller"):
            self.controller = value

    def takes_value(self, flag: str) -> bool:
        """Return True when a flag is followed by its value."""
        if flag in VALUES:
            return flag not in BARE.get(self.command, ())
        if flag in SWITCHES or not self.command:
            return False
        return any(flag in names and not switch for names, switch, _, _ in flags_of(self.command))


def answer(words: Sequence[str], env: Mapping[str, str]) -> tuple[str, list[Offer]]:
    """Return the directive for the shell, and what it may offer for the last word.

    Args:
        words: The words after the program's name.

    Returns:
        The directive: `files` to let the shell offer files, `nospace` to add no blank after the word, or
        `plain`; and the offers.
    """
    line = Line(words, env)
    head, kind = _kind(line)
    if kind == "file":
        return "files", []
    if kind.endswith(","):  # a list with commas: complete its last part
        kind = kind[:-1]
        head += line.current[len(head) :].rpartition(",")[0]
        head += "," if line.current[len(head) :].startswith(",") else ""
    start = line.current.removeprefix(head)
    offers = ((text, about) for text, about in _offers(line, kind) if text.startswith(start))
    found = [(head + text, about) for text, about in offers if _is_plain(text)]
    ends_open = bool(found) and all(text.endswith(("=", "/")) for text, _ in found)
    return ("nospace" if ends_open else "plain"), found[:_MOST]


def _is_plain(text: str) -> bool:
    """Return True when a shell needs no quotes for a text; a charm may choose any text as a name."""
    return text.isascii() and all(sign.isalnum() or sign in _PLAIN for sign in text)


def _kind(line: Line) -> tuple[str, str]:
    """Return (the part of the word that stays as typed, the kind of words that complete the rest)."""
    if line.flag:
        return "", _value_kind(line, line.flag)
    if line.current.startswith("-") and not line.flags_over:
        name, equals, _ = line.current.partition("=")
        return (name + equals, _value_kind(line, name)) if equals else ("", "flag")
    if not line.command:
        return "", "word"
    positions = ARGUMENTS.get(line.command, "none").split()
    at = len(line.given)
    if line.command == "run":
        return "", "parameter" if _action(line) else "unit|leader|action" if at else "unit|leader"
    last = positions[-1]
    word = positions[at] if at < len(positions) else last if last.endswith("*") else "none"
    return "", word.removesuffix("*")


def _value_kind(line: Line, flag: str) -> str:
    """Return the kind of a flag's value: from the tables, else `choice`, the choices of the flag."""
    known = OF_COMMAND.get(f"{line.command} {flag}") or VALUES.get(flag)
    return known or ("choice" if line.command else "none")


def _offers(line: Line, kind: str) -> Iterator[Offer]:
    """Yield the offers for a kind of argument, such as `model`, or for several kinds with `|` between."""
    seen: set[str] = set()
    for one in kind.split("|"):
        for offer in _OFFERS.get(one, _named(one))(line):
            if offer[0] not in seen:
                seen.add(offer[0])
                yield offer


def _named(kind: str) -> Callable[[Line], Iterator[Offer]]:
    """Return the function that offers what the tables have for a kind: fixed words, or names in the store."""

    def fixed(_line: Line) -> Iterator[Offer]:
        return ((word, "") for word in FIXED[kind].split())

    def stored(line: Line) -> Iterator[Offer]:
        given = set(line.given)
        for row in _rows(line, QUERIES[kind]):
            if str(row[0]) not in given:
                yield str(row[0]), str(row[1] or "") if len(row) > 1 else ""

    return fixed if kind in FIXED else stored


# --- words and flags --------------------------------------------------------------------------------------


def _alias(word: str) -> str:
    return registry.ALIASES.get(word, word)


def _words(line: Line) -> Iterator[Offer]:
    yield from ((word, "") for word in sorted(registry.words()))
    if line.current.startswith(("list-", "re", "debug-h")):
        yield from ((word, "") for word in sorted(registry.ALIASES))


def flags_of(command: str) -> flag_cache.Flags:
    """Return a command's flags, kept from an earlier completion or from its module; see `command_flags`."""
    if (kept := flag_cache.load(command)) is not None:
        return kept
    # The module imports click and the command's module.
    found: flag_cache.Flags = _imported("pushjuju.cli.complete.command_flags").flags_of(command)
    flag_cache.keep(command, found)
    return found


def _imported(name: str) -> Any:
    """Return a module that few completions need."""
    from pushjuju.cli import lazy_imports  # imported here for the same reason

    return lazy_imports.import_lazily(name)


def _flags(line: Line) -> Iterator[Offer]:
    for names, _, about, _ in flags_of(line.command):
        longest = max(names, key=len)
        yield (next((name for name in names if name == line.current), longest), about)


def _formats(line: Line) -> Iterator[Offer]:
    return _choices_of(line, "--format")


def _choices(line: Line) -> Iterator[Offer]:
    return _choices_of(line, line.flag or line.current.partition("=")[0])


def _choices_of(line: Line, flag: str) -> Iterator[Offer]:
    for names, _, _, choices in flags_of(line.command):
        if flag in names:
            yield from ((choice, "") for choice in choices)


def _our_words(_line: Line) -> Iterator[Offer]:
    """Offer the commands whose documents have a published schema."""
    folder = os.path.join(_package(), "cli", "schemas")  # noqa: PTH118
    return ((name.removesuffix(".json"), "") for name in sorted(os.listdir(folder)))  # noqa: PTH208


# --- what the store has -----------------------------------------------------------------------------------


def _rows(line: Line, query: str, **more: str) -> list[tuple[object, ...]]:
    """Return the rows of a query of `complete.sql` in the named controller; no rows when it is missing."""
    root = _root(line.env)
    controller, model = _place(line, root)
    connection = _store(os.path.join(root, "controllers", controller)) if controller else None  # noqa: PTH118
    if connection is None:
        return []
    try:
        uuid = _model(connection, model) if query not in OF_CONTROLLER else ""
        rows: list[tuple[object, ...]] = connection.execute(
            _statement(query), {"model": uuid, **more}
        ).fetchall()
        return rows
    finally:
        connection.close()


def _store(folder: str) -> Any:
    """Return a connection to the store of a controller, or None when the controller is missing."""
    import sqlite3  # imported here: words of commands and flags need no store

    path = os.path.join(folder, "state.db")  # noqa: PTH118 - pathlib costs time
    if os.path.exists(path):  # noqa: PTH110
        return sqlite3.connect(f"file:{_quoted(path)}?mode=rw", uri=True, timeout=_BUSY_S)
    place = _setting(os.path.join(folder, "controller.toml"), "store")  # noqa: PTH118
    if not place:
        return None
    return _imported("pushjuju.store.postgres.words").Database(place)  # takes longer than all else here


def _loads(text: str) -> Any:
    import json  # imported here: json costs half of a completion that does not need it

    return json.loads(text)


def _package() -> str:
    """Return the folder `pushjuju`, two above cli/complete."""
    return os.path.abspath(os.path.join(__file__, "..", "..", ".."))  # noqa: PTH100, PTH118


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _statement(name: str) -> str:
    with open(os.path.join(_package(), "store", "sql", "complete.sql"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        _, _, rest = file.read().partition(f"-- name: {name}\n")
    return rest.partition("-- name:")[0]


def _root(env: Mapping[str, str]) -> str:
    """Return the data directory, by the rules of `store.datadir.locate`, which takes longer to import."""
    if chosen := env.get("PUSHJUJU_DATA") or env.get("JUJU_DATA"):
        return os.path.expanduser(chosen)  # noqa: PTH111
    if os.path.isfile("state/pushjuju.toml"):  # noqa: PTH113
        return "state"
    home = env.get("XDG_DATA_HOME") or os.path.join(env.get("HOME", ""), ".local", "share")  # noqa: PTH118
    return os.path.join(home, "pushjuju")  # noqa: PTH118


def _place(line: Line, root: str) -> tuple[str, str]:
    """Return the controller and the model that the command line names, or else the current ones."""
    controller, colon, model = line.model.partition(":")
    if not colon:
        controller, model = "", line.model
    main = os.path.join(root, "pushjuju.toml")  # noqa: PTH118
    controller = controller or line.controller or _setting(main, "current-controller")
    own = os.path.join(root, "controllers", controller, "controller.toml")  # noqa: PTH118
    return controller, model or _setting(own, "current-model")


def _setting(path: str, key: str) -> str:
    """Return a text at the top level of a TOML file; empty when there is none."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            for text in file:
                name, equals, value = text.partition("=")
                if equals and name.strip() == key and value.strip()[:1] in ("'", '"'):
                    value = value.strip()
                    return value[1:].partition(value[0])[0]
                if text.startswith("["):
                    break
    except OSError:
        pass
    return ""


def _model(connection: object, name: str) -> str:
    owner, slash, short = name.partition("/")
    if not slash:
        owner, short = "admin", name
    statement = _statement("complete_model_uuid")
    row = connection.execute(statement, {"owner": owner, "name": short}).fetchone()  # type: ignore[attr-defined]
    return str(row[0]) if row else ""


# --- what charms have -------------------------------------------------------------------------------------


def _charm(line: Line, name: str) -> dict[str, dict[str, object]]:
    application = name.partition("/")[0]
    for row in _rows(line, "complete_charm_of", application=application):
        document: dict[str, dict[str, object]] = _loads(str(row[1]))
        return document
    return {}


def _of_charm(*path: str, ends: str = "") -> Callable[[Line], Iterator[Offer]]:
    """Return the function that offers the names in one part of the charm of the application that is named."""

    def offers(line: Line) -> Iterator[Offer]:
        part: object = _charm(line, line.given[0]) if line.given else {}
        for key in path:
            part = part.get(key, {}) if isinstance(part, dict) else {}
        for name, entry in sorted(part.items()) if isinstance(part, dict) else ():
            about = entry.get("description") if isinstance(entry, dict) else ""
            yield f"{name}{ends}", str(about or "").partition("\n")[0]

    return offers


def _action(line: Line) -> str:
    """Return the action that `run` names: the first word that is no unit; empty when none is typed yet."""
    return next((word for word in line.given if "/" not in word), "")


def _parameters(line: Line) -> Iterator[Offer]:
    """Offer the parameters of the action that the command line names."""
    actions = _map(_charm(line, line.given[0]).get("actions"))
    schema = _map(_map(actions.get(_action(line))).get("schema"))
    given = {word.partition("=")[0] for word in line.given}
    for name, entry in sorted(_map(schema.get("properties")).items()):
        if name not in given:
            yield f"{name}=", str(_map(entry).get("description") or "").partition("\n")[0]


def _local_files(line: Line) -> Iterator[Offer]:
    """Offer the files that begin with the typed path."""
    folder, slash, start = line.current.rpartition("/")
    try:
        found = sorted(os.scandir(folder or slash or "."), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        if entry.name.startswith(start) and (start or not entry.name.startswith(".")):
            yield f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}", ""


def _settings(line: Line) -> Iterator[Offer]:
    """Offer the names of settings; behind the `=` of a boolean setting, true and false."""
    name, equals, _ = line.current.partition("=")
    options = _charm(line, line.given[0]).get("config", {}) if line.given else {}
    option = options.get(name) if isinstance(options, dict) else None
    if equals and isinstance(option, dict) and option.get("type") == "boolean":
        yield from ((f"{name}={word}", "") for word in ("true", "false"))
    else:
        yield from _of_charm("config", ends="=")(line)


def _any_actions(line: Line) -> Iterator[Offer]:
    for row in _rows(line, "complete_charms"):
        yield from ((name, str(row[0])) for name in _loads(str(row[1])).get("actions") or {})


def _hooks(line: Line) -> Iterator[Offer]:
    """Offer the hooks that a unit's charm may have, and its actions."""
    yield from ((name, "") for name in _HOOKS)
    charm = _charm(line, line.given[0]) if line.given else {}
    meta = charm.get("meta", {})
    for kind in _RELATION_KINDS:
        for name in sorted(_map(meta.get(kind))):
            yield from ((f"{name}-relation-{step}", "") for step in _RELATION_HOOKS)
    for name in sorted(_map(meta.get("storage"))):
        yield from ((f"{name}-storage-{step}", "") for step in ("attached", "detaching"))
    yield from ((name, "action") for name in sorted(_map(charm.get("actions"))))


def _map(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _own_endpoints(line: Line) -> Iterator[Offer]:
    """Offer the endpoints of the application that the command line names."""
    meta = _charm(line, line.given[0]).get("meta", {}) if line.given else {}
    for kind in _RELATION_KINDS:
        for name, entry in sorted(_map(meta.get(kind)).items()):
            yield name, str(_map(entry).get("interface", ""))


def _bindings(line: Line) -> Iterator[Offer]:
    """Offer spaces, and the endpoints that can be bound to a space."""
    endpoint, equals, _ = line.current.partition("=")
    for name, _ in _named("space")(line):
        yield (f"{endpoint}={name}" if equals else name), ""
    if not equals:
        yield from ((f"{name}=", about) for name, about in _own_endpoints(line))


def _endpoints(line: Line) -> Iterator[Offer]:
    """Offer applications; once a colon is typed, the endpoints of the application in front of the colon."""
    if ":" not in line.current:
        yield from _named("application")(line)
        return
    application = line.current.partition(":")[0]
    for row in _rows(line, "complete_charm_of", application=application):
        meta = _loads(str(row[1])).get("meta", {})
        for kind in _RELATION_KINDS:
            for name, entry in sorted((meta.get(kind) or {}).items()):
                yield f"{application}:{name}", str(entry.get("interface", ""))
        yield f"{application}:juju-info", "juju-info"


def _controllers(line: Line) -> Iterator[Offer]:
    folder = os.path.join(_root(line.env), "controllers")  # noqa: PTH118
    if os.path.isdir(folder):  # noqa: PTH112
        yield from ((name, "") for name in sorted(os.listdir(folder)) if not name.startswith("."))  # noqa: PTH208


def _of_clouds(function: str) -> Callable[[Line], Iterator[Offer]]:
    """Return the function that offers clouds, regions or credentials, by its name in `completeclouds`."""

    def offers(line: Line) -> Iterator[Offer]:
        from pushjuju.cli.complete import completeclouds  # imported here: few completions need TOML

        root = _root(line.env)
        place = completeclouds.Place(root=root, controller=_place(line, root)[0], words=tuple(line.given))
        found: Iterator[Offer] = getattr(completeclouds, function)(place, line.command, line.current)
        return found

    return offers


def _setting_names() -> type[SettingNames]:
    from pushjuju.cli.complete.setting_names import SettingNames  # it imports all rules of settings

    return SettingNames


def _model_keys(_line: Line) -> Iterator[Offer]:
    return ((f"{name}=", "") for name, _ in _model_names(_line))


def _model_names(_line: Line) -> Iterator[Offer]:
    return ((name, "") for name in _setting_names().of_models())


def _controller_keys(_line: Line) -> Iterator[Offer]:
    return ((f"{name}=", "") for name in _setting_names().of_controllers())


def _ssh_keys(line: Line) -> Iterator[Offer]:
    """Offer the comments of a model's public keys: remove-ssh-key takes them."""
    for row in _rows(line, "complete_keys"):
        for text in str(_loads(str(row[0]))).splitlines():
            kind, _, rest = text.strip().partition(" ")
            yield rest.partition(" ")[2].strip(), kind


def _channels(line: Line) -> Iterator[Offer]:
    """Offer the risks, alone and in the tracks that applications of the model follow."""
    risks = ("stable", "candidate", "beta", "edge")
    yield from ((risk, "") for risk in risks)
    named = line.given[0] if line.given and line.command == "refresh" else ""
    for track, application in _rows(line, "complete_track"):
        if named in ("", application):
            yield from ((f"{track}/{risk}", str(application)) for risk in risks)


def _waited_names(line: Line) -> Iterator[Offer]:
    kind = line.given[0] if line.given else ""
    return _named(kind)(line) if kind in QUERIES else iter(())


_OFFERS: Mapping[str, Callable[[Line], Iterator[Offer]]] = {
    "word": _words,
    "flag": _flags,
    "format": _formats,
    "choice": _choices,
    "ours": _our_words,
    "controller": _controllers,
    "cloud": _of_clouds("clouds"),
    "owncloud": _of_clouds("own_clouds"),
    "place": _of_clouds("places"),
    "region": _of_clouds("regions"),
    "credential": _of_clouds("credentials"),
    "endpoint": _endpoints,
    "appendpoint": _own_endpoints,
    "binding": _bindings,
    "modelkey": _model_keys,
    "modelname": _model_names,
    "controllerkey": _controller_keys,
    "sshkey": _ssh_keys,
    "channel": _channels,
    "waitedname": _waited_names,
    "config": _settings,
    "configname": _of_charm("config"),
    "parameter": _parameters,
    "localfile": _local_files,
    "hook": _hooks,
    "anyaction": _any_actions,
    "storekey": _of_charm("meta", "storage", ends="="),
    "action": _of_charm("actions"),
    "resource": _of_charm("meta", "resources", ends="="),
    "store": _of_charm("meta", "storage"),
}


# --- shells -----------------------------------------------------------------------------------------------


def main(argv: Sequence[str]) -> int:
    """Print the offers for `SHELL WORD ...` (bash: `LINE BREAKS`), the directive on the first line."""
    shell, *words = argv or [""]
    cut = 0
    try:
        if shell == "bash":
            text, breaks = (*words, "", "")[:2]
            words = split(text)[1:]
            cut = _cut(words[-1] if words else "", breaks)
        directive, offers = answer(words, os.environ)
        lines = [directive, *(_shown(shell, text[cut:], about) for text, about in offers)]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    except Exception:  # noqa: BLE001 - see above
        return 1
    return 0


def _shown(shell: str, text: str, about: str) -> str:
    about = "" if shell == "bash" else " ".join("".join(filter(str.isprintable, about)).split())[:80]
    return f"{text}\t{about}" if about else text


def _cut(word: str, breaks: str) -> int:
    """Return how many characters of a word bash keeps: it completes only what follows a `:` or `=`."""
    return max((word.rfind(sign) + 1 for sign in ":=" if sign in breaks), default=0)


def split(text: str) -> list[str]:
    """Split a command line as a shell does; a quote may be unfinished, the last word may be empty."""
    words, word, quote, started = [], "", "", False
    signs = iter(text)
    for sign in signs:
        if quote:
            if sign == quote:
                quote = ""
            elif sign == "\\" and quote == '"':
                word += next(signs, "")
            else:
                word += sign
        elif sign in "'\"":
            quote, started = sign, True
        elif sign == "\\":
            word, started = word + next(signs, ""), True
        elif sign.isspace():
            if started:
                words.append(word)
            word, started = "", False
        else:
            word, started = word + sign, True
    return [*words, word]
