#!/usr/bin/env python3
"""Measure the shape of the code, and keep baselines of numbers that may only become smaller.

`shape.py` prints the measures. `shape.py update` writes lower numbers into tests/docs/baseline, never higher
ones. `shape.py update --moved` also accepts new files, for modules that were moved or split, as long as no
total grows. The script needs ruff and the standard library.
"""

from __future__ import annotations

import ast
import functools
import gc
import json
import re
import statistics
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASELINES = ROOT / "tests" / "docs" / "baseline"
STYLE = ROOT / "docs" / "style.md"
MAX_MODULES = 25
MAX_LINES = 400
MAX_NAMES = 4
RULES = ("C901", "PLC0415", "PLR0912", "PLR0913", "PLR0915")
CHANGE = "tests.bench.one_change"  # a command that runs one `config` change and prints its measures

TOO_MANY = "bring it down"
FEWER = "well done; `make shape-update` writes the lower number"
# Rules of Go and Juju that may be in one place only: name -> a pattern in every copy of the rule.
SAID_ONCE = {
    "Go's booleans": r"""\("1", "t", "(?:T|true)",?""",
    "Go's %q": r'^def quote\(text: str\) -> str:\n    """[^"]*(?:%q|Go)',
    "Go's integers": r"^def (?:atoi|parse_int\w*)\(",
    "Go's durations": r"^def (?:_|parse_)duration\(text",
    "Juju's natural order": r"^def natural_key\(",
    "Juju's flags": r"^def dashed\(",
    "log levels": r'^_?LEVELS = .*"TRACE"|^ +"UNSPECIFIED": 0, "TRACE"',
}


@dataclass(frozen=True)
class Module:
    """A parsed module of the package."""

    path: str
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """Return the dotted name, without `__init__`."""
        return self.path[:-3].replace("/", ".").removesuffix(".__init__")

    @property
    def lines(self) -> int:
        """Return the number of lines."""
        return len(self.text.splitlines())


@functools.cache
def modules() -> tuple[Module, ...]:
    """Return the modules of the package, sorted by path."""
    found = []
    gc.disable()  # the trees contain no garbage, and garbage collection takes half of the time
    for file in sorted((ROOT / "pushjuju").rglob("*.py")):
        text = file.read_text()
        found.append(Module(str(file.relative_to(ROOT)), text, ast.parse(text)))
    gc.freeze()
    gc.enable()
    return tuple(found)


def plain_modules() -> Iterator[Path]:
    """Yield the paths of all modules except `__init__`."""
    return (Path(module.path) for module in modules() if not module.path.endswith("__init__.py"))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function of a module, methods and inner functions included."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield every docstring of a module with its first line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            text = first.value if isinstance(first, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield text.lineno, text.value


# --- what may only become smaller -------------------------------------------------------------------------


def large_folders() -> Counter[str]:
    """Count the modules of each folder that has more than 25."""
    return _above(Counter(str(path.parent) for path in plain_modules()), MAX_MODULES)


def frequent_names() -> Counter[str]:
    """Count each file name that exists more than four times."""
    return _above(Counter(path.name for path in plain_modules()), MAX_NAMES)


def long_modules() -> Counter[str]:
    """Return the modules of more than 400 lines, each with the count 1."""
    return Counter(module.path for module in modules() if module.lines > MAX_LINES)


def layer_docstrings() -> Counter[str]:
    """Return the modules whose docstring names a layer, because the folder names the layer."""
    return Counter(m.path for m in modules() if re.search(r"\bLayer:", ast.get_docstring(m.tree) or ""))


def lint() -> Counter[str]:
    """Count ruff's findings about size and about imports inside functions, by file and rule."""
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--exit-zero", "--output-format=json"]
    command.append(f"--select={','.join(RULES)}")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return Counter(f"{Path(f['filename']).relative_to(ROOT)} {f['code']}" for f in json.loads(done.stdout))


