"""What may come next on a command line: the answers that shells ask for at each TAB. Layer: cli.

A process for each key press, so this imports almost nothing: no click, no store, no TOML. Names come from the
store by one small statement. A command's own module is imported only to list its flags. Whatever goes wrong,
nothing is offered and nothing is said: a shell is no place for errors.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

Offer = tuple[str, str]  # what is inserted, and a word about it

# Command -> what its arguments are: one word per position, `*` for the last one again and again, `|` for or.
ARGUMENTS: Mapping[str, str] = {
    "actions": "application", "add-machine": "none", "add-storage": "unit store", "add-unit": "application",
    "attach-resource": "application resource", "attach-storage": "unit storage*", "bind": "application space",
    "cancel-task": "task*", "charm-resources": "file", "completion": "shell", "config": "application config*",
    "constraints": "application", "consume": "offerurl", "controller": "driver", "create-backup": "none",
    "debug-code": "unit hook*", "debug-hooks": "unit hook*", "deploy": "file",
    "destroy-controller": "controller",
    "destroy-model": "model", "detach-storage": "storage*", "documentation": "none", "expose": "application",
    "explain": "unit|application|machine|storage*", "grant-secret": "secret application",
    "help": "word", "hooks": "unit*", "kill-controller": "controller",
    "model-config": "modelkey*", "model-constraints": "none", "model-defaults": "modelkey*",
    "offer": "endpoint", "offers": "offer", "plan": "word", "refresh": "application",
    "remove-application": "application*",
    "remove-machine": "machine*", "remove-relation": "relation|endpoint endpoint",
    "remove-secret": "secret", "remove-secret-backend": "backend", "remove-space": "space",
    "remove-storage": "storage*", "remove-storage-pool": "pool", "remove-unit": "unit*",
    "rename-space": "space", "replay": "unit|decided", "resolved": "unit*", "resources": "application|unit",
    "resume-relation": "relation*", "retry-provisioning": "machine*", "revoke-secret": "secret application",
    "run": "unit* action", "schema": "word", "scp": "unit*", "set-application-base": "application",
    "set-constraints": "application", "show-action": "application action", "show-application": "application*",
    "show-controller": "controller*", "show-machine": "machine*", "show-model": "model",
    "show-operation": "operation", "show-relation": "relation|endpoint endpoint", "show-secret": "secret",
    "show-secret-backend": "backend", "show-space": "space",
    "show-status-log": "unit|machine|application|saas",
    "show-storage": "storage*", "show-task": "task", "show-unit": "unit*", "ssh": "unit|machine",
    "status": "application|unit|machine*", "suspend-relation": "relation*", "switch": "model|controller",
    "trust": "application", "unexpose": "application", "unregister": "controller",
    "update-secret": "secret", "update-secret-backend": "backend", "update-status": "unit*",
    "update-storage-pool": "pool", "upgrade-machine": "machine", "wait-for": "waited",
    "find-offers": "model|offerurl", "integrate": "endpoint|saas|offerurl endpoint|saas|offerurl",
    "remove-offer": "offer|offerurl*", "remove-saas": "saas*", "show-offer": "offer|offerurl",
    "grant": "user", "revoke": "user", "show-user": "user", "remove-user": "user", "enable-user": "user",
    "disable-user": "user", "change-user-password": "user",
    "add-credential": "cloud", "application-storage": "application", "apply": "file",
    "restore-backup": "file",
    "autoload-credentials": "cloud", "bootstrap": "cloud", "credentials": "cloud",
    "default-credential": "cloud", "default-region": "cloud", "diff-bundle": "file",
    "disable-command": "commands", "doctor": "cloud*", "enable-command": "commands", "login": "controller",
    "regions": "cloud", "remove-cloud": "cloud", "remove-credential": "cloud",
    "set-credential": "cloud", "show-cloud": "cloud", "show-credential": "cloud", "update-cloud": "cloud",
    "update-credential": "cloud", "users": "model",
}  # fmt: skip
# Flag -> what its value is; those of one command alone are asked of its module.
VALUES: Mapping[str, str] = {
    "-m": "model", "--model": "model", "-c": "controller", "--controller": "controller", "-o": "file",
    "--output": "file", "--file": "file", "--path": "file", "--config": "file", "--params": "file",
    "--overlay": "file", "--log-file": "file", "--resource": "file", "--to": "machine", "-u": "unit",
    "--unit": "unit", "-a": "application", "--application": "application", "--machine": "machine",
    "-i": "unit|machine", "--include": "unit|machine", "-x": "unit|machine", "--exclude": "unit|machine",
    "--attach-storage": "storage", "--hook": "hook", "--private-key": "file", "--public-key": "file",
    "-n": "none", "--num-units": "none", "--limit": "none", "--since": "none", "--channel": "none",
    "--base": "none", "--constraints": "none", "--bind": "none", "--timeout": "none",
    "--revision": "none", "--logging-config": "none", "--message": "none", "--endpoint": "none",
    "--format": "format", "--level": "level", "-l": "level",
}  # fmt: skip
# Flags that mean something else in one command: there they take no value.
BARE: Mapping[str, tuple[str, ...]] = {"info": ("--config",)}
SWITCHES = frozenset((
    "--debug", "-v", "--verbose", "-q", "--quiet", "--show-log", "-h", "--help", "--utc", "--color",
    "--no-color", "--force", "--no-wait", "--no-prompt", "--dry-run", "--trust", "--follow", "--failed",
    "--all", "--background", "--relations", "--replay", "--no-tail", "--tail", "--no-alias",
    "--description", "--version",
))  # fmt: skip
_FIXED: Mapping[str, str] = {
    "shell": "bash zsh fish", "driver": "run renew-key", "waited": "application machine model unit",
    "level": "TRACE DEBUG INFO WARNING ERROR", "none": "", "commands": "all destroy-model remove-object",
    "hook": "install start config-changed update-status upgrade-charm leader-elected stop remove",
}  # fmt: skip
_QUERIES: Mapping[str, str] = {
    "model": "complete_model", "application": "complete_application", "unit": "complete_unit",
    "machine": "complete_machine", "relation": "complete_relation", "storage": "complete_storage",
    "pool": "complete_pool", "secret": "complete_secret", "backend": "complete_backend",
    "space": "complete_space", "user": "complete_user",
    "operation": "complete_operation", "task": "complete_task",
    "decided": "complete_decided", "offer": "complete_offer", "offerurl": "complete_offer_url",
    "saas": "complete_saas",
}  # fmt: skip
_OF_CONTROLLER = ("complete_model", "complete_backend", "complete_user")
_RELATION_KINDS = ("requires", "provides", "peers")
_PLAIN = "-_.,:/@=+%"
_MOST = 1000
_BUSY_S = 0.1


class Line:
    """A command line up to the cursor, taken apart.

    Attributes:
        command: Its word, aliases resolved; empty before it is there.
        given: Its arguments that are complete.
        flag: The flag whose value is being written; empty for none.
        model: The value of `-m`.
        controller: The value of `-c`.
    """

    def __init__(self, words: Sequence[str], env: Mapping[str, str]) -> None:
        """Take apart all words but the last, which is being written."""
        self.env = env
        self.current = words[-1] if words else ""
        self.command = ""
        self.given: list[str] = []
        self.flag = ""
        self.flags_over = False
        self.model = env.get("JUJU_MODEL", "")
        self.controller = env.get("JUJU_CONTROLLER", "")
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
        """Tell whether a flag is followed by its value."""
        if flag in VALUES:
            return flag not in BARE.get(self.command, ())
        if flag in SWITCHES or not self.command:
            return False
        return any(flag in names and not switch for names, switch, _, _ in flags_of(self.command))


def answer(words: Sequence[str], env: Mapping[str, str]) -> tuple[str, list[Offer]]:
    """Return what may stand in the place of the last word.

    Args:
        words: Those after the program's name.
        env: The process environment.

    Returns:
        `files` to let the shell offer files, `nospace` when nothing is to follow the offer, or `plain`; and
        the offers.
    """
    line = Line(words, env)
    head, kind = _kind(line)
    if kind == "file":
        return "files", []
    start = line.current.removeprefix(head)
    offers = ((text, about) for text, about in _offers(line, kind) if text.startswith(start))
    found = [(head + text, about) for text, about in offers if _is_plain(text)]
    ends_open = bool(found) and all(text.endswith("=") for text, _ in found)
    return ("nospace" if ends_open else "plain"), found[:_MOST]


def _is_plain(text: str) -> bool:
    """Tell whether a shell takes a text as one word and as nothing else: charms choose some of the names."""
    return text.isascii() and all(sign.isalnum() or sign in _PLAIN for sign in text)


def _kind(line: Line) -> tuple[str, str]:
    """Return what stands in front of the word that is asked for, and what kind of word that is."""
    if line.flag:
        return "", VALUES.get(line.flag, "none")
    if line.current.startswith("-") and not line.flags_over:
        name, equals, _ = line.current.partition("=")
        return (name + equals, VALUES.get(name, "none")) if equals else ("", "flag")
    if not line.command:
        return "", "word"
    positions = ARGUMENTS.get(line.command, "none").split()
    at = len(line.given)
    if line.command == "run":
        return "", "unit|action" if at else "unit"
    last = positions[-1]
    word = positions[at] if at < len(positions) else last if last.endswith("*") else "none"
    return "", word.removesuffix("*")


def _offers(line: Line, kind: str) -> Iterator[Offer]:
    """Yield all offers of a kind, or of several."""
    seen: set[str] = set()
    for one in kind.split("|"):
        for offer in _OFFERS.get(one, _named(one))(line):
            if offer[0] not in seen:
                seen.add(offer[0])
                yield offer


def _named(kind: str) -> Callable[[Line], Iterator[Offer]]:
    """Return the function for kinds that are fixed words or names in the store."""

    def fixed(_line: Line) -> Iterator[Offer]:
        return ((word, "") for word in _FIXED[kind].split())

    def stored(line: Line) -> Iterator[Offer]:
        given = set(line.given)
        for row in _rows(line, _QUERIES[kind]):
            if str(row[0]) not in given:
                yield str(row[0]), str(row[1] or "") if len(row) > 1 else ""

    return fixed if kind in _FIXED else stored


# --- words and flags --------------------------------------------------------------------------------------


def _alias(word: str) -> str:
    from pushjuju.cli import registry

    return registry.ALIASES.get(word, word)


def _words(line: Line) -> Iterator[Offer]:
    from pushjuju.cli import registry

    yield from ((word, "") for word in sorted(registry.words()))
    if line.current.startswith(("list-", "re", "debug-h")):
        yield from ((word, "") for word in sorted(registry.ALIASES))


def flags_of(command: str) -> list[tuple[tuple[str, ...], bool, str, tuple[str, ...]]]:
    """Return a command's flags from its module: names with dashes, whether it is a switch, help, choices."""
    from pushjuju.cli.command import GLOBAL_FLAGS
    from pushjuju.cli.root import Root

    found = Root().get_command(None, command)  # type: ignore[arg-type]
    specs = (*(found.specs if found else ()), *GLOBAL_FLAGS)
    return [
        (
            tuple(f"--{name}" if len(name) > 1 else f"-{name}" for name in spec.names),
            spec.switch,
            spec.help,
            spec.choices,
        )
        for spec in specs
        if not spec.hidden
    ]


