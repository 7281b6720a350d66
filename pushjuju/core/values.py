"""Dataclasses with slots, and regular expressions, that cost little: to define, and to copy.

The decorator of the standard library compiles up to seven methods of a class. That takes longer than the
rest of the import of a typical module, and a command makes values of few of the classes that it imports.
`dataclass` of this module takes the same options. It gives the class its slots at once, and lets the standard
library make the methods when the first value is compared, hashed or shown, or when `dataclasses.fields` asks
for the fields. The first value itself needs only the constructor, which is made here.

The constructor of a frozen dataclass sets each field through `object.__setattr__`. For records that a hook
reads in great numbers, these calls are most of the work: `changed` and `assembler` need no constructor.
"""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

Get = Callable[[Any], Any]
Put = Callable[[Any, Any], None]
T = TypeVar("T")

__all__ = [
    "Get", "Put", "assembler", "changed", "dataclass", "defaults", "is_value", "kinds", "regex", "slots",
]  # fmt: skip
_NO_FIELD = (
    "ClassVar", "typing.ClassVar", "InitVar", "dataclasses.InitVar", "KW_ONLY", "dataclasses.KW_ONLY",
)  # fmt: skip
_NOT_PLAIN = ("ClassVar", "typing.ClassVar", "InitVar", "dataclasses.", "KW_ONLY")
_CONSTRUCTION = ("__init__", "__setattr__", "__delattr__")
_COMPARED = """
def __eq__(self, other):
  return ({mine}) == ({others}) if other.__class__ is self.__class__ else NotImplemented
def __hash__(self):
  return hash(({mine}))
"""
_NOT_GIVEN = object()  # the default of a field that has a function for its default
_making = threading.RLock()


class _Fields:
    """The fields of a class that has no methods yet, or only its constructor.

    Args:
        written: The class as its module defines it, without slots.
        cls: The class with slots, which gets the methods.
        options: The options of the standard library's decorator.
    """

    def __init__(self, written: type[Any], cls: type[Any], options: dict[str, Any]) -> None:
        self._written = written
        self._cls: Any = cls
        self._options = options
        self._constructed = False

    def __get__(self, _value: object, _cls: type[Any]) -> Any:
        self.make_methods()
        return self._cls.__dataclass_fields__

    def make_constructor(self) -> None:
        """Make the constructor; the other methods are made when somebody calls one of them."""
        with _making:
            if self._constructed or vars(self._cls)["__dataclass_fields__"] is not self:
                return
            plain = self.plain()
            if plain is None or self._options.keys() - {"eq", "frozen", "kw_only"}:
                self.make_methods()
                return
            self._constructed = True
            frozen, own = self._options.get("frozen", False), vars(self._written)
            compared = self._options.get("eq", True)
            if "__repr__" not in own:
                self._cls.__repr__ = self._made_later("__repr__", self.make_methods)
            compare = partial(_compare, self._cls, plain) if _is_compared(plain) else self.make_methods
            if compared and "__eq__" not in own:
                self._cls.__eq__ = self._made_later("__eq__", compare)
            if compared and (own.get("__hash__") is None and not ("__hash__" in own and "__eq__" not in own)):
                self._cls.__hash__ = self._made_later("__hash__", compare) if frozen else None
            if frozen:
                self._cls.__setattr__, self._cls.__delattr__ = _refusals(self._cls, frozenset(plain))
            matched = tuple(name for name, (_, alone) in plain.items() if not alone)
            self._cls.__match_args__ = matched  # type: ignore[misc] # mypy means that of _Fields
            self._cls.__init__ = _constructor(self._cls, plain)

    def plain(self) -> dict[str, tuple[Any, bool]] | None:
        """Return the fields when they have nothing special: name -> (default or field, keyword only).

        None means that only the standard library knows them.
        """
        found: dict[str, tuple[Any, bool]] = {}
        for base in reversed(self._cls.__mro__[1:-1]):
            if "__dataclass_fields__" not in vars(base):
                continue
            below = vars(base)["__dataclass_fields__"]
            inherited = below.plain() if isinstance(below, _Fields) else None
            if inherited is None:
                return None
            found.update(inherited)
        own, alone = vars(self._written), self._options.get("kw_only", False)
        if "__init__" in own or "__setattr__" in own or "__delattr__" in own:
            return None
        for name, kind in own.get("__annotations__", {}).items():
            if str(kind).startswith(_NOT_PLAIN):
                return None
            default = own.get(name, dataclasses.MISSING)
            if isinstance(default, dataclasses.Field):
                if not default.init or default.kw_only not in (dataclasses.MISSING, alone):
                    return None
            elif default.__class__.__hash__ is None:  # the standard library refuses it
                return None
            found[name] = (default, alone)
        return found

    def _made_later(self, name: str, make: Callable[[], None]) -> Callable[..., Any]:
        def later(*args: Any) -> Any:
            make()
            return getattr(self._cls, name)(*args)

        later.is_later = True  # type: ignore[attr-defined]
        return later

    def make_methods(self) -> None:
        """Let the standard library make the methods, and take them over; other threads wait for this."""
        with _making:
            if vars(self._cls)["__dataclass_fields__"] is not self:
                return
            before = dict(vars(self._written))
            dataclasses.dataclass(**self._options)(self._written)
            after = vars(self._written)
            made = {name: after[name] for name in after if after[name] is not before.get(name)}
            if self._constructed:
                made = {name: made[name] for name in made if name not in _CONSTRUCTION}
            last = ("__dataclass_fields__", "__init__")  # with these, other threads use the class
            for name in sorted(made.keys() - self._written.__annotations__.keys(), key=last.__contains__):
                setattr(self._cls, name, made[name])


