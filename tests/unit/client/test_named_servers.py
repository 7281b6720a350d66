"""What a client keeps of the addresses that a server names at a login."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.client.accounts import Account, with_servers

KNOWN = "192.0.2.7:17070"


def account() -> Account:
    return Account(name="home", addresses=(KNOWN,), ca="", uuid="", user="ann", password="")


def server(value: str = "192.0.2.8", **more: Any) -> dict[str, Any]:
    return {"value": value, "type": "ipv4", "scope": "public", "port": 17070, **more}


def test_known_addresses_come_first_and_those_of_the_server_itself_are_left_out() -> None:
    named = [[server()], [server("2001:db8::1"), server("127.0.0.1", scope="local-machine")]]
    found = with_servers(account(), {"servers": named}).addresses
    assert found == (KNOWN, "192.0.2.8:17070", "[2001:db8::1]:17070")


@pytest.mark.parametrize(
    "servers",
    [None, 5, "text", [5], [["text"]], [[{}]], [[server(port="x")]], [[server(port=None)]], {"a": "b"}],
)
def test_a_server_that_names_addresses_in_another_form_is_used_as_before(servers: object) -> None:
    assert with_servers(account(), {"servers": servers}).addresses == (KNOWN,)


def test_a_server_that_names_addresses_without_end_fills_no_file() -> None:
    many = [[server(f"192.0.2.{number}", port=port)] for number in range(250) for port in range(1, 20)]
    assert len(with_servers(account(), {"servers": many}).addresses) < 100