def _above(counted: Counter[str], limit: int) -> Counter[str]:
    return Counter({key: number for key, number in counted.items() if number > limit})


@functools.cache
def phrases() -> dict[str, str]:
    """Return the phrases of docs/style.md that are to be replaced, each with its replacement."""
    table = STYLE.read_text().partition("## Not this, but that")[2].partition("\n## ")[0]
    found = {}
    for row in re.findall(r"^\| (`.+?) \| (.+) \|$", table, re.MULTILINE):
        found.update(dict.fromkeys(re.findall(r"`([^`]+)`", row[0].lower()), row[1].strip()))
    return found


@functools.cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {phrase: re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)") for phrase in phrases()}


@functools.cache
def wordings() -> tuple[tuple[str, int, str], ...]:
    """Return path, line and phrase of every such phrase in docs and docstrings."""
    pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("state/*.md")])
    texts = [
        (str(page.relative_to(ROOT)), 1, _without_code(page.read_text())) for page in pages if page != STYLE
    ]
    texts += [(module.path, line, text) for module in modules() for line, text in docstrings(module.tree)]
    return tuple(found for text in texts for found in _wordings(*text))


def _without_code(text: str) -> str:
    """Return Markdown with each line of code blocks empty."""
    return re.sub(r"```.*?```", lambda code: "\n" * code[0].count("\n"), text, flags=re.DOTALL)


def _wordings(path: str, first: int, text: str) -> Iterator[tuple[str, int, str]]:
    flat = text.replace("\n", " ").lower()
    taken: set[int] = set()  # a phrase inside a longer phrase counts once
    for phrase in sorted((phrase for phrase in _patterns() if phrase in flat), key=len, reverse=True):
        for hit in _patterns()[phrase].finditer(flat):
            if hit.start() not in taken:
                taken.update(range(*hit.span()))
                yield path, first + text.count("\n", 0, hit.start()), phrase


def words() -> Counter[str]:
    """Count the phrases, by file."""
    return Counter(path for path, _, _ in wordings())


# name of the baseline -> (the counting function, True when the file holds numbers)
GATES: dict[str, tuple[Callable[[], Counter[str]], bool]] = {
    "folders": (large_folders, True),
    "layers": (layer_docstrings, False),
    "lint": (lint, True),
    "modules": (long_modules, False),
    "names": (frequent_names, True),
    "words": (words, True),
}


def kept(gate: str) -> Counter[str]:
    """Return the numbers of a baseline. A comment in the file may give the reason of a line."""
    found: Counter[str] = Counter()
    for line in (BASELINES / f"{gate}.txt").read_text().splitlines():
        if entry := line.partition("#")[0].strip():
            key, _, number = entry.rpartition(" ") if GATES[gate][1] else (entry, "", "1")
            found[key] = int(number)
    return found


def differences(gate: str) -> list[str]:
    """Return the differences from a baseline, as sentences that say what to do."""
    found, before = GATES[gate][0](), kept(gate)
    changed = sorted(key for key in found | before if found[key] != before[key])
    more = [
        f"{key}: {found[key]}, was {before[key]}: {TOO_MANY}" for key in changed if found[key] > before[key]
    ]
    less = [f"{key}: {found[key]}, was {before[key]}: {FEWER}" for key in changed if found[key] < before[key]]
    return more + less


def update(*, moved: bool) -> int:
    """Write lower numbers into the baselines; return the exit code."""
    refused = 0
    for gate, (count, numbered) in GATES.items():
        found, before = count(), kept(gate)
        if _grows(gate, found, before, moved=moved):
            print(f"{gate}: grows, so it was left alone:", *differences(gate), sep="\n  ")
            refused = 1
        elif found != before:
            write(gate, found, numbered=numbered)
            print(f"{gate}: {before.total()} -> {found.total()}")
    return refused


