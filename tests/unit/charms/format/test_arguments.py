"""Charm arguments and URLs."""

from __future__ import annotations

import pytest

from pushjuju.charms.format.url import ArgumentKind, CharmURL, classify_argument, parse_url
from pushjuju.core.errors import NotFound, NotValid


@pytest.mark.parametrize("argument", ["./x", "../x", ".", "/srv/x.charm", "./dir/"])
def test_paths(argument: str) -> None:
    found = classify_argument(argument, lambda path: True)
    assert (found.kind, found.path, found.url) == (ArgumentKind.LOCAL, argument, None)
    with pytest.raises(NotFound) as caught:
        classify_argument(argument, lambda path: False)
    assert caught.value.message == f'no charm was found at "{argument}"'


@pytest.mark.parametrize(
    ("argument", "kind", "text"),
    [
        ("web", ArgumentKind.CHARMHUB, "ch:web"),
        ("ch:web-3", ArgumentKind.CHARMHUB, "ch:web-3"),
        ("local:web-2", ArgumentKind.UPLOADED, "local:web-2"),
    ],
)
def test_urls(argument: str, kind: ArgumentKind, text: str) -> None:
    found = classify_argument(argument, lambda path: False)
    assert (found.kind, str(found.url)) == (kind, text)


def test_faults() -> None:
    with pytest.raises(NotValid, match="empty charm path"):
        classify_argument("", lambda path: True)
    with pytest.raises(NotValid) as caught:
        classify_argument("web", lambda path: True)
    assert caught.value.message == (
        'The charm or bundle "web" is ambiguous.\n'
        "To deploy a local charm or bundle, run `pushjuju deploy ./web`.\n"
        "To deploy a charm or bundle from CharmHub, run `pushjuju deploy ch:web`."
    )
    assert classify_argument("ch:web", lambda path: True).kind is ArgumentKind.CHARMHUB


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("web", CharmURL(schema="ch", name="web")),
        ("my-web-12", CharmURL(schema="ch", name="my-web", revision=12)),
        ("ch:amd64/jammy/postgresql-345",
         CharmURL(schema="ch", name="postgresql", revision=345, architecture="amd64", series="jammy")),
        ("ch:jammy/web", CharmURL(schema="ch", name="web", series="jammy")),
        ("ch:arm64/web", CharmURL(schema="ch", name="web", architecture="arm64")),
        ("local:focal/web-0", CharmURL(schema="local", name="web", revision=0, series="focal")),
    ],
)  # fmt: skip
def test_parse(text: str, url: CharmURL) -> None:
    assert parse_url(text) == url
    assert parse_url(str(url)) == url


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("ch:a/b/c/d", 'charm or bundle URL "ch:a/b/c/d" malformed'),
        ("local:a/b/c", 'charm or bundle URL "local:a/b/c" malformed'),
        ("ch:Web", 'cannot parse name and/or revision in URL "ch:Web": name "Web" not valid'),
        ("a_b", 'cannot parse name and/or revision in URL "a_b": name "a_b" not valid'),
        ("ch:AMD/jammy/web", 'in URL "ch:AMD/jammy/web": architecture name "AMD" not valid'),
        ("ch:amd64/J/web", 'in URL "ch:amd64/J/web": series name "J" not valid'),
        ("cs:web", 'cannot parse URL "cs:web": schema "cs" not valid'),
        ("ch:~who/web", 'charmhub charm or bundle URL with user name: "ch:~who/web" not valid'),
        ("local:~who/web", 'local charm or bundle URL with user name: "local:~who/web"'),
        ("ch:", 'URL without charm or bundle name: "ch:"'),
        ("ch:jammy/", 'URL without charm or bundle name: "ch:jammy/"'),
    ],
)
def test_parse_faults(text: str, fault: str) -> None:
    with pytest.raises(NotValid) as caught:
        parse_url(text)
    assert caught.value.message == fault
