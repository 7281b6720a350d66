"""The key file: what it opens, what it refuses, and that nothing of it is ever overwritten."""

from __future__ import annotations

import stat
from collections.abc import Callable

import pytest

from pushjuju.core.errors import StoreError, WrongKey
from pushjuju.store.keys import FILE, Keyring, Sealed
from pushjuju.store.tx import Tx
from tests.world.controller import TestController


@pytest.fixture
def ring(runtime: TestController) -> Keyring:
    """The keys of a controller that has none yet."""
    return runtime.ctx.controller.keyring


def seal(runtime: TestController, value: object = "hush", place: str = "here") -> Sealed:
    sealed: Sealed = runtime.write(
        lambda tx: runtime.ctx.controller.keyring.seal(tx, value, place, runtime.clock.now())
    )
    return sealed


def test_what_is_sealed_is_opened_again(runtime: TestController, ring: Keyring) -> None:
    sealed = seal(runtime, {"a": "b"})
    assert b"hush" not in sealed.data
    assert ring.open(sealed, "here") == {"a": "b"}


def test_equal_values_are_sealed_differently(runtime: TestController) -> None:
    assert seal(runtime).data != seal(runtime).data


def test_the_key_file_is_the_owners_alone(runtime: TestController, ring: Keyring) -> None:
    seal(runtime)
    assert stat.S_IMODE(ring.path.stat().st_mode) == 0o600
    assert ring.path.name == FILE


def test_a_record_opens_in_its_own_place_only(runtime: TestController, ring: Keyring) -> None:
    with pytest.raises(StoreError, match="record was changed"):
        ring.open(seal(runtime), "there")


def test_a_changed_record_does_not_open(runtime: TestController, ring: Keyring) -> None:
    sealed = seal(runtime)
    changed = bytes([sealed.data[0] ^ 1]) + sealed.data[1:]
    with pytest.raises(StoreError):
        ring.open(Sealed(key=sealed.key, data=changed), "here")


DAMAGE: list[tuple[str, Callable[[str], str | None]]] = [
    ("is missing", lambda _: None),
    ("does not hold it", lambda _: ""),
    ("line 2 is no key", lambda text: text[:-10] + "\n"),
    ("line 2 is no key", lambda text: text.replace(" ", "  ")[:-3] + "A=\n"),
    ("line 1 is no key", lambda _: "nonsense\n"),
]


@pytest.mark.parametrize(("why", "damage"), DAMAGE)
def test_a_wrong_key_file_is_refused_and_left_alone(
    runtime: TestController, ring: Keyring, why: str, damage: Callable[[str], str | None]
) -> None:
    sealed = seal(runtime)
    text = damage(ring.path.read_text())
    if text is None:
        ring.path.unlink()
    else:
        ring.path.write_text(text)
    before = runtime.dump()
    for attempt in (
        lambda: seal(runtime),
        lambda: ring.open(sealed, "here"),
        lambda: runtime.read(ring.check),
        lambda: runtime.write(lambda tx: ring.renew(tx, runtime.clock.now())),
    ):
        with pytest.raises(WrongKey, match=why):
            attempt()
    assert (ring.path.read_text() if ring.path.exists() else None) == text
    assert runtime.dump() == before


def test_no_key_is_asked_for_where_nothing_is_sealed(runtime: TestController, ring: Keyring) -> None:
    runtime.read(ring.check)
    assert not ring.path.exists()


def test_the_key_of_a_process_that_died_too_early_is_used(runtime: TestController, ring: Keyring) -> None:
    """The file is written first; the store may have lost its transaction."""
    names = []

    def die(tx: Tx) -> None:
        names.append(ring.seal(tx, 1, "here", runtime.clock.now()).key)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runtime.write(die)
    assert [seal(runtime).key] == names


def test_a_new_key_seals_what_is_new_and_the_old_one_still_opens(
    runtime: TestController, ring: Keyring
) -> None:
    old = seal(runtime)
    name = runtime.write(lambda tx: ring.renew(tx, runtime.clock.now()), whole=True)
    assert seal(runtime).key == name != old.key
    assert ring.open(old, "here") == "hush"
    ring.forget([name])
    with pytest.raises(WrongKey):
        ring.open(old, "here")
