"""URIs, content and rotation of secrets."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from pushjuju.core.errors import NotValid, UsageError
from pushjuju.core.model.secrets import Content, Rotation, content_of, is_id, new_id, parse_uri

ID = "d0abc0000000000000a0"
MODEL = "8f14e45f-ceea-467f-9575-6a9b3f0a1c11"


@pytest.mark.parametrize(
    ("text", "model"),
    [(ID, ""), (f"secret:{ID}", ""), (f"secret:{MODEL}/{ID}", MODEL), (f"secret://{MODEL}/{ID}", MODEL)],
)
def test_every_form_of_a_uri_is_read(text: str, model: str) -> None:
    assert parse_uri(text) == (model, ID)


@pytest.mark.parametrize("text", ["", "x", ID[:-1], ID + "a", "secret:", "secret:w" + ID[1:], f"http:{ID}"])
def test_what_is_no_uri_is_refused(text: str) -> None:
    with pytest.raises(NotValid, match="not valid"):
        parse_uri(text)


def test_new_ids_are_ids() -> None:
    assert is_id(new_id(bytes))
    assert is_id(new_id(lambda size: bytes(range(200, 200 + size))))


def read(path: str) -> bytes:
    if path == "gone":
        raise FileNotFoundError(2, "No such file or directory")
    return b"\xffraw"


def test_content_comes_from_words_and_files() -> None:
    found = content_of(
        ["user=app", "pass#base64=czNjcmV0", "file#file=/a", "pad=a=="],
        {"user": "doc", "bin#base64": "AA=="},
        read,
    )
    assert found.plain() == {"user": "doc", "pass": "s3cret", "file": "\udcffraw", "pad": "a==", "bin": "\0"}


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["token"], 'key value "token" not valid'),
        (["key="], 'key value "key" not valid'),
        (["ab=x"], 'key "ab" not valid'),
        (["Key=x"], 'key "Key" not valid'),
        (["a--b=x"], 'key "a--b" not valid'),
        (["abc#base64=?"], 'value of key "abc" is not base64'),
        (["abc#file=gone"], 'reading content for secret key "abc": open gone: no such file or directory'),
        (
            ["abc=" + "x" * 900_000],
            'base64 encoded secret content for key "abc" too large: 1200000 bytes',
        ),
        (
            ["abc=" + "x" * 600_000, "abd=" + "x" * 600_000],
            "base64 encoded secret content too large: 1600000 bytes",
        ),
    ],
)
def test_bad_content_is_refused_without_its_value(words: list[str], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        content_of(words, {}, read)
    assert caught.value.message == text


def test_content_is_masked_wherever_it_is_printed() -> None:
    content = Content({"password": base64.b64encode(b"hush").decode()})
    for text in (str(content), repr(content), f"{content}", f"{[content]}"):
        assert text.strip("[]") == "Content(*****)"


def test_the_checksum_depends_on_content_alone() -> None:
    one, other = Content({"aaa": "QQ==", "bbb": "Qg=="}), Content({"bbb": "Qg==", "aaa": "QQ=="})
    assert one.checksum() == other.checksum() != Content({"aaa": "QQ=="}).checksum()


@pytest.mark.parametrize(
    ("rotation", "due"),
    [
        (Rotation.NEVER, None),
        (Rotation.HOURLY, "2024-01-31T13:00:00"),
        (Rotation.DAILY, "2024-02-01T12:00:00"),
        (Rotation.WEEKLY, "2024-02-07T12:00:00"),
        (Rotation.MONTHLY, "2024-03-02T12:00:00"),
        (Rotation.QUARTERLY, "2024-05-01T12:00:00"),
        (Rotation.YEARLY, "2025-01-31T12:00:00"),
    ],
)
def test_when_a_rotation_is_due(rotation: Rotation, due: str | None) -> None:
    found = rotation.next(datetime(2024, 1, 31, 12, tzinfo=UTC))
    assert found == (datetime.fromisoformat(f"{due}+00:00") if due else None)
