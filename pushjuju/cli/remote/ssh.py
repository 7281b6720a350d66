"""ssh to machines of a model on another computer, with the user's own keys."""

from __future__ import annotations

import re
import socket
from typing import Any

from pushjuju.cli.commands.ssh import ssh_config
from pushjuju.cli.commands.ssh.key_flags import tell_results
from pushjuju.cli.commands.ssh.ssh_session import proxy_wanted, run_program
from pushjuju.cli.remote.call import Call
from pushjuju.cli.syntax.command import Cli
from pushjuju.client.connection import Connection
from pushjuju.client.target import Target
from pushjuju.client.tasks import tag_of
from pushjuju.core.errors import BadAnswer, NotValid
from pushjuju.core.jumps import Hop
from pushjuju.core.names import is_machine
from pushjuju.core.values import regex
from pushjuju.portable.names import is_unit
from pushjuju.services.requests.model.ssh_keys import Refusal

_ADDRESS = regex(r"[0-9A-Za-z][0-9A-Za-z.:_-]{0,254}")
_USER = regex(r"[0-9A-Za-z_][0-9A-Za-z_.-]{0,31}")
_KEY = regex(r"[0-9a-z@.-]{1,100} [0-9A-Za-z+/=]{1,20000}( [ -~]{0,200})?")  # a comment may follow
_PORT = 22
_ANSWER_S = 3.0  # how long a machine may take to answer before the controller is the jump host


def ssh(call: Call) -> None:
    """Open a shell on a machine, or run a command there."""
    with call.target.opened() as (connection, found):
        machine = _machine(call, connection, call.args[0])
    terminal = (
        call.cli.console.stdin.isatty() and call.cli.console.stdout.isatty()
        if call.flags.pty is None
        else call.flags.pty
    )
    words = ["ssh", *(["-t", "-t"] if terminal else []), machine.alias, *call.args[1:]]
    known_hosts = call.target.folder.remote_known_hosts(found.uuid)
    run_program(known_hosts, words, [machine], check_host_keys=not call.flags.no_host_key_checks)


def scp(call: Call) -> None:
    """Copy files from and to machines."""
    machines: dict[str, ssh_config.Target] = {}
    words: list[str] = []
    with call.target.opened() as (connection, model):
        for word in call.args:
            place, colon, path = word.partition(":")
            if not colon or word.startswith(("-", ".", "/")):
                words.append(word)
                continue
            if place not in machines:
                machines[place] = _machine(call, connection, place)
            words.append(f"{machines[place].alias}:{path}")
    between = ["-3"] if len(machines) > 1 and "-3" not in words else []
    known_hosts = call.target.folder.remote_known_hosts(model.uuid)
    checks = not call.flags.no_host_key_checks
    run_program(known_hosts, ["scp", *between, *words], list(machines.values()), check_host_keys=checks)


def _machine(call: Call, connection: Connection, text: str) -> ssh_config.Target:
    """Return the machine that `[USER@]NAME` stands for, as the controller describes it."""
    user, _, name = text.rpartition("@")
    tag = _tag(connection, name)
    told = _asked(connection, "PublicAddress", tag)
    address, port = _checked(_ADDRESS, told.get("address")), _port(told.get("port", _PORT))
    keys = tuple(
        _checked(_KEY, key) for key in _asked(connection, "PublicKeys", tag).get("public-keys") or ()
    )
    proxy = proxy_wanted(call.cli, call.flags.proxy)
    return ssh_config.Target(
        alias=f"juju-{text.replace('/', '-').replace('@', '-at-')}",
        host=address,
        port=None if port == _PORT else port,
        user=user or _checked(_USER, told.get("user", ssh_config.DEFAULT_USER)),
        hops=_hops(call.cli, call.target, (address, port), proxy=proxy),
        host_keys=keys,
        identities=(),
    )


def _tag(connection: Connection, name: str) -> str:
    """Return the tag of a machine id, a unit or `application/leader`."""
    if is_machine(name):
        return tag_of("machine", name)
    application, _, word = name.partition("/")
    if word == "leader":
        found = connection.call("Application", "Leader", {"tag": f"application-{application}"})
        connection.require(found)
        name = found["result"]
    if not is_unit(name):
        raise NotValid(f'invalid target "{name}": expected a machine, a unit or an application\'s leader')
    return tag_of("unit", name)


def _asked(connection: Connection, method: str, tag: str) -> dict[str, Any]:
    (found,) = connection.each("SSHClient", method, {"entities": [{"tag": tag}]})
    return found


def _checked(form: re.Pattern[str], text: Any) -> str:
    """Return a text of the server that OpenSSH's configuration gets.

    Raises:
        BadAnswer: The text has another form; a line break could add a command for this computer.
    """
    if not isinstance(text, str) or not form.fullmatch(text):
        raise BadAnswer("the controller sent no address or no host key that OpenSSH can use")
    return text


def _port(number: Any) -> int:
    if not isinstance(number, int) or not 0 < number < 65536:
        raise BadAnswer("the controller sent no port that OpenSSH can use")
    return number


def _hops(cli: Cli, target: Target, address: tuple[str, int], *, proxy: bool | None) -> tuple[Hop, ...]:
    """Return the host of the controller as jump host, when the user wants it or the machine is silent."""
    if proxy is False or (proxy is None and _answers(address)):
        return ()
    host = target.account.addresses[0].rpartition(":")[0].strip("[]")
    if proxy is None:
        cli.console.info(f"{address[0]} does not answer; the connection goes through {host}")
    return (Hop(host=host),)


def _answers(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, _ANSWER_S).close()
    except OSError:
        return False
    return True


def add_ssh_key(call: Call) -> None:
    """Add public keys to the model."""
    _change_keys(call, "AddKeys", "add key")


def remove_ssh_key(call: Call) -> None:
    """Remove public keys from the model."""
    _change_keys(call, "DeleteKeys", "remove key id")


def import_ssh_key(call: Call) -> None:
    """Add the public keys of users of GitHub or Launchpad."""
    _change_keys(call, "ImportKeys", "import key id")


def _change_keys(call: Call, method: str, what: str) -> None:
    with call.target.opened() as (connection, _):
        params = {"user": call.target.account.user, "ssh-keys": list(call.args)}
        results = connection.call("KeyManager", method, params).get("results") or ()
    refused = [
        Refusal(key=key, reason=item["error"]["message"])
        for key, item in zip(call.args, results, strict=True)
        if item.get("error")
    ]
    tell_results(call.cli, what, refused)
