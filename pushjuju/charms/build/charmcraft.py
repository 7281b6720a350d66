"""Makes the files that charmcraft would write into the archive from a `charmcraft.yaml`.

These are the parts of that file and the `dispatch` script. Mirrors: charmcraft's package service.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pushjuju.charms.format import yamlsafe
from pushjuju.charms.format.coerce import Report
from pushjuju.charms.values.goform import typed
from pushjuju.charms.values.problems import Problem, Problems
from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.portable.quote import quote

FILE = "charmcraft.yaml"
PREFIX = f'parsing "{FILE}" file: '

_REQUIRED = ("name", "summary", "description")
_VERBATIM = (
    "assumes", "charm-user", "containers", "devices", "extra-bindings", "peers", "provides", "requires",
    "resources", "storage", "subordinate", "terms",
)  # fmt: skip
_LINKS = {
    "contact": "maintainers",
    "documentation": "docs",
    "issues": "issues",
    "source": "source",
    "website": "website",
}
_ORIGINS = {name: f"links.{key}" for key, name in _LINKS.items()} | {"display-name": "title"}
_LABEL = regex(r"(?:([a-z]+)@([^:]+):)?(.+)")

_DISPATCH = """#!/bin/sh
# The entry of every event: runs the charm's Python code with the packages it carries.
export JUJU_DISPATCH_PATH="${JUJU_DISPATCH_PATH:-$0}"
{pending}export PYTHONPATH=lib:venv
exec python3 {entry}
"""
# Packages that only the machine can build are built there, once for each version of the list.
PENDING = "pending/requirements.txt"
_PENDING = """\
if ! cmp -s pending/requirements.txt venv/.built; then
    build() {
        pip=$1; shift
        PIP_ROOT_USER_ACTION=ignore python3 $pip install --quiet --upgrade --target venv --no-deps \\
            --find-links pending --requirement pending/requirements.txt "$@"
    }
    # The pip and the tools that came along are enough for pure Python. What has to be compiled needs the
    # tools of the base; only then an index is asked for more.
    if ! build "$(echo pending/pip-*.whl)/pip" --no-index >/dev/null 2>&1; then
        if ! python3 -m pip --version >/dev/null 2>&1 || ! command -v gcc >/dev/null; then
            apt-get -qq update
            DEBIAN_FRONTEND=noninteractive apt-get -qqy install python3-pip python3-dev gcc >/dev/null
        fi
        build "-m pip" --no-index >/dev/null 2>&1 || build "-m pip" --no-index --no-build-isolation \\
            >/dev/null 2>&1 || build "-m pip" || exit 1
    fi
    cp pending/requirements.txt venv/.built
fi
"""


def generate(
    data: bytes, present: Callable[[str], bool], problems: Problems, *, linked: bool = False
) -> dict[str, bytes]:
    """Return the files of a packed charm that `charmcraft.yaml` describes: name -> content.

    Args:
        data: Bytes of `charmcraft.yaml`.
        present: Returns True when the tree has a file of its own at a path.
        problems: Takes every fault; faulty parts are left out of the files.
        linked: True when hooks of the tree are links to the entry point.
    """

    def report(key: str, text: str) -> None:
        problems.add(FILE, PREFIX + text, key=key)

    project = _project(data, report)
    if project is None:
        return {}
    out: dict[str, bytes] = {}
    _split(project, present, out, report)
    if not present("manifest.yaml"):
        bases = list(_bases(project, report))
        if bases:
            out["manifest.yaml"] = _document({"bases": bases})
    chosen = _entry(project)
    if _makes_dispatch(project, chosen, present, linked=linked):
        pending = _PENDING if present(PENDING) else ""
        out["dispatch"] = _DISPATCH.replace("{entry}", chosen).replace("{pending}", pending).encode()
    return out


def entry(data: bytes) -> str:
    """Return the program that a project runs for each hook."""
    return _entry(_project(data, _pass_over) or {})


def makes_dispatch(data: bytes, present: Callable[[str], bool], *, linked: bool = False) -> bool:
    """Return True when packing adds a `dispatch` script to the project; arguments as for `generate`."""
    project = _project(data, _pass_over) or {}
    return _makes_dispatch(project, _entry(project), present, linked=linked)


def _makes_dispatch(
    project: Mapping[str, Any], chosen: str, present: Callable[[str], bool], *, linked: bool
) -> bool:
    """Return True when a project needs a `dispatch`.

    The plugin charm always makes a `dispatch`; other plugins make none for a tree with hooks of its own.
    Hooks that are links to the entry point need a `dispatch` with any plugin: they would run without the
    packages.

    Mirrors: charmcraft charm_builder.py handle_dispatcher, dispatch.py create_dispatch
    """
    if present("dispatch") or not present(chosen):
        return False
    parts = project.get("parts")
    always = not isinstance(parts, dict) or any(
        (part.get("plugin", name) if isinstance(part, dict) else name) == "charm"
        for name, part in parts.items()
    )
    return always or linked or not present("hooks")


def _entry(project: Mapping[str, Any]) -> str:
    """Return the program that runs for each hook: `src/charm.py`, unless the plugin charm names another."""
    parts = project.get("parts")
    for part in parts.values() if isinstance(parts, dict) else ():
        chosen = part.get("charm-entrypoint") if isinstance(part, dict) else None
        if isinstance(chosen, str) and re.fullmatch(r"[\w./-]+", chosen) and ".." not in chosen:
            return chosen
    return "src/charm.py"


def _pass_over(_key: str, _text: str) -> None:
    """Ignore a problem that was reported when the charm was read."""


def names_architectures(data: bytes) -> bool:
    """Return False when the project has `bases`, and some of them name no architecture."""
    bases = (_project(data, _pass_over) or {}).get("bases")
    return not bases or all("architectures" in item for item in _old_bases(bases, _pass_over))


def platforms(data: bytes) -> dict[str, list[tuple[str, str, str]]]:
    """Return label -> (OS, channel, architecture)s of the platforms that a project names; may be empty.

    Args:
        data: Bytes of a `charmcraft.yaml` in which `generate` found no fault.
    """
    project = _project(data, _pass_over) or {}
    listed = project.get("platforms")
    named = listed.items() if isinstance(listed, dict) else ()
    base = project.get("base")
    return {str(label): list(targets(str(label), item, base, _pass_over)) for label, item in named}


def written(problem: Problem) -> tuple[str, str]:
    """Return the file and key in the author's files for a problem in a file that `generate` made."""
    file, key = problem.file, problem.key
    if file == "metadata.yaml":
        top, dot, rest = key.partition(".")
        return FILE, _ORIGINS.get(top.partition("[")[0], top) + dot + rest
    if file in ("config.yaml", "actions.yaml"):
        return FILE, f"{file.removesuffix('.yaml')}.{key}"
    return (FILE, "platforms") if file == "manifest.yaml" else (file, key)