def _constructor(cls: type[Any], plain: dict[str, tuple[Any, bool]]) -> Any:
    """Return the constructor of a class with plain fields."""
    known: dict[str, Any] = {"_none": _NOT_GIVEN}
    words: dict[bool, list[str]] = {False: [], True: []}
    lines = []
    for name, (given, alone) in plain.items():
        default: Any = given
        factory: Any = dataclasses.MISSING
        if isinstance(given, dataclasses.Field):
            default, factory = given.default, given.default_factory
        known |= {
            f"_put_{name}": getattr(cls, name).__set__,
            f"_default_{name}": default,
            f"_make_{name}": factory,
        }
        value, word = name, name
        if factory is not dataclasses.MISSING:
            value, word = f"_make_{name}() if {name} is _none else {name}", f"{name}=_none"
        elif default is not dataclasses.MISSING:
            word = f"{name}=_default_{name}"
        words[alone].append(word)
        lines.append(f" _put_{name}(_self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" _self.__post_init__()")
    named = ["*", *words[True]] if words[True] else []
    text = f"def __init__({', '.join(('_self', *words[False], *named))}):\n" + ("\n".join(lines) or " pass")
    exec(text, known)  # noqa: S102 - as the standard library does
    made = known["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return made


def _is_compared(plain: dict[str, tuple[Any, bool]]) -> bool:
    """Return True when all fields count for equality and hash."""
    given = [item for item, _ in plain.values() if isinstance(item, dataclasses.Field)]
    return all(item.compare and item.hash is None for item in given)


def _compare(cls: type[Any], names: Iterable[str]) -> None:
    """Make the functions that compare and hash values by all fields, where they are made later."""
    mine, others = ("".join([f"{one}.{name}, " for name in names]) for one in ("self", "other"))
    known: dict[str, Any] = {}
    exec(_COMPARED.format(mine=mine, others=others), known)  # noqa: S102 - as the standard library does
    for name in ("__eq__", "__hash__"):
        if hasattr(vars(cls).get(name), "is_later"):
            setattr(cls, name, known[name])


def _refusals(cls: type[Any], names: frozenset[str]) -> tuple[Any, Any]:
    """Return the functions that set and delete attributes of a frozen class."""

    def refuse_set(value: Any, name: str, item: object) -> None:
        if type(value) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, value).__setattr__(name, item)

    def refuse_delete(value: Any, name: str) -> None:
        if type(value) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, value).__delattr__(name)

    return refuse_set, refuse_delete


def _lazy_dataclass(*, slots: bool = False, **options: Any) -> Any:
    """Return the decorator with these options of `dataclasses.dataclass`."""

    def declare(written: type[Any]) -> Any:
        cls = _with_slots(written, frozen=options.get("frozen", False))

        def first(value: Any, /, *args: Any, **named: Any) -> None:
            fields.make_constructor()
            cls.__init__(value, *args, **named)

        cls.__dataclass_fields__ = fields = _Fields(written, cls, options)
        cls.__init__ = first
        return cls

    return declare if slots else dataclasses.dataclass(**options)


def _with_slots(written: Any, *, frozen: bool) -> Any:
    """Return the class made again with a slot for each field."""
    names = [name for name, kind in written.__annotations__.items() if not str(kind).startswith(_NO_FIELD)]
    gone = {*names, "__dict__", "__weakref__"}
    body = {name: value for name, value in vars(written).items() if name not in gone}
    known = {slot for base in written.__mro__[1:-1] for slot in vars(base).get("__slots__", ())}
    body["__slots__"] = tuple(name for name in names if name not in known)
    if frozen:
        body.setdefault("__getstate__", _state)
        body.setdefault("__setstate__", _set_state)
    made = type(written)(written.__name__, written.__bases__, body)
    made.__qualname__ = written.__qualname__
    return made


def _state(value: Any) -> list[Any]:
    """Return what a copy of a frozen value is made of."""
    return [getattr(value, field.name) for field in dataclasses.fields(value)]