def _grows(gate: str, found: Counter[str], before: Counter[str], *, moved: bool) -> bool:
    if not moved or gate in ("folders", "names"):
        return any(number > before[key] for key, number in found.items())
    return any(number > _by_rule(before)[rule] for rule, number in _by_rule(found).items())


def _by_rule(counted: Mapping[str, int]) -> Counter[str]:
    """Return the sums over all files; a key is a path, or a path and a rule."""
    total: Counter[str] = Counter()
    for key, number in counted.items():
        total[key.partition(" ")[2]] += number
    return total


def write(gate: str, found: Counter[str], *, numbered: bool) -> None:
    """Write a baseline; keep the comments of lines that stay."""
    file = BASELINES / f"{gate}.txt"
    old = file.read_text().splitlines()
    head = [line for line in old if line.startswith("#")]
    reasons = {}
    for line in old:
        entry, _, reason = line.partition("#")
        reasons[entry.strip().rpartition(" ")[0] if numbered else entry.strip()] = reason.strip()
    lines = []
    for key, number in sorted(found.items()):
        line = f"{key} {number}" if numbered else key
        lines.append(f"{line}  # {reasons[key]}" if reasons.get(key) else line)
    file.write_text("\n".join([*head, *lines]) + "\n")


# --- measures ---------------------------------------------------------------------------------------------


def function_lengths() -> list[int]:
    """Return the lengths of all functions without signature and docstring, shortest first."""
    found = []
    for module in modules():
        for function in functions(module.tree):
            body = function.body[ast.get_docstring(function, clean=False) is not None :]
            found.append((function.end_lineno or 0) - body[0].lineno + 1 if body else 0)
    return sorted(found)


def longest_function() -> tuple[int, str]:
    """Return the length of the longest function, with its signature, and its name."""
    return max(
        ((function.end_lineno or 0) - function.lineno + 1, f"{module.path}: {function.name}")
        for module in modules()
        for function in functions(module.tree)
    )


def inner_imports() -> int:
    """Count the imports inside functions; in nested functions, once for each of them."""
    imports = (ast.Import, ast.ImportFrom)
    return sum(
        isinstance(node, imports)
        for module in modules()
        for function in functions(module.tree)
        for node in ast.walk(function)
    )


def imported() -> dict[str, set[str]]:
    """Return module -> modules of pushjuju that it imports, also inside functions, except for types only."""
    names = {module.name for module in modules()}
    edges: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        for node in _without_types(module.tree):
            edges[module.name] |= set(_names(node, names)) & names - {module.name}
    return edges


def _without_types(tree: ast.Module) -> Iterator[ast.AST]:
    conditions = (n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test))
    skipped = {id(inner) for condition in conditions for inner in ast.walk(condition)}
    return (node for node in ast.walk(tree) if id(node) not in skipped)