def _project(data: bytes, report: Report) -> dict[str, object] | None:
    try:
        # The keys of four levels are text: `config: {options: {NAME: {type: ...}}}`.
        project = yamlsafe.load(data, text_keys=4)
    except NotValid as error:
        report("", error.message)
        return None
    if not isinstance(project, dict):
        report("", f"expected map, got {typed(project)}")
        return None
    if project.get("type", "charm") != "charm":
        report("type", f"type {quote(str(project['type']))} is not a charm")
        return None
    return project


def _split(
    project: Mapping[str, Any], present: Callable[[str], bool], out: dict[str, bytes], report: Report
) -> None:
    if present("metadata.yaml"):
        _refuse_both(project, _VERBATIM, "metadata.yaml", report)
    else:
        out["metadata.yaml"] = _document(_metadata(project, report))
    for key, file in (("config", "config.yaml"), ("actions", "actions.yaml")):
        if key not in project:
            continue
        if present(file):
            _refuse_both(project, (key,), file, report)
        out[file] = _document(project[key])


def _refuse_both(project: Mapping[str, Any], keys: tuple[str, ...], file: str, report: Report) -> None:
    for key in keys:
        if key in project:
            report(key, f"{quote(key)} cannot be used when {file} exists")


def _metadata(project: Mapping[str, Any], report: Report) -> dict[str, object]:
    for key in _REQUIRED:
        if key not in project:
            report(key, f"{key}: expected string, got nothing")
    # The fault is reported already. A placeholder keeps later checks from reporting it again.
    out: dict[str, object] = dict.fromkeys(_REQUIRED, "missing")
    out |= {key: project[key] for key in (*_REQUIRED, *_VERBATIM) if key in project}
    if "title" in project:
        out["display-name"] = project["title"]
    links = project.get("links") or {}
    if not isinstance(links, dict):
        report("links", f"links: expected map, got {typed(links)}")
        links = {}
    for key, name in _LINKS.items():
        if key in links:
            value = links[key]
            out[name] = [value] if name == "maintainers" and isinstance(value, str) else value
    return out


def _document(value: Any) -> bytes:
    """Return a YAML document, written as JSON, which every YAML parser reads in the same way."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _bases(project: Mapping[str, Any], report: Report) -> Iterator[dict[str, object]]:
    if project.get("bases"):
        yield from _old_bases(project["bases"], report)
        return
    base, platforms = project.get("base"), project.get("platforms")
    if platforms is None:
        if base:
            report("platforms", "platforms: expected map, got nothing")
        return
    if not isinstance(platforms, dict):
        report("platforms", f"platforms: expected map, got {typed(platforms)}")
        return
    found: dict[tuple[str, str], list[str]] = {}
    for label, entry in platforms.items():
        for name, channel, arch in targets(str(label), entry, base, report):
            arches = found.setdefault((name, channel), [])
            if arch not in arches:
                arches.append(arch)
    for (name, channel), arches in found.items():
        yield {"name": name, "channel": channel, "architectures": arches}


def targets(label: str, entry: Any, base: Any, report: Report) -> Iterator[tuple[str, str, str]]:
    """Yield the (OS, channel, architecture)s for which a platform is built."""
    given = entry.get("build-for") if isinstance(entry, dict) else None
    texts = [given] if isinstance(given, str) else given if isinstance(given, list) and given else [label]
    for text in map(str, texts):
        match = _LABEL.fullmatch(text)
        own = _LABEL.fullmatch(label)
        if match is None or own is None:
            report(f"platforms.{label}", f"platform {quote(label)} not valid")
            continue
        name, channel, arch = match[1] or own[1], match[2] or own[2], match[3]
        if not name and isinstance(base, str) and base.count("@") == 1:
            name, channel = base.split("@")
        if not name:
            report(f"platforms.{label}", f"platform {quote(label)} has no base")
            continue
        yield name, channel, arch


def _old_bases(entries: Any, report: Report) -> Iterator[dict[str, object]]:
    if not isinstance(entries, list):
        report("bases", f"bases: expected list, got {typed(entries)}")
        return
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            report(f"bases[{number}]", f"bases[{number}]: expected map, got {typed(entry)}")
            continue
        if "name" in entry:
            yield _run_on(entry)
            continue
        targets = entry.get("run-on") or entry.get("build-on") or []
        for target in targets if isinstance(targets, list) else []:
            if isinstance(target, dict):
                yield _run_on(target)


def _run_on(entry: Mapping[Any, Any]) -> dict[str, object]:
    return {key: entry[key] for key in ("name", "channel", "architectures") if key in entry}
