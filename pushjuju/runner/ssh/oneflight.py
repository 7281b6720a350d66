"""A login in as few round trips as sshd allows: what asyncssh has no option for.

asyncssh asks for the service, waits, asks which methods there are, waits, shows the public key, waits, and
signs when the server agrees. sshd takes the service request and a signed login in one flight. All use of
inner parts of asyncssh is here. Where a part is missing, or the server is not OpenSSH, asyncssh logs in its
own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncssh

_PUBLICKEY = b"publickey"
_EARLY = ("ssh-ed25519", "ecdsa-sha2-", "sk-")  # an RSA key signs as the server says first
PARTS = (
    "_auth", "_auth_methods", "_auth_in_progress", "_client_keys", "_get_agent_keys", "_get_pkcs11_keys",
    "send_userauth_request", "send_service_request", "try_next_auth",
)  # fmt: skip


def log_in_at_once(conn: asyncssh.SSHClientConnection) -> bool:
    """Let a connection that was just made log in with its first key without asking first.

    The connection has keys of its own and no agent: asyncssh would otherwise look for an agent first.

    Returns:
        True when the connection will do so; False when asyncssh has changed inside, or there is no key.
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
    """Sign at once, without first asking the server whether it accepts the key."""
    send = inside.send_userauth_request

    async def send_userauth_request(method: bytes, *args: bytes, **options: Any) -> None:
        keypair = getattr(inside._auth, "_keypair", None)
        if method == _PUBLICKEY and args[:1] == (b"\0",) and keypair is not None:
            await send(method, b"\1", *args[1:], key=keypair, trivial=False)
        else:
            await send(method, *args, **options)

    inside.send_userauth_request = send_userauth_request


def _with_service_request(inside: Any) -> None:
    """Do not wait for the service to be accepted."""
    request, begin = inside.send_service_request, inside.try_next_auth
    accepted = False

    def send_service_request(service: bytes) -> None:
        request(service)
        if str(inside.get_extra_info("server_version")).startswith("SSH-2.0-OpenSSH"):
            inside.try_next_auth = when_accepted
            inside._auth_in_progress = True
            begin()

    def when_accepted(**options: Any) -> None:
        """Continue the login when the server accepts the service; from then on asyncssh goes its own way."""
        nonlocal accepted
        if accepted or options:
            begin(**options)
        accepted = True

    inside.send_service_request = send_service_request
