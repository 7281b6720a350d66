"""Records every hook that machines run, and checks the order that charms rely on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Frame = Mapping[str, Any]
_RELATION = ("created", "joined", "changed", "departed", "broken")


@dataclass(frozen=True)
class Hook:
    """A hook, as it is named to the charm."""

    unit: str
    name: str
    kind: str = ""  # of a relation hook: created, joined, ...
    relation: int = -1
    remote: str = ""

    @classmethod
    def of(cls, frame: Frame) -> Hook:
        about = frame["context"]["relation"]
        name = str(frame["hook"])
        if about is None:
            return cls(frame["unit"], name)
        kind = name.rpartition("-")[2]
        assert kind in _RELATION, name
        return cls(frame["unit"], name, kind, about["id"], about["remote_unit"])


@dataclass
class Track:
    """What a unit knows of one relation."""

    created: bool = False
    members: list[str] = field(default_factory=list)
    pending: str = ""


class Witness:
    """Checks each hook when it begins, and records it when it is committed.

    Attributes:
        story: All events, for the report of a failure.
        tracks: (unit, relation) -> what the unit knows.
        done: Unit -> hooks that were committed.
        late: True when hooks may begin long after their decision, so that leadership may be lost as in Juju.
        wrote: (relation, entity) -> settings that committed hooks wrote since the entity entered.
    """

    def __init__(self) -> None:
        self.story: list[str] = []
        self.tracks: dict[tuple[str, int], Track] = {}
        self.done: dict[str, list[str]] = {}
        self.wrote: dict[tuple[int, str], dict[str, str]] = {}
        self.hooks = 0
        self.late = False
        self._failed: dict[str, Hook] = {}
        self._sent: dict[str, tuple[Frame, dict[str, Any]]] = {}

    # --- what happens -------------------------------------------------------------------------------------

    def began(self, frame: Frame) -> Hook:
        """Check that a hook may run now."""
        hook = Hook.of(frame)
        self.hooks += 1
        failed = self._failed.pop(hook.unit, None)
        if failed is not None and failed != hook:
            self._over(failed)  # `resolved --no-retry` skipped the hook
        self.story.append(f"{hook.unit} {hook.name} {hook.relation} {hook.remote}")
        self._check_life(hook)
        if hook.kind:
            self._check_relation(hook, frame)
        if hook.name == "leader-elected" and not self.late:
            assert frame["context"]["leader"], hook
        return hook

    def sent(self, frame: Frame, result: dict[str, Any]) -> None:
        """Record the result of a hook or an action before the controller has it."""
        self._sent[frame["id"]] = (frame, result)

    def committed(self, operation: str, outcome: str, unit: str) -> None:
        """Record the committed result of an operation; `unit` is empty when the unit was removed."""
        found = self._sent.pop(operation, None)
        if found is None or not outcome:
            return
        frame, result = found
        if frame["kind"] == "hook":
            hook = Hook.of(frame)
            assert hook.unit == unit
            if outcome in ("failed", "terminated"):
                self.story.append(f"  {outcome} {hook.unit} {hook.name}")
                self._failed[hook.unit] = hook
                return
            self._over(hook)
        for relation, bags in result.get("writes", {}).get("relations", {}).items():
            for side, entity in (("unit", unit), ("app", unit.partition("/")[0])):
                self.wrote.setdefault((int(relation), entity), {}).update(bags.get(side, {}))

    def _over(self, hook: Hook) -> None:
        self.done.setdefault(hook.unit, []).append(hook.name)
        if not hook.kind:
            return
        track = self.tracks.setdefault((hook.unit, hook.relation), Track())
        match hook.kind:
            case "created":
                track.created = True
                self.wrote.pop((hook.relation, hook.unit), None)
            case "joined":
                track.members.append(hook.remote)
                track.pending = hook.remote
            case "changed" if hook.remote:
                track.pending = ""
            case "departed":
                track.members.remove(hook.remote)
            case "broken":
                track.created = False

    def _ended(self, unit: str) -> list[str]:
        """Return hooks of a plan that succeeded and whose result the controller does not have yet."""
        return [
            str(frame["hook"])
            for frame, result in self._sent.values()
            if frame["unit"] == unit and "then" in frame and result.get("outcome", "ok") == "ok"
        ]

    # --- what may follow what -----------------------------------------------------------------------------

    def _check_life(self, hook: Hook) -> None:
        done = [*self.done.get(hook.unit, []), *self._ended(hook.unit)]
        assert "remove" not in done, f"{hook} after remove"
        if hook.name == "install":
            assert "install" not in done, f"{hook} twice"
            return
        assert done[:1] == ["install"], f"{hook} before install"
        if hook.name == "config-changed":
            return
        if hook.name == "start":
            assert "config-changed" in done, f"{hook} before config-changed"
        if done[-1] == "upgrade-charm":
            raise AssertionError(f"{hook} directly after upgrade-charm")
        if done[-1] == "config-changed" and "start" not in done:
            assert hook.name == "start", f"{hook} between config-changed and start"
        if hook.name == "stop":
            assert "start" in done, f"{hook} without start"
        if hook.name == "remove":
            assert "start" not in done or done[-1] == "stop", f"{hook} without stop"
        elif "stop" in done:
            raise AssertionError(f"{hook} after stop")

    def _check_relation(self, hook: Hook, frame: Frame) -> None:
        track = self.tracks.setdefault((hook.unit, hook.relation), Track())
        peer = frame["context"]["relations"][str(hook.relation)]["role"] == "peer"
        if hook.kind == "created":
            assert not track.created, f"{hook} twice"
            assert not track.members, f"{hook} with members"
            return
        assert track.created, f"{hook} before created"
        if track.pending:
            assert (hook.kind, hook.remote) == ("changed", track.pending), f"{hook} before changed"
            return
        match hook.kind:
            case "joined":
                assert hook.remote not in track.members, f"{hook} twice"
            case "changed" if hook.remote:
                assert hook.remote in track.members, f"{hook} of a stranger"
            case "departed":
                assert hook.remote in track.members, f"{hook} of a stranger"
                departing = frame["env"]["JUJU_DEPARTING_UNIT"]
                assert departing in (hook.unit, hook.remote), f"{hook}: {departing} departs"
            case "broken":
                assert not peer, f"{hook} of a peer relation"
                assert not track.members, f"{hook} with members"
        self._check_members(hook, track, frame)

    def _check_members(self, hook: Hook, track: Track, frame: Frame) -> None:
        """Check the members in relation-list against what the unit knows."""
        wanted = set(track.members)
        if hook.kind == "joined":
            wanted.add(hook.remote)
        if hook.kind == "departed":
            wanted.discard(hook.remote)
            bags = frame["context"]["relations"][str(hook.relation)]["unit_bags"]
            assert hook.remote in bags, f"{hook}: its settings are gone"
        assert frame["context"]["relations"][str(hook.relation)]["members"] == sorted(wanted), hook