def _set_state(value: Any, state: list[Any]) -> None:
    """Fill a copy of a frozen value."""
    for field, item in zip(dataclasses.fields(value), state, strict=True):
        object.__setattr__(value, field.name, item)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _lazy_dataclass


@cache
def kinds(kind: Hashable) -> dict[str, str]:
    """Return the fields of a class with their types as they are written, without making its methods."""
    cls: Any = kind
    fields = vars(cls).get("__dataclass_fields__")
    plain = fields.plain() if isinstance(fields, _Fields) else None
    if plain is None:
        return {field.name: str(field.type) for field in dataclasses.fields(cls)}
    fields.make_constructor()
    written: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        written.update(vars(base).get("__annotations__", {}))
    return {name: str(written[name]) for name in plain}


def defaults(kind: type[Any]) -> dict[str, Any]:
    """Return the fields of a class with their defaults, or `dataclasses.MISSING`."""
    fields = vars(kind).get("__dataclass_fields__")
    plain = fields.plain() if isinstance(fields, _Fields) else None
    if plain is None:
        return {field.name: _default(field) for field in dataclasses.fields(kind)}
    return {name: _default(given) for name, (given, _) in plain.items()}


def _default(given: Any) -> Any:
    if not isinstance(given, dataclasses.Field):
        return given
    return given.default if given.default_factory is dataclasses.MISSING else given.default_factory()


def is_value(kind: object) -> bool:
    """Return True for a dataclass, without making its methods."""
    return isinstance(kind, type) and any("__dataclass_fields__" in vars(base) for base in kind.__mro__)


@cache
def slots(kind: Hashable) -> dict[str, tuple[Get, Put]]:
    """Return the functions that read and write each field of a class: name -> (get, put)."""
    descriptors = {name: getattr(kind, name) for name in kinds(kind)}
    return {name: (found.__get__, found.__set__) for name, found in descriptors.items()}


@cache
def _copier(kind: Hashable) -> Callable[[Any], Any]:
    """Return a function that copies a value."""
    copier: Callable[[Any], Any] = _assembled(
        kind, "value", {name: f"value.{name}" for name in kinds(kind)}, {}
    )
    return copier


def assembler(kind: Hashable, parts: Sequence[tuple[str, Callable[[Any], Any] | None] | None]) -> Any:
    """Return a function that makes a value of its parts in their order, without the constructor.

    Args:
        parts: For each part its field and the function that decodes the part, if any; None to leave it out.
    """
    known = {f"_read{at}": part[1] for at, part in enumerate(parts) if part is not None}
    sources = {
        part[0]: f"part{at}" if part[1] is None else f"_read{at}(part{at})"
        for at, part in enumerate(parts)
        if part is not None
    }
    taken = f" {''.join(f'part{at}, ' for at in range(len(parts)))} = parts"
    return _assembled(kind, "parts", sources, known, taken)


def _assembled(kind: Any, given: str, sources: dict[str, str], known: dict[str, Any], first: str = "") -> Any:
    """Return the function that makes a value: fields -> the expression for each.

    The fields of a frozen value cannot be assigned, so a draft gets the fields and then becomes the value.
    That is several times as fast as a call for each field.
    """
    kinds(kind)  # makes the methods that compare and hash the value, and that refuse assignments
    draft = _draft(kind)
    known |= {"_new": draft or partial(kind.__new__, kind), "_kind": kind}
    known |= {f"_put_{name}": put for name, (_, put) in slots(kind).items()} if draft is None else {}
    lines = [f"def make({given}):", *([first] if first else []), " made = _new()"]
    for name, source in sources.items():
        lines.append(f" made.{name} = {source}" if draft else f" _put_{name}(made, {source})")
    exec("\n".join([*lines, *([" made.__class__ = _kind"] if draft else []), " return made"]), known)  # noqa: S102
    return known["make"]


def _draft(kind: Any) -> Any:
    """Return a class whose values can be filled and then become values of a class, if there can be one."""
    if kind.__bases__ != (object,) or type(kind) is not type or "__slots__" not in vars(kind):
        return None
    return type("Draft", (), {"__slots__": vars(kind)["__slots__"]})


def changed(value: T, /, **fields: Any) -> T:
    """Return a copy with other values in some fields, like `dataclasses.replace` but ten times as fast."""
    kind = cast("Hashable", type(value))
    made: T = _copier(kind)(value)
    puts = slots(kind)
    for name, item in fields.items():
        puts[name][1](made, item)
    return made


class _Pattern:
    """Stands for a compiled expression, whose attributes it keeps once somebody has asked for one."""

    def __init__(self, text: str, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # such as of `copy`
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for known in ("fullmatch", "match", "search", "sub", "split", "finditer", "findall", "pattern", name):
            setattr(self, known, getattr(compiled, known))
        return getattr(compiled, name)


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, compiled at the first use; most commands use few."""
    return cast("re.Pattern[str]", _Pattern(text, flags))