def _flags(line: Line) -> Iterator[Offer]:
    for names, _, about, _ in flags_of(line.command):
        longest = max(names, key=len)
        yield (next((name for name in names if name == line.current), longest), about)


def _formats(line: Line) -> Iterator[Offer]:
    for names, _, _, choices in flags_of(line.command):
        if "--format" in names:
            yield from ((choice, "") for choice in choices)


# --- what the store has -----------------------------------------------------------------------------------


def _rows(line: Line, query: str, **more: str) -> list[tuple[object, ...]]:
    """Ask the store of the controller that the line means; nothing when there is none."""
    import sqlite3

    root = _root(line.env)
    controller, model = _place(line, root)
    path = os.path.join(root, "controllers", controller, "state.db")  # noqa: PTH118 - pathlib costs time
    if not controller or not os.path.exists(path):  # noqa: PTH110
        return []
    connection = sqlite3.connect(f"file:{_quoted(path)}?mode=rw", uri=True, timeout=_BUSY_S)
    try:
        uuid = _model(connection, model) if query not in _OF_CONTROLLER else ""
        return connection.execute(_statement(query), {"model": uuid, **more}).fetchall()
    finally:
        connection.close()


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _statement(name: str) -> str:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    with open(os.path.join(here, "state", "sql", "complete.sql"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        _, _, rest = file.read().partition(f"-- name: {name}\n")
    return rest.partition("-- name:")[0]


def _root(env: Mapping[str, str]) -> str:
    """Return the data directory; the rules are `state.datadir.locate`'s, which costs more to import."""
    if chosen := env.get("PUSHJUJU_DATA") or env.get("JUJU_DATA"):
        return os.path.expanduser(chosen)  # noqa: PTH111
    if os.path.isfile("state/pushjuju.toml"):  # noqa: PTH113
        return "state"
    home = env.get("XDG_DATA_HOME") or os.path.join(env.get("HOME", ""), ".local", "share")  # noqa: PTH118
    return os.path.join(home, "pushjuju")  # noqa: PTH118


def _place(line: Line, root: str) -> tuple[str, str]:
    """Return the controller and the model that a line means."""
    controller, colon, model = line.model.partition(":")
    if not colon:
        controller, model = "", line.model
    main = os.path.join(root, "pushjuju.toml")  # noqa: PTH118
    controller = controller or line.controller or _setting(main, "current-controller")
    own = os.path.join(root, "controllers", controller, "controller.toml")  # noqa: PTH118
    return controller, model or _setting(own, "current-model")


def _setting(path: str, key: str) -> str:
    """Return a text at the top of a TOML file."""
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
    import json

    application = name.partition("/")[0]
    for row in _rows(line, "complete_charm_of", application=application):
        document: dict[str, dict[str, object]] = json.loads(str(row[1]))
        return document
    return {}


def _of_charm(*path: str, ends: str = "") -> Callable[[Line], Iterator[Offer]]:
    """Return the function that offers the names of a part of the first argument's charm."""

    def offers(line: Line) -> Iterator[Offer]:
        part: object = _charm(line, line.given[0]) if line.given else {}
        for key in path:
            part = part.get(key, {}) if isinstance(part, dict) else {}
        for name, entry in sorted(part.items()) if isinstance(part, dict) else ():
            about = entry.get("description") if isinstance(entry, dict) else ""
            yield f"{name}{ends}", str(about or "").partition("\n")[0]

    return offers


def _endpoints(line: Line) -> Iterator[Offer]:
    """Offer applications, and, once a colon is there, their endpoints."""
    import json

    if ":" not in line.current:
        yield from _named("application")(line)
        return
    application = line.current.partition(":")[0]
    for row in _rows(line, "complete_charm_of", application=application):
        meta = json.loads(str(row[1])).get("meta", {})
        for kind in _RELATION_KINDS:
            for name, entry in sorted((meta.get(kind) or {}).items()):
                yield f"{application}:{name}", str(entry.get("interface", ""))
        yield f"{application}:juju-info", "juju-info"


def _controllers(line: Line) -> Iterator[Offer]:
    folder = os.path.join(_root(line.env), "controllers")  # noqa: PTH118
    if os.path.isdir(folder):  # noqa: PTH112
        yield from ((name, "") for name in sorted(os.listdir(folder)) if not name.startswith("."))  # noqa: PTH208


def _clouds(line: Line) -> Iterator[Offer]:
    """Offer the clouds that are built in, and those that people defined."""
    found = ["local", "manual"]
    try:
        with open(os.path.join(_root(line.env), "clouds.toml"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
            heads = (text.strip() for text in file if text.startswith("[clouds."))
            found += [
                head[len("[clouds.") :].partition("]")[0].partition(".")[0].strip("\"'") for head in heads
            ]
    except OSError:
        pass
    yield from ((name, "") for name in dict.fromkeys(found))


def _model_keys(_line: Line) -> Iterator[Offer]:
    from pushjuju.services.model_config import ATTRIBUTES

    yield from ((f"{name}=", "") for name in ATTRIBUTES)


_OFFERS: Mapping[str, Callable[[Line], Iterator[Offer]]] = {
    "word": _words,
    "flag": _flags,
    "format": _formats,
    "controller": _controllers,
    "cloud": _clouds,
    "endpoint": _endpoints,
    "modelkey": _model_keys,
    "config": _of_charm("config", ends="="),
    "action": _of_charm("actions"),
    "resource": _of_charm("meta", "resources", ends="="),
    "store": _of_charm("meta", "storage"),
}


# --- shells -----------------------------------------------------------------------------------------------


def main(argv: Sequence[str]) -> int:
    """Answer a shell: `SHELL WORD ...`, for bash `LINE BREAKS`; the first line is the directive."""
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
    """Return how much of a word bash has in front of what it replaces: it breaks words at colons."""
    return max((word.rfind(sign) + 1 for sign in ":=" if sign in breaks), default=0)


def split(text: str) -> list[str]:
    """Split a command line as a shell does, but take one that is not finished; the last word may be empty."""
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
