"""Dataclasses whose methods are made with their first value behave as the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import threading
from dataclasses import field
from typing import Any, ClassVar

import pytest

import pushjuju
from pushjuju.core.values import dataclass, defaults, is_value, kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A frozen value with each kind of field."""

    KIND: ClassVar[str] = "point"
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)

    def moved(self, x: int) -> Point:
        return dataclasses.replace(self, x=x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pixel(Point):
    """A class that gives a field of its base a default, and adds one."""

    x: int = 7
    colour: str = "red"


@dataclass(slots=True, order=True)
class Mutable:
    """A value that may change."""

    size: int


def test_a_value_has_the_methods_of_the_standard_library() -> None:
    assert repr(Point(x=1)) == "Point(x=1, y=2, tags=[])"
    assert Point(x=1) == Point(x=1) != Point(x=1, y=3)
    assert Point(x=1).moved(4).x == 4
    assert (Point.KIND, Mutable(1) < Mutable(2)) == ("point", True)
    assert not hasattr(Point(x=1), "__dict__")
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'x'"):
        Point()  # type: ignore[call-arg]


def test_a_frozen_value_stays_as_it_is() -> None:
    point = Point(x=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    mutable = Mutable(1)
    mutable.size = 2
    assert mutable == Mutable(2)


def test_a_subclass_has_the_fields_of_its_base() -> None:
    assert Pixel() == Pixel(x=7, y=2, tags=[], colour="red")
    assert [item.name for item in dataclasses.fields(Pixel)] == ["x", "y", "tags", "colour"]


def test_the_fields_of_a_class_without_values_are_known() -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        name: str = "x"

    assert [item.name for item in dataclasses.fields(Fresh)] == ["name"]
    assert dataclasses.is_dataclass(Fresh)


def test_values_can_be_copied() -> None:
    pixel = Pixel(colour="blue")
    assert copy.copy(pixel) == copy.deepcopy(pixel) == pickle.loads(pickle.dumps(pixel)) == pixel


@pytest.mark.parametrize("_round", range(20))
def test_several_threads_make_the_first_value(_round: int) -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        name: str

    made: list[Any] = []
    threads = [threading.Thread(target=lambda: made.append(Fresh("x"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [Fresh("x")] * 4


def test_the_methods_of_every_class_can_be_made() -> None:
    """A mistake in a definition shows at the first value: here, not at a user."""
    found = 0
    for module in pkgutil.walk_packages(pushjuju.__path__, "pushjuju."):
        if module.name.endswith(("__main__", "remote.boot", "remote.enter")) or ".testing" in module.name:
            continue
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__ == module.name and dataclasses.is_dataclass(kind):
                dataclasses.fields(kind)
                found += 1
    assert found > 500


@dataclass(frozen=True, slots=True)
class Pair:  # noqa: PLW1641 - the hash is what is tested
    """A frozen value with positional fields."""

    left: int
    right: list[int] = field(default_factory=list)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pair) and self.left == other.left


@dataclass(frozen=True, slots=True, eq=False)
class Lone:
    """A value that equals nothing else."""

    name: str


@dataclass(slots=True)
class Checked:
    """A value that is checked when it is made."""

    size: int
    name: str = "x"

    def __post_init__(self) -> None:
        self.size += 1


def test_a_first_value_makes_only_the_constructor() -> None:
    @dataclass(frozen=True, slots=True)
    class New:
        x: int

    assert New(1).x == 1
    made = vars(New)["__dataclass_fields__"]
    assert not isinstance(made, dict)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        New(1).x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del New(1).x  # type: ignore[misc]
    assert vars(New)["__dataclass_fields__"] is made
    assert (New(1) == New(1), hash(New(1)) == hash(New(1)), repr(New(2)).endswith("New(x=2)")) == (True,) * 3
    assert [entry.name for entry in dataclasses.fields(New)] == ["x"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        New(1).x = 2  # type: ignore[misc]


def test_a_constructor_takes_what_the_standard_librarys_takes() -> None:
    assert (Pair(1).right, Pair(1, [2]).right, Pair(right=[3], left=1).right) == ([], [2], [3])
    assert Pair(1).right is not Pair(1).right
    assert (Checked(1).size, Checked(size=2, name="y").name) == (2, "y")
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Checked(1, z=1)  # type: ignore[call-arg]
    match Pair(1, [2]):
        case Pair(left, right):
            assert (left, right) == (1, [2])


def test_own_comparison_and_none_are_kept() -> None:
    assert Pair(1, [2]) == Pair(1, [3])
    assert Lone("a") != Lone("a")
    assert len({Lone("a"), Lone("a")}) == 2
    with pytest.raises(TypeError, match="unhashable type"):
        hash(Checked(1))


def test_the_kinds_of_fields_are_told_without_the_methods() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Base:
        x: int

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Derived(Base):
        y: str = ""

    assert kinds(Derived) == {"x": "int", "y": "str"}
    assert not isinstance(vars(Derived)["__dataclass_fields__"], dict)
    values = [Derived.__new__(Derived) for _ in range(2)]
    for value in values:
        object.__setattr__(value, "x", 1)
        object.__setattr__(value, "y", "a")
    assert values[0] == values[1] == Derived(x=1, y="a")


def test_values_are_compared_and_hashed_without_the_methods() -> None:
    @dataclass(frozen=True, slots=True)
    class Base:
        x: int
        y: str = "a"

    @dataclass(frozen=True, slots=True)
    class Derived(Base):
        z: float = float("nan")

    made = [vars(cls)["__dataclass_fields__"] for cls in (Base, Derived)]
    one = Derived(1)
    assert (one == Derived(1), one != Derived(2), hash(one)) == (True, True, hash((1, "a", one.z)))
    assert (Base(1) == one, one == Base(1), Base(1) == Base(1), one == (1, "a", one.z)) == (
        False, False, True, False,
    )  # fmt: skip
    assert len({Base(1), Base(1), Base(2)}) == 2
    assert [vars(cls)["__dataclass_fields__"] for cls in (Base, Derived)] == made


def test_a_field_that_does_not_count_is_neither_compared_nor_hashed() -> None:
    @dataclass(frozen=True, slots=True)
    class Named:
        name: str
        note: list[str] = field(default_factory=list, compare=False)

    assert Named("a", ["x"]) == Named("a", ["y"])
    assert hash(Named("a", ["x"])) == hash(Named("a", ["y"]))


def test_the_defaults_of_fields_are_told_without_the_methods() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class New:
        x: int
        y: str = "a"
        z: list[str] = field(default_factory=list)

    assert defaults(New) == {"x": dataclasses.MISSING, "y": "a", "z": []}
    assert (is_value(New), is_value(New(x=1)), is_value(int)) == (True, False, False)
    assert not isinstance(vars(New)["__dataclass_fields__"], dict)
    assert defaults(Mutable) == {"size": dataclasses.MISSING}
