"""The client of a charm store, against a stand-in: the real Charmhub is not reachable from the tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from pushjuju.charms.hub import resolve, wire
from pushjuju.core.base import Channel
from pushjuju.core.charmstore import Ask, Download, Held, HubError, Platform, StoreCharm
from pushjuju.core.errors import NotValid
from pushjuju.plugins.api.sources import SourceServices
from pushjuju.plugins.sources.charmhub import Charmhub
from pushjuju.plugins.sources.http import Http, Patience, Proxies
from tests.charms_tools.hubstore import FOCAL, JAMMY, NOBLE, HubStore
from tests.world.charms import Charms
from tests.world.clock import FakeClock

NOBLE_P, JAMMY_P, FOCAL_P = (Platform(arch=a, os=o, track=t) for a, o, t in (NOBLE, JAMMY, FOCAL))


@dataclasses.dataclass
class Bench:
    """A client whose waits are written down."""

    client: Charmhub
    waits: list[float]


@pytest.fixture
def bench(hub: HubStore) -> Bench:
    waits: list[float] = []
    clock = FakeClock()

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock.advance(seconds)

    services = SourceServices(clock=clock, random=Random(1), sleep=sleep)
    return Bench(Charmhub(hub.url + "/", services), waits)


@pytest.fixture
def archive(packs: Charms) -> bytes:
    return packs.make("web").path.read_bytes()


@pytest.fixture
def web(hub: HubStore, archive: bytes) -> HubStore:
    """`web`: 12 on noble and 11 on jammy in 14/stable, 13 on noble in 14/edge; 14 is its own track."""
    hub.add("web", archive, revision=11, channels=["14/stable"], bases=[JAMMY], version="2.1")
    hub.add("web", archive, revision=12, channels=["14/stable"], bases=[NOBLE], version="2.1")
    hub.add("web", archive, revision=13, channels=["14/edge"], bases=[NOBLE], version="2.2")
    hub.entries["web"].default_track = "14"
    return hub


def one(bench: Bench, **ask: object) -> StoreCharm:
    (found,) = bench.client.resolve([Ask(**{"name": "web", **ask})])  # type: ignore[arg-type]
    if isinstance(found, HubError):
        raise found
    return found


def refused(bench: Bench, **ask: object) -> str:
    with pytest.raises(HubError) as caught:
        one(bench, **ask)
    return caught.value.message


def test_default_channel_is_the_charms_own(bench: Bench, web: HubStore) -> None:
    found = one(bench, platform=NOBLE_P)
    assert (found.revision, str(found.channel), found.kind) == (12, "14/stable", "charm")
    assert web.asked("refresh")[0]["actions"][0]["channel"] == "stable"


def test_what_is_sent_for_a_channel(bench: Bench, web: HubStore) -> None:
    one(bench, channel=Channel.parse("14/edge"), platform=NOBLE_P)
    sent = web.asked("refresh")[0]
    assert sent["context"] == []
    (action,) = sent["actions"]
    assert action.pop("instance-key")
    assert action == {
        "action": "install",
        "name": "web",
        "channel": "14/edge",
        "base": {"architecture": "amd64", "name": "ubuntu", "channel": "24.04"},
    }
    assert "metrics" not in sent


def test_many_are_asked_at_once_and_matched_by_key(bench: Bench, web: HubStore, archive: bytes) -> None:
    web.add("db", archive, revision=3)
    found = bench.client.resolve(
        [Ask(name="web", platform=JAMMY_P), Ask(name="db", platform=NOBLE_P), Ask(name="none")]
    )
    assert [item.revision if isinstance(item, StoreCharm) else item.message for item in found] == [
        11,
        3,
        "resolving error: charm or bundle name not found",
    ]
    assert len(web.asked("refresh")) == 1


def test_without_a_base_the_stores_first_one_is_taken(bench: Bench, web: HubStore) -> None:
    found = one(bench)
    assert (found.revision, found.platform) == (11, JAMMY_P)
    assert [str(base.display) for base in found.bases] == ["ubuntu@22.04", "ubuntu@24.04"]
    first, second = web.asked("refresh")
    assert first["actions"][0]["base"] == {"architecture": "amd64", "name": "NA", "channel": "NA"}
    assert second["actions"][0]["base"]["channel"] == "22.04"


def test_bases_of_another_architecture_are_none(bench: Bench, web: HubStore) -> None:
    text = refused(bench, platform=Platform(arch="arm64"))
    assert text == 'selecting next bases: bases matching architecture "arm64" not found'


def test_a_closed_risk_falls_through_to_the_safer_one(bench: Bench, web: HubStore) -> None:
    found = one(bench, channel=Channel.parse("14/beta"), platform=JAMMY_P)
    assert (found.revision, str(found.channel)) == (11, "14/stable")


def test_latest_is_filled_in(bench: Bench, hub: HubStore, archive: bytes) -> None:
    hub.add("web", archive, revision=1, channels=["latest/edge"])
    found = one(bench, channel=Channel.parse("edge"), platform=NOBLE_P)
    assert str(found.channel) == "latest/edge"


def test_branch(bench: Bench, hub: HubStore, archive: bytes) -> None:
    hub.add("web", archive, revision=7, channels=["latest/edge/fix-1"])
    found = one(bench, channel=Channel.parse("edge/fix-1"), platform=NOBLE_P)
    assert (found.revision, str(found.channel)) == (7, "latest/edge/fix-1")
    text = refused(bench, channel=Channel.parse("edge/fix-2"), platform=NOBLE_P)
    assert text == (
        'selecting releases: ambiguous arch and series with channel "edge/fix-2", '
        "specify both arch and series along with channel"
    )


def test_a_channel_without_the_base_lists_what_there_is(bench: Bench, web: HubStore) -> None:
    text = refused(bench, channel=Channel.parse("14/stable"), platform=FOCAL_P)
    assert text == (
        'selecting releases: charm or bundle not found for channel "14/stable", base "amd64/ubuntu/20.04"\n'
        "available releases are:\n"
        '  channel "14/stable": available bases are: ubuntu@24.04, ubuntu@22.04\n'
        '  channel "14/edge": available bases are: ubuntu@24.04'
    )
    text = refused(bench, platform=FOCAL_P)
    assert text.startswith(
        "selecting releases: charm or bundle not found in the charm's default channel, "
        'base "amd64/ubuntu/20.04"\navailable'
    )


def test_by_revision(bench: Bench, web: HubStore) -> None:
    found = one(bench, revision=11, channel=Channel.parse("14/edge"))
    assert (found.revision, str(found.channel)) == (11, "14/edge")
    assert [base.display for base in found.bases] == ["ubuntu@22.04"]
    action = web.asked("refresh")[0]["actions"][0]
    assert "channel" not in action
    assert action["base"] is None
    assert refused(bench, revision=99) == "resolving error: No such revision."


def test_refresh_of_what_is_there(bench: Bench, web: HubStore) -> None:
    held = Held(id=web.entries["web"].id, revision=11, channel=Channel.parse("14/stable"), key="k")
    found = one(bench, held=held, channel=Channel.parse("14/edge"), platform=NOBLE_P)
    assert found.revision == 13
    sent = web.asked("refresh")[0]
    assert sent["context"] == [
        {
            "instance-key": "k",
            "id": held.id,
            "revision": 11,
            "base": {"architecture": "amd64", "name": "ubuntu", "channel": "24.04"},
            "tracking-channel": "14/edge",
        }
    ]
    assert sent["actions"] == [{"action": "refresh", "instance-key": "k", "id": held.id}]


def test_bases_for_all_take_what_was_asked(bench: Bench, hub: HubStore, archive: bytes) -> None:
    hub.add("web", archive, revision=1, bases=[("all", "ubuntu", "24.04")])
    assert one(bench, platform=NOBLE_P).platforms == (NOBLE_P,)


def test_instance_key_is_stable_and_tells_nothing() -> None:
    key = wire.instance_key("web", "0b0b")
    assert key == wire.instance_key("web", "0b0b") != wire.instance_key("web", "0b0c")
    assert (len(key), "web" in key) == (43, False)


def test_architecture_all_is_never_sent() -> None:
    with pytest.raises(NotValid, match='Architecture "all" not valid'):
        wire.request([("k", Ask(name="web", platform=Platform(arch="all")))])


# --- faults -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["429", "502", "503", "504"])
def test_busy_store_is_asked_again(bench: Bench, web: HubStore, how: str) -> None:
    web.fail("refresh", how, 2)
    assert one(bench, platform=NOBLE_P).revision == 12
    assert len(bench.waits) == 2
    assert 0.5 <= bench.waits[0] <= 1.5 <= 2 * bench.waits[1]


def test_retry_after_is_kept(bench: Bench, web: HubStore) -> None:
    web.fail("refresh", "429", 1, Retry_After="7")
    web.fail("refresh", "503", 1, Retry_After="Sat, 01 Mar 2025 09:00:30 GMT")
    assert one(bench, platform=NOBLE_P).revision == 12
    assert bench.waits == [7.0, 23.0]


def test_a_wait_that_is_too_long_is_not_waited(bench: Bench, web: HubStore) -> None:
    web.fail("refresh", "429", Retry_After="86400")
    assert refused(bench).startswith("the charm store has too many requests")
    assert bench.waits == []


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("503", "server error "),
        ("500", "server error "),
        ("hang-up", "cannot reach "),
        ("empty", "cannot reach "),
        ("cut", "cannot reach "),
        ("html", 'unexpected content-type from server "text/html"'),
        ("no-json", "answers without JSON"),
        ("404", "refresh not found"),
        ("error-list", "unexpected api error attempting to query charm or bundle from the charmhub store"),
    ],
)
def test_store_that_fails(bench: Bench, web: HubStore, how: str, text: str) -> None:
    web.fail("refresh", how)
    assert text in refused(bench)


def test_store_that_is_down() -> None:
    services = SourceServices(sleep=lambda _seconds: None)
    with pytest.raises(HubError, match="Connection refused") as caught:
        Charmhub("http://127.0.0.1:9", services).resolve([Ask(name="web")])
    assert caught.value.retryable


def test_redirect_is_followed_with_its_body(bench: Bench, web: HubStore) -> None:
    web.fail("refresh", "redirect", 1)
    assert one(bench, platform=NOBLE_P).revision == 12
    web.fail("download", "redirect", 1)


def test_redirect_to_a_file_is_refused(bench: Bench, web: HubStore) -> None:
    web.fail("refresh", "redirect", Location="file:///etc/passwd")
    assert "redirects, but not to a charm store" in refused(bench)


def test_silent_store_is_given_up(web: HubStore) -> None:
    web.fail("refresh", "slow", seconds=2)
    client = Http(patience=Patience(attempts=1, silence_s=0.2))
    with pytest.raises(HubError, match="timed out"):
        client.json("POST", f"{web.url}/v2/charms/refresh", wire.request([]))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"url": "file:///etc/passwd"}, "unsafe download URL"),
        ({"url": "ftp://x/y"}, "unsafe download URL"),
        ({"hash-sha-256": "xyz"}, "invalid hash"),
        ({"hash-sha-256": "", "hash-sha-384": ""}, "no hash of .*, so the file cannot be checked"),
        ({"size": "12"}, "invalid size"),
        ({"size": -1}, "invalid size"),
    ],
)
def test_downloads_that_make_no_sense(change: dict[str, object], text: str) -> None:
    good = {"url": "https://x/y", "hash-sha-256": "a" * 64, "size": 3}
    assert wire.download(good, "web", secure=True).size == 3
    with pytest.raises(HubError, match=text):
        wire.download({**good, **change}, "web", secure=False)


def test_a_safe_store_has_no_unsafe_downloads() -> None:
    given = {"url": "http://x/y", "hash-sha-256": "a" * 64}
    with pytest.raises(HubError, match="unsafe download URL"):
        wire.download(given, "web", secure=True)


@pytest.mark.parametrize(
    "change",
    [
        {"charm": None},
        {"charm": {"name": "../etc", "revision": 1}},
        {"charm": {"name": "web", "revision": True}},
        {"charm": {"name": "web", "revision": -3}},
        {"charm": {"name": "web", "revision": 2**40}},
    ],
)
def test_answers_that_make_no_sense(change: dict[str, object]) -> None:
    ask = [("k", Ask(name="web"))]
    with pytest.raises(HubError):
        wire.answers({"results": [{"instance-key": "k", **change}]}, ask, secure=False)


@pytest.mark.parametrize("document", [None, [], "x", {}, {"results": 3}, {"results": [{}, 4]}])
def test_answers_of_no_form(document: object) -> None:
    with pytest.raises(HubError):
        wire.answers(document, [("k", Ask(name="web"))], secure=False)


# --- downloads --------------------------------------------------------------------------------------------


@pytest.fixture
def wanted(bench: Bench, web: HubStore) -> Download:
    return one(bench, platform=NOBLE_P).download


def test_download_is_checked_and_kept(bench: Bench, wanted: Download, archive: bytes, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    bench.client.fetch(wanted, tmp_path / "x", "charm", lambda here, whole: told.append((here, whole)))
    assert (tmp_path / "x").read_bytes() == archive
    assert told[-1] == (len(archive), len(archive))
    assert not (tmp_path / "x.part").exists()


def test_cut_download_goes_on(
    bench: Bench, hub: HubStore, wanted: Download, archive: bytes, tmp_path: Path
) -> None:
    hub.fail("download", "cut", 2)
    bench.client.fetch(wanted, tmp_path / "x", "charm")
    assert (tmp_path / "x").read_bytes() == archive
    ranges = [range_ for kind, range_, _ in hub.requests if kind == "download"]
    half = len(archive) // 2
    assert ranges[:2] == ["", f"bytes={half}-"]
    assert len(ranges) == 3


def test_what_an_earlier_call_left_is_gone_on_with(
    bench: Bench, hub: HubStore, wanted: Download, archive: bytes, tmp_path: Path
) -> None:
    (tmp_path / "x.part").write_bytes(archive[:100])
    bench.client.fetch(wanted, tmp_path / "x", "charm")
    assert (tmp_path / "x").read_bytes() == archive
    assert [range_ for kind, range_, _ in hub.requests if kind == "download"] == ["bytes=100-"]


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("wrong", "verifying downloaded charm: detected SHA256 hash mismatch"),
        ("huge", "longer than the"),
        ("404", "archive not found"),
        ("403", "unable to locate archive \\(store API responded with status: 403\\)"),
        ("503", "server error"),
    ],
)
def test_download_that_fails(
    bench: Bench, hub: HubStore, wanted: Download, tmp_path: Path, how: str, text: str
) -> None:
    hub.fail("download", how)
    with pytest.raises(HubError, match=text):
        bench.client.fetch(wanted, tmp_path / "x", "charm")
    assert not (tmp_path / "x").exists()


def test_a_half_of_something_else_is_fetched_anew(
    bench: Bench, web: HubStore, wanted: Download, archive: bytes, tmp_path: Path
) -> None:
    """What was left of a page about a login is no reason to fail once more."""
    target = tmp_path / "web.charm"
    target.with_name("web.charm.part").write_bytes(b"<html>please")
    bench.client.fetch(wanted, target, 'charm "web"')
    assert target.read_bytes() == archive
    assert [said for kind, said, _ in web.requests if kind == "download"] == ["bytes=12-", ""]


def test_a_page_in_place_of_a_file_is_not_kept(
    bench: Bench, web: HubStore, wanted: Download, tmp_path: Path
) -> None:
    target = tmp_path / "web.charm"
    web.fail("download", "html", 1)
    with pytest.raises(HubError, match="the server has 26 bytes of it, but the store named"):
        bench.client.fetch(wanted, target, 'charm "web"')
    assert bench.waits == []
    bench.client.fetch(wanted, target, 'charm "web"')
    assert target.exists()


@pytest.mark.parametrize("how", ["401", "403", "418"])
def test_refusals_without_a_reason_are_told_with_their_status(bench: Bench, web: HubStore, how: str) -> None:
    web.fail("refresh", how)
    text = refused(bench, platform=NOBLE_P)
    assert text.startswith(f'the charm store refuses "{web.url}/v2/charms/refresh": {how}')


def test_wrong_bytes_are_not_gone_on_with(
    bench: Bench, hub: HubStore, wanted: Download, archive: bytes, tmp_path: Path
) -> None:
    hub.fail("download", "wrong", 1)
    with pytest.raises(HubError):
        bench.client.fetch(wanted, tmp_path / "x", "charm")
    bench.client.fetch(wanted, tmp_path / "x", "charm")
    assert (tmp_path / "x").read_bytes() == archive


# --- the rest ---------------------------------------------------------------------------------------------


def test_info_and_find_and_resources(bench: Bench, web: HubStore) -> None:
    web.add_resource("web", "blob", 3, b"three", "blob.txt")
    web.add_resource("web", "blob", 4, b"four", "blob.txt")
    assert bench.client.info("web")["name"] == "web"
    assert [item["name"] for item in bench.client.find("we", {"type": "charm"})] == ["web"]
    assert [(item.name, item.revision) for item in bench.client.resources("web", "blob")] == [
        ("blob", 3),
        ("blob", 4),
    ]
    with pytest.raises(HubError, match="none not found"):
        bench.client.info("none")
    with pytest.raises(HubError, match='"x" for "web" not found'):
        bench.client.resources("web", "x")


@pytest.mark.parametrize(
    ("config", "environ", "url", "proxy"),
    [
        ({}, {}, "http://hub", ""),
        ({}, {"http_proxy": "http://p:1"}, "http://hub", "http://p:1"),
        ({}, {"HTTPS_PROXY": "http://p:1"}, "https://hub", "http://p:1"),
        ({"juju-https-proxy": "http://q:1"}, {"HTTPS_PROXY": "http://p:1"}, "https://hub", "http://q:1"),
        ({"http-proxy": "http://q:1"}, {}, "http://hub", "http://q:1"),
        ({"http-proxy": "http://q:1", "no-proxy": "hub"}, {}, "http://hub", ""),
        ({"http-proxy": "http://q:1"}, {"NO_PROXY": "hub"}, "http://hub", ""),
    ],
)
def test_proxies(config: dict[str, str], environ: dict[str, str], url: str, proxy: str) -> None:
    assert Proxies.of(config, environ).for_url(url) == proxy


def test_requests_go_through_the_proxy(web: HubStore) -> None:
    services = SourceServices(config={"juju-http-proxy": web.url})
    assert Charmhub("http://hub.invalid", services).info("web")["name"] == "web"


def test_releases_are_sorted_by_track_and_risk() -> None:
    listed = [(Channel.parse(text), NOBLE_P) for text in ("edge", "14/edge", "14/stable", "stable")]
    lines = [line.partition(":")[0] for line in resolve.release_lines(listed, "amd64")]
    assert lines == [
        f'  channel "{name}"' for name in ("14/stable", "14/edge", "latest/stable", "latest/edge")
    ]


@pytest.mark.parametrize(
    ("text", "normal", "full"),
    [
        ("edge", "edge", "latest/edge"),
        ("14", "14/stable", "14/stable"),
        ("14/edge", "14/edge", "14/edge"),
        ("edge/fix", "edge/fix", "latest/edge/fix"),
        ("2.0/edge/fix", "2.0/edge/fix", "2.0/edge/fix"),
    ],
)
def test_channels(text: str, normal: str, full: str) -> None:
    channel = Channel.parse(text)
    assert (str(channel.normal()), str(channel.full())) == (normal, full)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty channel not valid"),
        ("a/b/c/d", 'channel is malformed and has too many components "a/b/c/d"'),
        ("14/foo", 'risk in channel "14/foo" not valid'),
        ("14//x", 'risk in channel "14//x" not valid'),
        ("/edge", 'track in channel "/edge" not valid'),
        ("edge/", 'branch in channel "edge/" not valid'),
        ("a b", 'track in channel "a b" not valid'),
    ],
)
def test_channels_that_are_none(text: str, problem: str) -> None:
    with pytest.raises(NotValid) as caught:
        Channel.parse(text)
    assert caught.value.message == problem


def test_a_risk_alone_keeps_the_track() -> None:
    current = Channel.parse("14/stable")
    follow: Callable[[str], str] = lambda text: str(Channel.parse(text).following(current))  # noqa: E731
    assert [follow(text) for text in ("edge", "16", "16/beta", "edge/fix")] == [
        "14/edge",
        "16/stable",
        "16/beta",
        "14/edge/fix",
    ]
