"""Log in with as few round trips as sshd allows, which asyncssh has no option for.

asyncssh requests the service, asks for the methods, offers the public key, then signs, and waits for an
answer each time. sshd accepts the service request and a signed login at once. Only this module uses private
parts of asyncssh. When a part is missing, or the server is not OpenSSH, asyncssh logs in its usual way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncssh

_PUBLICKEY = b"publickey"
_EARLY = ("ssh-ed25519", "ecdsa-sha2-", "sk-")  # the hash of an RSA signature depends on the server's answer
PARTS = (
    "_auth", "_auth_methods", "_auth_in_progress", "_client_keys", "_get_agent_keys", "_get_pkcs11_keys",
    "send_userauth_request", "send_service_request", "try_next_auth",
)  # fmt: skip


def log_in_at_once(conn: asyncssh.SSHClientConnection) -> bool:
    """Let a new connection log in with its first key without asking the server first.

    The connection has keys of its own and uses no agent: asyncssh would otherwise ask the agent first.

    Returns:
        True when the connection will do so; False when asyncssh lacks a part, or there is no key.
    """
    inside: Any = conn
    if not all(hasattr(inside, name) for name in PARTS):
        return False
    if not inside._client_keys or inside._get_pkcs11_keys:
        return False
    inside._get_agent_keys = False
    inside._auth_methods = [_PUBLICKEY]
    _sign_at_once(inside)
    if inside._client_keys[0].algorithm.decode("ascii", "replace").startswith(_EARLY):
        _with_service_request(inside)
    return True


def _sign_at_once(inside: Any) -> None:
    """Sign at once, without asking the server first whether it accepts the key."""
    send = inside.send_userauth_request

    async def send_userauth_request(method: bytes, *args: bytes, **options: Any) -> None:
        keypair = getattr(inside._auth, "_keypair", None)
        if method == _PUBLICKEY and args[:1] == (b"\0",) and keypair is not None:
            await send(method, b"\1", *args[1:], key=keypair, trivial=False)
        else:
            await send(method, *args, **options)

    inside.send_userauth_request = send_userauth_request


def _with_service_request(inside: Any) -> None:
    """Send the login without waiting until the server accepts the service."""
    request, begin = inside.send_service_request, inside.try_next_auth
    accepted = False

    def send_service_request(service: bytes) -> None:
        request(service)
        if str(inside.get_extra_info("server_version")).startswith("SSH-2.0-OpenSSH"):
            inside.try_next_auth = when_accepted
            inside._auth_in_progress = True
            begin()

    def when_accepted(**options: Any) -> None:
        """Continue the login when the server accepts the service; from then on asyncssh works as usual."""
        nonlocal accepted
        if accepted or options:
            begin(**options)
        accepted = True

    inside.send_service_request = send_service_request
