"""Traces: what is in spans, where they go, and that the work never waits for them."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju import __version__
from pushjuju.core.charmstore import Ask, StoreCharm
from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.plugins.api.sources import SourceServices
from pushjuju.plugins.sources.charmhub import Charmhub
from pushjuju.workers import background, otlp, serving, spans, traced
from pushjuju.workers.spans import Place, Span
from tests.charms_tools.hubstore import HubStore
from tests.clouds.certificates import certificate as certificate  # noqa: PLC0414 - a fixture
from tests.clouds.certificates import public as public  # noqa: PLC0414 - a fixture
from tests.waiting import comes
from tests.world import otlp_rules
from tests.world.charm_trees import charm_tree
from tests.world.charms import Charms
from tests.world.played_home import PlayedHome
from tests.world.span_receiver import SpanReceiver, span_receiver, values

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
HEADER = f"00-{TRACE}-{PARENT}-01"
SECRET = "telltale-3f9c"


@pytest.fixture
def collector() -> Iterator[SpanReceiver]:
    with span_receiver() as found:
        yield found


@pytest.fixture
def home(tmp_path: Path) -> PlayedHome:
    """A home with a model and the charm `web`."""
    text = "name: web\nsummary: s\ndescription: d\nseries: [noble]\npeers: {ring: {interface: ring}}\n"
    files = {
        "config.yaml": "options: {title: {type: string}}\n",
        "actions.yaml": "back-up: {params: {password: {type: string}}}\n",
    }
    charm_tree(tmp_path / "web", files, text)
    made = PlayedHome(tmp_path)
    ran(made, "bootstrap", "local", "home", "--add-model", "shop")
    return made


def ran(home: PlayedHome, *words: str, status: int = 0) -> str:
    ended = home(*words)
    assert ended.status == status, ended.err
    return ended.err


def deploy(home: PlayedHome, *more: str) -> str:
    return ran(home, "deploy", str(home.folder / "web"), "--config", f"title={SECRET}", *more)


def test_a_command_that_only_reads_names_its_controller(home: PlayedHome, collector: SpanReceiver) -> None:
    deploy(home)
    home.env = dict(collector.env)
    ran(home, "status")
    (resource,) = collector.resources
    assert resource["service.instance.id"] == home.ctx.controller.settings()["uuid"]


def test_a_command_its_contact_and_the_hooks_are_one_trace(home: PlayedHome, collector: SpanReceiver) -> None:
    home.env = {**collector.env, "TRACEPARENT": HEADER}
    deploy(home)
    (command,), (contact,) = collector.named("pushjuju deploy"), collector.named("contact")
    assert {span["traceId"] for span in collector.spans} == {TRACE}
    assert (command["parentSpanId"], contact["parentSpanId"]) == (PARENT, command["spanId"])
    hooks = [span for span in collector.spans if span["name"].startswith("hook ")]
    names = [span["name"].removeprefix("hook ") for span in hooks]
    assert names == ["install", "relation-created", "leader-elected", "config-changed", "start"]
    assert {span["parentSpanId"] for span in hooks} == {contact["spanId"]}
    steps = Counter(span["name"] for span in collector.spans if span["name"] in ("decide", "commit"))
    assert steps["commit"] == len(hooks) + 1  # and the charm's arrival
    assert steps["decide"] >= 1
    assert {span["parentSpanId"] for span in collector.named("commit")} == {contact["spanId"]}
    committed = [values(span) for span in collector.named("commit")]
    assert {span["kind"] for span in collector.named("commit")} == {spans.INTERNAL}
    assert {said["pushjuju.model.uuid"] for said in committed} == {values(contact)["pushjuju.model.uuid"]}
    assert {said["pushjuju.unit"] for said in committed} == {"web/0"}
    assert all(said["pushjuju.changes"] >= 0 for said in committed)
    decided = [values(span) for span in collector.named("decide")]
    assert {said["pushjuju.model.uuid"] for said in decided} == {values(contact)["pushjuju.model.uuid"]}
    assert {said["pushjuju.decision"] for said in decided} <= {"run", "idle", "waiting"}
    assert "nothing to do" in {said.get("pushjuju.reason") for said in decided}
    assert collector.paths == ["/v1/traces"]
    shown = values(contact)
    assert shown.pop("server.address") == home.played_machines["0"].address
    assert shown == {
        "server.port": 22, "network.transport": "tcp", "pushjuju.model.uuid": shown["pushjuju.model.uuid"],
        "pushjuju.machine": "0", "pushjuju.contact.reused": False,
    }  # fmt: skip
    of_hook = values(hooks[1])
    assert (of_hook["pushjuju.unit"], of_hook["pushjuju.hook"]) == ("web/0", "ring-relation-created")
    (arrived,) = collector.named("deploy")
    assert {values(span)["pushjuju.charm.url"] for span in (arrived, *hooks)} == {"local:web-0"}
    assert values(command)["process.exit.code"] == 0
    (resource,) = collector.resources
    assert resource["service.name"] == "pushjuju"
    assert resource["service.instance.id"] == home.ctx.controller.settings()["uuid"]
    for span in collector.spans:
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])


def test_requests_to_a_charm_store_are_spans_without_login_and_query(
    collector: SpanReceiver, hub: HubStore, packs: Charms, tmp_path: Path
) -> None:
    hub.add("web", packs.make("web").path, revision=3)
    hub.fail("refresh", "503", 1)
    store = Charmhub(hub.url, SourceServices(sleep=lambda _seconds: None))
    traces = traced.open_traces(collector.env, pytest.fail)
    assert traces is not None
    with traces.recording():
        (found,) = store.resolve([Ask(name="web")])
        assert isinstance(found, StoreCharm)
        wanted = replace(found.download, url=f"{found.download.url}?token={SECRET}")
        store.http.file(wanted, tmp_path / "web.charm", "charm")
    (command,) = collector.named("pushjuju")
    found_spans = [span for span in collector.spans if span["name"].startswith("store ")]
    busy, *asked, fetched = found_spans
    refresh = {"http.request.method": "POST", "url.full": f"{hub.url}/v2/charms/refresh"}
    assert values(busy) == {**refresh, "http.response.status_code": 503, "error.type": "503"}
    assert asked
    assert all(values(span) == {**refresh, "http.response.status_code": 200} for span in asked)
    assert (fetched["name"], values(fetched)["url.full"]) == ("store GET", found.download.url)
    assert {(span["kind"], span["parentSpanId"]) for span in found_spans} == {
        (spans.CLIENT, command["spanId"])
    }
    assert busy["status"] == {"code": 2}
    assert SECRET not in str(collector.spans)


def test_a_reboot_and_a_signal_are_events_of_the_hook(home: PlayedHome, collector: SpanReceiver) -> None:
    ends: dict[str, Mapping[str, Any]] = {
        "install": {"reboot": "after"}, "start": {"outcome": "failed", "signal": 9, "exit": None},
    }  # fmt: skip
    home.env = collector.env
    home.does = lambda frame: ends.get(frame["hook"], {})
    ran(home, "deploy", str(home.folder / "web"), status=1)
    (install,), (start, *_) = collector.named("hook install"), collector.named("hook start")
    (rebooted,), (killed,) = install["events"], start["events"]
    assert (rebooted["name"], rebooted["timeUnixNano"]) == ("reboot", install["endTimeUnixNano"])
    assert (killed["name"], values(killed)) == ("signal", {"pushjuju.signal": 9})


def test_a_collector_finds_no_mistake_in_a_request(home: PlayedHome, collector: SpanReceiver) -> None:
    odd = os.fsdecode(b"a=\xff,b=%ff")
    home.env = {**collector.env, "TRACEPARENT": HEADER, "OTEL_RESOURCE_ATTRIBUTES": odd}
    home.does = lambda frame: {"outcome": "failed", "exit": 3} if frame["hook"] == "start" else {}
    assert "WARNING" not in ran(home, "deploy", str(home.folder / "web"), status=1)
    read = [one for body in collector.bodies for one in otlp_rules.read(body)]
    assert [one.name for one in read] == [span["name"] for span in collector.spans]
    assert {"pushjuju deploy", "contact", "hook start"} <= {one.name for one in read}
    own = {one.span_id.hex() for one in read}
    assert {one.parent_span_id.hex() for one in read} - own == {PARENT}
    assert {one.status.code for one in read if one.name == "hook start"} == {otlp_rules.ERROR}


async def test_the_calls_of_a_provider_are_spans(collector: SpanReceiver) -> None:
    class Cloud:
        name = "sky"

        async def start(self, number: int) -> int:
            return number

        async def stop(self) -> None:
            raise ProviderError(SECRET)

        def title(self) -> str:
            return self.name

    traces = traced.open_traces(collector.env, pytest.fail)
    assert traces is not None
    cloud: Any = traces.calls(Cloud())
    with traces.recording():
        assert (isinstance(cloud, Cloud), cloud.title(), cloud.name) == (True, "sky", "sky")
        assert await cloud.start(7) == 7
        with pytest.raises(ProviderError):
            await cloud.stop()
        with pytest.raises(AttributeError):
            cloud.nothing  # noqa: B018 - is not there
    (command,) = collector.named("pushjuju")
    (start,), (stop,) = collector.named("provider start"), collector.named("provider stop")
    assert (start["parentSpanId"], start["kind"]) == (command["spanId"], spans.CLIENT)
    assert values(start) == {}
    assert values(stop) == {"error.type": "provider"}
    assert SECRET not in str(collector.spans)


def test_spans_have_no_argument_no_value_and_no_text_of_a_machine(
    home: PlayedHome, collector: SpanReceiver
) -> None:
    home.env = collector.env
    home.does = lambda frame: {
        "writes": {"relations": {"0": {"web/0": {"password": SECRET}}}} if frame["hook"] == "start" else {},
        "message": SECRET,
    }
    deploy(home)
    ran(home, "config", "web", f"title=other-{SECRET}")
    ran(home, "run", "web/0", "back-up", f"password={SECRET}")
    ran(home, "exec", "--unit", "web/0", f"echo {SECRET}")
    ran(home, "add-secret", "key", f"value={SECRET}")
    names = {span["name"] for span in collector.spans}
    assert {"hook config-changed", "action back-up", "commands", "pushjuju add-secret"} <= names
    assert SECRET.encode() not in b"".join(collector.bodies)


def test_failures_are_marked_by_their_type(home: PlayedHome, collector: SpanReceiver) -> None:
    home.env = collector.env
    home.does = lambda frame: {"outcome": "failed", "exit": 3, "message": SECRET}
    words = ("deploy", str(home.folder / "web"))
    ran(home, *words, status=1)
    (hook,), (command,) = collector.named("hook install"), collector.named("pushjuju deploy")
    assert (values(hook)["error.type"], values(hook)["process.exit.code"]) == ("failed", 3)
    assert hook["status"] == command["status"] == {"code": 2}
    assert values(command)["error.type"] == "1"


def test_hooks_have_the_machines_times_moved_to_the_clock_of_this_computer(
    home: PlayedHome, collector: SpanReceiver
) -> None:
    times = {"install": (1000.0, 1000.2), "config-changed": (1000.3, 1000.4), "start": (-5.0, 5.0)}
    home.env = collector.env
    home.does = lambda frame: dict(zip(("started", "ended"), times.get(frame["hook"], (0, 0)), strict=True))
    before = time.time_ns()
    deploy(home)
    after = time.time_ns()
    moments = {}
    for name in times:
        (span,) = collector.named(f"hook {name}")
        moments[name] = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
    lengths = {name: round((ended - begun) / 1e9, 3) for name, (begun, ended) in moments.items()}
    assert lengths == {"install": 0.2, "config-changed": 0.1, "start": 0}
    assert all(before <= ended <= after for _, ended in moments.values())


def test_calls_of_hook_tools_are_spans_within_their_hook(home: PlayedHome, collector: SpanReceiver) -> None:
    calls = [
        ["status-set", 50_000, 20_000, 0],
        ["config-get", 190_000, 10**9, 1],
        [SECRET, 1, 1, 0],
        ["state-get", -1, 1, 0],
        "leader-get",
    ]
    times = {"started": 1000.0, "ended": 1000.2, "timed": {"calls": calls, "more": 7}}
    home.env = collector.env
    home.does = lambda frame: times if frame["hook"] == "install" and frame["timed"] else {}
    deploy(home)
    (hook,), (start,) = collector.named("hook install"), collector.named("hook start")
    assert values(hook)["pushjuju.tools.left_out"] == 7
    assert "pushjuju.tools.left_out" not in values(start)
    tools = [span for span in collector.spans if span["name"].startswith("tool ")]
    assert [(span["name"], values(span)) for span in tools] == [
        ("tool status-set", {"process.exit.code": 0}),
        ("tool config-get", {"process.exit.code": 1, "error.type": "failed"}),
    ]
    assert {span["parentSpanId"] for span in tools} == {hook["spanId"]}
    begun = int(hook["startTimeUnixNano"])
    moments = [[int(span[f"{end}TimeUnixNano"]) - begun for end in ("start", "end")] for span in tools]
    assert moments == [[50_000_000, 70_000_000], [190_000_000, 200_000_000]]


@pytest.mark.parametrize("sampled", [True, False])
def test_only_a_trace_that_is_kept_asks_for_the_times_of_hook_tools(
    home: PlayedHome, collector: SpanReceiver, *, sampled: bool
) -> None:
    frames: list[Mapping[str, Any]] = []
    home.does = lambda frame: frames.append(frame) or {}  # type: ignore[func-returns-value]
    deploy(home)
    assert frames
    assert not any("timed" in frame for frame in frames)
    home.env = {**collector.env, "OTEL_TRACES_SAMPLER": "always_on" if sampled else "always_off"}
    frames.clear()
    ran(home, "config", "web", "title=new")
    assert [frame.get("timed", False) for frame in frames] == [sampled]


def test_work_in_the_background_belongs_to_the_command_and_each_contact_begins_a_trace(
    home: PlayedHome, collector: SpanReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Mapping[str, str]] = []
    monkeypatch.setattr(background, "ensure", lambda _controller, _data, environ: given.append(environ))
    monkeypatch.setattr(serving, "LINGER_S", 0.0)
    home.env = collector.env
    deploy(home, "--no-wait")
    (command,) = collector.spans
    home.env = given[0]
    ran(home, "controller", "run", "--until-idle")
    (process,), contacts = collector.named("pushjuju controller"), collector.named("contact")
    assert process["parentSpanId"] == command["spanId"]
    assert contacts
    for contact in contacts:
        assert contact["traceId"] != command["traceId"]
        assert contact["links"] == [{"traceId": command["traceId"], "spanId": command["spanId"]}]
    traces = {contact["traceId"] for contact in contacts}
    assert {span["traceId"] for span in collector.spans if "hook" in span["name"]} <= traces


def linked(span: dict[str, Any]) -> list[str]:
    return [link["spanId"] for link in span["links"]]


def test_later_work_of_another_process_is_linked_to_the_command_that_asked_for_it(
    home: PlayedHome, collector: SpanReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "ensure", lambda *_: None)
    monkeypatch.setattr(serving, "LINGER_S", 0.0)
    home.env = collector.env
    deploy(home, "-n", "2", "--no-wait")
    ran(home, "controller", "run", "--until-idle")
    (asking,), contacts = collector.named("pushjuju deploy"), collector.named("contact")
    assert len(contacts) > 1  # both units, and the hooks of the one that sees the other
    assert {*map(tuple, map(linked, contacts))} == {(asking["spanId"],)}
    collector.bodies.clear()
    ran(home, "config", "web", "title=other", "--no-wait")
    (asking,) = collector.named("pushjuju config")
    home.env = {}
    ran(home, "status")
    home.env = collector.env
    ran(home, "update-status")
    (working,), contacts = collector.named("pushjuju update-status"), collector.named("contact")
    assert contacts
    assert {contact["parentSpanId"] for contact in contacts} == {working["spanId"]}
    assert {*map(tuple, map(linked, contacts))} == {(asking["spanId"],)}


def test_work_that_is_done_is_linked_to_nothing_later(home: PlayedHome, collector: SpanReceiver) -> None:
    home.env = collector.env
    deploy(home)
    ran(home, "config", "web", "title=other")
    assert not any(map(linked, collector.spans))


def test_nothing_of_a_trace_is_sent_to_a_machine(home: PlayedHome, collector: SpanReceiver) -> None:
    frames: list[Mapping[str, Any]] = []
    home.env = {**collector.env, "TRACEPARENT": HEADER}
    home.does = lambda frame: frames.append(frame) or {}  # type: ignore[func-returns-value]
    deploy(home)
    assert frames
    assert "TRACEPARENT" not in str(frames)
    assert TRACE not in str(frames)


def test_a_collector_that_is_down_costs_one_warning(home: PlayedHome) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
        home.env = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://name:{SECRET}@{place}"}
        told = deploy(home)
    (line,) = [line for line in told.splitlines() if "WARNING" in line]
    assert line == f"WARNING traces: 17 spans are lost: http://{place}: Connection refused"
    assert ran(home, "status") == f"WARNING traces: 1 span is lost: http://{place}: Connection refused\n"


def test_a_collector_that_does_not_answer_is_left_after_a_short_time(
    home: PlayedHome, collector: SpanReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp, "END_S", 0.1)
    collector.silent = True
    home.env = collector.env
    begun = time.monotonic()
    assert f"spans are lost: {collector.address}: no answer within 0.1 s" in deploy(home)
    assert time.monotonic() - begun < 10


def test_many_spans_are_sent_before_too_many_wait(
    collector: SpanReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp, "EVERY_S", 3600.0)
    to = otlp.target(collector.env)
    assert to is not None
    sender = otlp.Sender(to, asked)
    for _ in range(otlp.BATCH):
        sender.put(span("x"))
    comes(lambda: len(collector.spans) == otlp.BATCH)
    sender.close()
    assert sender.lost == 0


def test_what_waits_is_limited_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp, "MOST", 3)
    to = otlp.target({"PUSHJUJU_TRACE_FILE": "/nowhere/traces"})
    assert to is not None
    sender = otlp.Sender(to, asked)
    for _ in range(10):
        sender.put(span("x"))
    sender.close()
    assert (sender.lost, sender.error) == (10, "/nowhere/traces: No such file or directory")


def span(name: str) -> Span:
    return Span(name=name, place=spans.place_below(None, {}), ended=time.time_ns() + 10**9)


def asked(batch: Iterable[Span]) -> Mapping[str, Any]:
    return spans.request({"service.name": "x"}, batch)


def sent(collector: SpanReceiver, number: int = 1, **env: str) -> otlp.Sender:
    """Return a sender that has sent spans and is closed."""
    to = otlp.target({**collector.env, **env})
    assert to is not None
    sender = otlp.Sender(to, asked)
    for _ in range(number):
        sender.put(span("x"))
    sender.close()
    return sender


def test_spans_that_a_collector_refuses_are_lost_and_its_reason_is_told(
    home: PlayedHome, collector: SpanReceiver
) -> None:
    home.env = collector.env
    collector.said = b'{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no room"}}'
    told = ran(home, "status")
    assert f"WARNING traces: 1 span is lost: {collector.address} refused spans: no room\n" in told
    assert len(collector.bodies) == 1, "what was refused is not sent again"


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        (b'{"partialSuccess":{"rejectedSpans":2}}', 2),
        (b'{"partialSuccess":{"rejectedSpans":"9"}}', 3),
        (b'{"partialSuccess":{"rejectedSpans":0,"errorMessage":"spans without an owner"}}', 0),
        (b'{"partialSuccess":{"rejectedSpans":[-1]}}', 0),
        (b'{"partialSuccess":7}', 0),
        (b"[]", 0),
        (b"<html>", 0),
        (b"\xff" * 70_000, 0),
    ],
)
def test_only_a_number_of_refused_spans_counts_in_an_answer(
    collector: SpanReceiver, said: bytes, lost: int
) -> None:
    collector.said = said
    assert sent(collector, 3).lost == lost
    assert len(collector.spans) == 3


def test_a_collector_that_asks_for_a_pause_gets_the_pause(
    collector: SpanReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp, "EVERY_S", 0.01)
    collector.answers, collector.back = [429], {"Retry-After": "1"}
    to = otlp.target(collector.env)
    assert to is not None
    sender = otlp.Sender(to, asked)
    sender.put(span("x"))
    comes(lambda: len(collector.paths) == 1)
    begun = time.monotonic()
    comes(lambda: len(collector.spans) == 1)
    assert time.monotonic() - begun > 0.9
    sender.close()
    assert (sender.lost, sender.error) == (0, "")


def test_requests_are_packed_when_the_environment_asks_for_it(collector: SpanReceiver) -> None:
    assert sent(collector, 3, OTEL_EXPORTER_OTLP_COMPRESSION="gzip").lost == 0
    (headers,) = collector.headers
    assert (headers["Content-Encoding"], headers["Content-Type"]) == ("gzip", "application/json")
    assert headers["User-Agent"] == f"pushjuju/{__version__}"
    assert len(collector.spans) == 3


@pytest.mark.parametrize(("status", "lost", "kept"), [(503, 0, 3), (302, 2, 1), (401, 2, 1)])
def test_only_what_may_work_later_is_sent_again(
    collector: SpanReceiver, monkeypatch: pytest.MonkeyPatch, status: int, lost: int, kept: int
) -> None:
    monkeypatch.setattr(otlp, "EVERY_S", 0.0)
    collector.answers = [status]
    to = otlp.target({**collector.env, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abc"})
    assert to is not None
    sender = otlp.Sender(to, asked)
    sender._waiting.append(span("x"))
    sender.put(span("x"))
    while not collector.paths:
        time.sleep(0.001)
    sender.put(span("y"))
    sender.close()
    assert (sender.lost, len(collector.spans)) == (lost, kept)
    assert set(collector.paths) == {"/v1/traces"}, "a redirect is not followed"
    assert {item["authorization"] for item in collector.headers} == {"Bearer abc"}


def test_a_collector_with_tls_needs_a_certificate_that_is_known(home: PlayedHome, certificate: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with span_receiver(tls) as collector:
        home.env = collector.env
        assert "1 span is lost" in ran(home, "status")
        assert not collector.spans
        home.env = {**collector.env, "OTEL_EXPORTER_OTLP_CERTIFICATE": str(certificate)}
        assert "WARNING" not in ran(home, "status")
        assert len(collector.named("pushjuju status")) == 1


def test_a_collector_may_demand_a_certificate_of_the_client(
    home: PlayedHome, certificate: Path, public: str, tmp_path: Path
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    tls.load_verify_locations(certificate)
    tls.verify_mode = ssl.CERT_REQUIRED
    own, key, locked = tmp_path / "own.pem", tmp_path / "own.key", tmp_path / "locked.key"
    own.write_text(public)
    key.write_text(certificate.read_text().removesuffix(public))
    lock = ["openssl", "pkcs8", "-topk8", "-passout", "pass:x", "-in", str(key), "-out", str(locked)]
    subprocess.run(lock, check=True)
    with span_receiver(tls) as collector:
        home.env = {**collector.env, "OTEL_EXPORTER_OTLP_CERTIFICATE": str(certificate)}
        assert "1 span is lost" in ran(home, "status")
        home.env["OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"] = str(own)
        home.env["OTEL_EXPORTER_OTLP_CLIENT_KEY"] = str(locked)
        assert "1 span is lost" in ran(home, "status"), "nobody is asked for a password"
        assert not collector.spans
        home.env["OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY"] = str(key)
        assert "WARNING" not in ran(home, "status")
        assert len(collector.named("pushjuju status")) == 1


def test_a_file_gets_a_line_for_each_request(home: PlayedHome) -> None:
    file = home.folder / "traces.jsonl"
    home.env = {"PUSHJUJU_TRACE_FILE": str(file)}
    ran(home, "models")
    ran(home, "status")
    found = [json.loads(line)["resourceSpans"][0] for line in file.read_text().splitlines()]
    names = [item["scopeSpans"][0]["spans"][0]["name"] for item in found]
    assert names == ["pushjuju models", "pushjuju status"]
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("env", "why"),
    [
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, 'OTLP_PROTOCOL is "grpc", supported is http/json'),
        ({"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc"}, 'OTLP_TRACES_PROTOCOL is "grpc", supported is'),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"}, "is not an address like"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[::1"}, "OTLP_ENDPOINT is not an address like"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://a:99999"}, "TRACES_ENDPOINT is not an address like"),
        ({"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}, "is not a number of milliseconds"),
        ({"OTEL_EXPORTER_OTLP_HEADERS": "a b=c"}, "OTLP_HEADERS is not a list like name=value,name=value"),
        ({"OTEL_EXPORTER_OTLP_HEADERS": "a=%0Ac"}, "OTLP_HEADERS is not a list like"),
        ({"OTEL_EXPORTER_OTLP_CERTIFICATE": "/no/ca.pem"}, "OTLP_CERTIFICATE: /no/ca.pem is no file"),
        ({"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "/no"}, "OTLP_CLIENT_CERTIFICATE: /no is no file"),
        ({"OTEL_EXPORTER_OTLP_CLIENT_KEY": __file__}, "OTLP_CLIENT_KEY is set without a client certificate"),
        ({"OTEL_EXPORTER_OTLP_COMPRESSION": "lz4"}, 'COMPRESSION is "lz4", supported is none or gzip'),
    ],
)
def test_a_mistake_in_the_environment_is_a_warning(home: PlayedHome, env: dict[str, str], why: str) -> None:
    home.env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", **env}
    assert why in ran(home, "status")
    with pytest.raises(NotValid, match="OTEL_EXPORTER_OTLP"):
        otlp.target(home.env)


@pytest.mark.parametrize(
    ("env", "why"),
    [
        (
            {"OTEL_TRACES_SAMPLER": "always_of"},
            'SAMPLER is "always_of", supported are always_on, always_off, ',
        ),
        (
            {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "much"},
            "SAMPLER_ARG is not a number from 0 to 1",
        ),
        (
            {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "50"},
            "SAMPLER_ARG is not a number from 0 to 1",
        ),
    ],
)
def test_an_unknown_sampler_is_a_warning_and_keeps_all_traces(
    home: PlayedHome, collector: SpanReceiver, env: dict[str, str], why: str
) -> None:
    home.env = {**collector.env, **env}
    assert f"all traces are kept: OTEL_TRACES_{why}" in ran(home, "status")
    assert len(collector.named("pushjuju status")) == 1


def test_the_environment_switches_off_samples_and_names(home: PlayedHome, collector: SpanReceiver) -> None:
    for off in (
        {"OTEL_SDK_DISABLED": "true"},
        {"OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_TRACES_SAMPLER": "always_off"},
        {"TRACEPARENT": HEADER.removesuffix("01") + "00"},
    ):
        home.env = {**collector.env, **off}
        ran(home, "status")
    assert collector.bodies == []
    named = {"OTEL_SERVICE_NAME": "lab", "OTEL_RESOURCE_ATTRIBUTES": "env=a%20b,service.name=x"}
    home.env = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{collector.address}/own?x=1", **named}
    ran(home, "status")
    assert collector.paths == ["/own?x=1"]
    assert {"service.name": "lab", "env": "a b"}.items() <= collector.resources[0].items()


def test_samplers_keep_a_part_of_the_traces_and_whole_traces() -> None:
    env = {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.5"}
    roots = [spans.place_below(None, env) for _ in range(400)]
    assert 100 < sum(root.sampled for root in roots) < 300
    assert all(spans.place_below(root, env).sampled == root.sampled for root in roots)
    assert spans.place_below(None, {**env, "OTEL_TRACES_SAMPLER_ARG": "much"}).sampled


def test_headers_are_those_of_the_w3c() -> None:
    found = spans.read_header(HEADER)
    assert found == Place(trace=TRACE, span=PARENT)
    assert found.header == HEADER
    wrong = ("", "x", HEADER.upper(), f"ff{HEADER[2:]}", f"00-{'0' * 32}-{PARENT}-01", f"{HEADER}-more")
    assert [spans.read_header(text) for text in wrong] == [None] * len(wrong)


_OFF = """
import io, sys, types
from pushjuju.cli.lazy_imports import import_lazily
main = import_lazily("pushjuju.cli.app.main")
for words in (["bootstrap", "manual", "lab", "--add-model", "shop"], ["status"], ["update-status"]):
    out = io.StringIO()
    assert main.run(words, stdin=out, stdout=out, stderr=out, env={"PUSHJUJU_DATA": "data"}) == 0
names = ("traced", "spans", "otlp", "driver")
print(*[name for name in names if type(sys.modules.get(f"pushjuju.workers.{name}")) is types.ModuleType])
"""


def test_without_a_place_for_traces_nothing_of_them_is_executed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _OFF], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == ["driver"]
