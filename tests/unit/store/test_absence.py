"""How long and how often a process tries to reach a server that is away, by a clock of the test."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from pushjuju.core.errors import StoreAway, StoreBusy
from pushjuju.store.files import waits
from pushjuju.store.files.waits import Patience

pytest.importorskip("psycopg", reason="psycopg is not installed")

from pushjuju.store.postgres import absence
from pushjuju.store.postgres.absence import Attempts


class Time:
    """A clock that goes on while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(absence.time, "sleep", made.sleep)
    return made


def away(times: list[float], time: Time, until: float = float("inf")) -> Callable[[], str]:
    """Return a function that connects to a server that is away for some seconds."""

    def connect() -> str:
        times.append(time.now - 1000)
        if times[-1] < until:
            raise StoreAway("the store cannot be reached", detail="refused", hint="psql")
        return "connected"

    return connect


def test_a_command_tries_for_half_a_minute_and_tells_once(time: Time) -> None:
    tried: list[float] = []
    told: list[str] = []
    patience = Patience(Path("db"), time)
    with waits.told_by(told.append), pytest.raises(StoreAway, match="cannot be reached") as refused:
        Attempts(time).connected(away(tried, time), patience)
    assert tried == [0, 1, 3, 7, 11, 15, 19, 23, 27, 30]
    assert told == ["Waiting for the store db: its server does not answer"]
    assert refused.value.hint == "psql"


def test_a_command_goes_on_when_the_server_is_back(time: Time) -> None:
    tried: list[float] = []
    told: list[str] = []
    patience = Patience(Path("db"), time)
    attempts = Attempts(time)
    with waits.told_by(told.append):
        assert attempts.connected(away(tried, time, until=0.5), patience) == "connected"
        assert (tried, told) == ([0, 1], [])
        time.now += 100
        tried.clear()
        assert attempts.connected(away(tried, time, until=105), patience) == "connected"
    assert tried == [101, 102, 104, 108]


def test_a_refusal_is_not_waited_for(time: Time) -> None:
    def connect() -> str:
        raise StoreBusy("wrong password")

    with pytest.raises(StoreBusy, match="wrong password"):
        Attempts(time).connected(connect, Patience(Path("db"), time))
    assert time.now == 1000


def test_a_process_that_must_not_stand_still_connects_rarely_and_fails_meanwhile(time: Time) -> None:
    tried: list[float] = []
    attempts, connect = Attempts(time), away(tried, time, until=300)
    for _ in range(2 * 300):
        with pytest.raises(StoreAway, match=r"^the store cannot be reached$") as refused:
            attempts.connected(connect, None)
        refused.value.prefixed("the command")  # by who catches it
        time.sleep(0.5)
    assert tried[:5] == [0, 1, 3, 7, 11]
    pauses = [later - earlier for earlier, later in pairwise(tried)]
    assert max(pauses) == pauses[-1] == 15
    assert all(pause <= 4 for pause, at in zip(pauses, tried, strict=False) if at < 60)
    while time.now < 1000 + tried[-1] + 15:
        time.sleep(1)
    assert attempts.connected(connect, None) == "connected"
