"""The host keys of a model's machines: in a file beside a file's store, else in the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from pushjuju.core.values import dataclass
from pushjuju.runner.ssh.hostkeys import HostKeyFile, normal
from pushjuju.runner.target import HostKeys
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.db import Store
from pushjuju.store.files.known_hosts import entries, texts
from pushjuju.store.files.private import private_dir, replace_text
from pushjuju.store.tx import Tx


def of(ctx: Context, model: str) -> HostKeys:
    if isinstance(ctx.store.place, str):
        return StoredHostKeys(ctx.store, model)
    return HostKeyFile(ctx.controller.known_hosts(model))


@dataclass(frozen=True, slots=True)
class StoredHostKeys:
    """Host keys in a store that several hosts use; two hosts cannot accept two first keys of one machine."""

    # two values with different handles of one store are equal, as they name the same keys
    store: Store = field(compare=False)
    model: str

    def find(self, name: str, *, word: str = "") -> list[str]:
        """Return the keys known under a name; with `word`, only those that a user accepted."""
        with self.store.read() as tx:
            rows = tx.rows("host_key_of", model=self.model, name=name)
        return [row["key"] for row in rows if not word or row["accepted"]]

    def add(self, name: str, key: str) -> None:
        with self.store.write(self.model) as tx:
            tx.run("host_key_add", model=self.model, name=name, key=normal(key), accepted=False)

    def accept(self, name: str, key: str) -> list[str]:
        with self.store.write(self.model) as tx:
            known = [row["key"] for row in tx.rows("host_key_of", model=self.model, name=name)]
            if not known:
                tx.run("host_key_add", model=self.model, name=name, key=normal(key), accepted=False)
        return known or [normal(key)]

    def remove(self, name: str) -> None:
        with self.store.write(self.model) as tx:
            tx.run("host_key_remove", model=self.model, name=name)

    def how_to_forget(self, name: str) -> str:
        where = f"WHERE model = '{self.model}' AND name = '{name}'"
        return self._psql(f"DELETE FROM pushjuju.host_key {where}")  # noqa: S608 - for people

    def how_to_accept(self, name: str, key: str) -> str:
        values = f"('{self.model}', '{name}', '{normal(key)}', 1)"
        columns = "(model, name, key, accepted)"
        return self._psql(f"INSERT INTO pushjuju.host_key {columns} VALUES {values}")  # noqa: S608 - the same

    def _psql(self, statement: str) -> str:
        return f"psql '{self.store.place}' -c \"{statement}\""


@contextmanager
def as_file(ctx: Context, model: str) -> Iterator[Path]:
    """Yield a known_hosts file for OpenSSH; first keys that OpenSSH accepts meanwhile are kept."""
    path = ctx.controller.known_hosts(model)
    if isinstance(ctx.store.place, Path):
        yield path
        return
    with ctx.store.read() as tx:
        text = texts(tx.rows("host_key_all")).get(model, "")
    private_dir(path.parent)
    replace_text(path, text)
    try:
        yield path
    finally:
        if (now := path.read_text()) != text:
            with ctx.store.write(model) as tx:
                take_in(tx, model, now)


def take_in(tx: Tx, model: str, text: str) -> None:
    """Add the keys of a known_hosts file whose machines the store has no key of yet."""
    known = {row["name"] for row in tx.rows("host_key_all") if row["model"] == model}
    for found in entries(text):
        if found.name not in known:
            tx.run("host_key_add", model=model, name=found.name, key=found.key, accepted=found.accepted)