def _names(node: ast.AST, known: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in known else node.module


def circles() -> list[int]:
    """Return the size of each circle of imports, smallest first (Tarjan)."""
    edges, number, low = imported(), {}, {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in edges.get(name, ()):
            if other not in number:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == number[name]:
            group = stack[stack.index(name) :]
            del stack[-len(group) :]
            if len(group) > 1:
                found.append(len(group))

    sys.setrecursionlimit(10_000)
    for module in modules():
        if module.name not in number:
            visit(module.name)
    return sorted(found)


def contracts() -> list[dict[str, object]]:
    """Return import-linter's contracts."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return list(settings["tool"]["importlinter"]["contracts"])


def upward_imports() -> str:
    """Return how many upward imports the contracts allow, and how many rooms have a contract."""
    rooms = {module.name.split(".")[1] for module in modules() if module.name.count(".") > 1}
    cut = [c for c in contracts() if c["type"] == "layers" and c.get("containers") != ["pushjuju"]]
    allowed = sum(len(_texts(c.get("ignore_imports"))) for c in cut)
    inside = {name.split(".")[1] for c in cut for name in map(str, _texts(c.get("containers")))}
    return f"{allowed} allowed; {len(inside)} of {len(rooms)} rooms have a contract"


def allowed_circles() -> int:
    """Count the imports that the contract against circles ignores."""
    return sum(
        len(_texts(contract.get("ignore_imports")))
        for contract in contracts()
        if contract["type"] == "acyclic_siblings"
    )


def _texts(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def cli_transactions() -> int:
    """Count the transactions that `cli` opens."""
    texts = (module.text for module in modules() if module.path.startswith("pushjuju/cli/"))
    return sum(len(re.findall(r"store\.(?:read|write)\(", text)) for text in texts)


def doubled_rules() -> dict[str, list[str]]:
    """Return each rule of Go and Juju that is in more than one place, with the places."""
    stand = {
        rule: [module.path for module in modules() if re.search(pattern, module.text, re.MULTILINE)]
        for rule, pattern in SAID_ONCE.items()
    }
    return {rule: paths for rule, paths in stand.items() if len(paths) > 1}


def total_lines(paths: Iterable[Path]) -> int:
    """Return the number of lines of all files."""
    return sum(len(path.read_text().splitlines()) for path in paths)


def one_change() -> dict[str, str]:
    """Return what one `config` change on a simulated machine touched."""
    command = [sys.executable, "-m", CHANGE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"one `config` change": f"cannot be measured: {done.stderr.strip().splitlines()[-1]}"}
    found: dict[str, str] = json.loads(done.stdout)
    return found


def measures() -> Iterator[tuple[str, object, str]]:
    """Yield each measure: its name, the current number, the goal."""
    folders = Counter(str(path.parent) for path in plain_modules()).most_common(1)[0]
    yield f"modules in the largest folder ({folders[0]})", folders[1], str(MAX_MODULES)
    yield "import circles, by size", circles() or 0, "0"
    yield "imports left out of the contract against circles", allowed_circles(), "0"
    yield "imports that run upward inside a room", upward_imports(), "0, by contract"
    yield "imports inside functions", inner_imports(), "under 60"
    yield "transactions opened by cli", cli_transactions(), "0"
    wanted = {"files": "15 / 45", "turns,": "1, 1, 1"}
    for name, number in one_change().items():
        yield name, number, wanted.get(name.partition(" ")[0], "")
    yield "rules of Go and Juju that stand more than once", len(doubled_rules()), "0"
    ours, tests = sum(module.lines for module in modules()), total_lines((ROOT / "tests").rglob("*.py"))
    yield "lines of pushjuju/", ours, "under 90,000"
    yield "tests : code", f"{tests / ours:.2f}", "0.90"
    yield "file names that stand more than 4 times", _listed(frequent_names()), "0"
    yield f"modules of more than {MAX_LINES} lines", len(long_modules()), "0"
    lengths = function_lengths()
    shape = f"{statistics.median(lengths):.0f}, {lengths[len(lengths) * 9 // 10]}, {longest_function()[0]}"
    yield "lines of a function: median, 90 %, longest", shape, "5, 15, 80"
    yield "modules that name their layer", layer_docstrings().total(), "0"
    for rule, number in sorted(_by_rule(lint()).items()):
        yield f"breaches of {rule}", number, ""
    yield "phrases that docs/style.md replaces", words().total(), "0"


def _listed(counted: Counter[str]) -> str:
    names = ", ".join(f"{name} {number}" for name, number in counted.most_common(4))
    return f"{len(counted)} ({names}{', ...' if len(counted) > 4 else ''})" if counted else "0"


def main() -> int:
    """Print the measures, or update the baselines."""
    if sys.argv[1:2] == ["update"]:
        return update(moved="--moved" in sys.argv[2:])
    for name, number, wanted in measures():
        print(f"{name:<58}  {number!s:<40}  {wanted}".rstrip(), flush=True)
    for rule, paths in doubled_rules().items():
        print(f"  {rule}: {', '.join(paths)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
