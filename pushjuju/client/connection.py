"""A connection to the API of a controller: logs in, calls methods, makes errors of answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pushjuju.client import accounts, libraries
from pushjuju.client.accounts import Account
from pushjuju.core.errors import (
    AlreadyExists,
    Blocked,
    ControllerUnreachable,
    NotFound,
    NotPermitted,
    NotSupported,
    NotValid,
    PushjujuError,
)

if TYPE_CHECKING:
    from pushjuju.client.websocket import Socket

T = TypeVar("T")
VERSIONS = {
    "Action": 7, "Admin": 3, "Application": 22, "ApplicationOffers": 5, "Block": 2, "Client": 7, "Cloud": 7,
    "Controller": 12, "KeyManager": 1, "MachineManager": 11, "ModelConfig": 3, "ModelManager": 10,
    "ModelUpgrader": 1, "Resources": 3, "SSHClient": 4, "SecretBackends": 1, "Secrets": 2, "Spaces": 6,
    "Storage": 6, "Subnets": 5, "UserManager": 3,
}  # fmt: skip
"""The newest version of each facade that this client speaks."""


class ModelGone(NotFound, message="there is no such model"):
    """The UUID of the connection's model is unknown to the controller."""


class LoginDenied(NotPermitted, message="permission denied"):
    """The user has no access to the connection's controller or model; or the model does not exist."""


_KINDS: Mapping[str, type[PushjujuError]] = {
    "not found": NotFound,
    "model not found": ModelGone,
    "user not found": NotFound,
    "unauthorized access": NotPermitted,
    "already exists": AlreadyExists,
    "operation is blocked": Blocked,
    "not valid": NotValid,
    "not supported": NotSupported,
}


class Connection:
    """A connection of a user who has logged in."""

    def __init__(self, account: Account, model: str = "") -> None:
        """Prepare a connection to a model, by its UUID, or to the controller."""
        account.require_password()
        self.account = account
        self.model = model
        self.login: Mapping[str, Any] = {}
        self._module = libraries.websocket()
        self._runner = asyncio.Runner()
        self._socket: Socket = self._module.Socket(account)

    def __enter__(self) -> Self:
        try:
            self._enter()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def access(self) -> str:
        """The user's access to the controller, `login` or `superuser`."""
        return str((self.login.get("user-info") or {}).get("controller-access", ""))

    def close(self) -> None:
        self.run(self._socket.close())
        self._runner.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end; what the network did wrong becomes an error for users."""
        try:
            return self._runner.run(work)
        except self._module.FAULTS as error:
            fault: ControllerUnreachable = self._module.unreachable(self.account, error)
            raise fault from error

    def call(self, facade: str, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the response of a method.

        Raises:
            ControllerUnreachable: The connection was cut.
            PushjujuError: The server refuses the request.
        """
        request = {
            "type": facade, "version": self._version(facade), "request": method, "params": params or {},
        }  # fmt: skip
        answer = self.run(self._socket.ask(request))
        if "error" in answer:
            raise self._failure(str(answer["error"]), str(answer.get("error-code", "")), f"{facade}.{method}")
        response = answer.get("response")
        return response if isinstance(response, dict) else {}

    def each(self, facade: str, method: str, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the results of a bulk call."""
        results = self.call(facade, method, params).get("results") or []
        for result in results:
            self.require(result)
        return list(results)

    def require(self, result: Mapping[str, Any]) -> None:
        """Raise the error of a result, if it has any."""
        error = result.get("error")
        if error:
            raise self._failure(str(error.get("message", "")), str(error.get("code", "")))

    def send_file(self, method: str, path: str, stream: Any, headers: Mapping[str, str]) -> Mapping[str, str]:
        """Send a file over HTTP; return the headers of the answer."""
        status, text, answer = self.run(self._socket.send_file(method, path, stream, headers))
        if status != 200:
            raise self._failure(*_of_body(text))
        return answer

    def messages(self, path: str, params: list[tuple[str, str]]) -> AsyncGenerator[dict[str, Any]]:
        return self._socket.messages(path, params)

    # --- inside -------------------------------------------------------------------------------------------

    def _enter(self) -> None:
        self.run(self._socket.open(f"/model/{self.model}/api" if self.model else "/api"))
        self.login = self.call("Admin", "Login", self._credentials())
        self._check_controller()
        self.account = accounts.with_servers(self.account, self.login)

    def _credentials(self) -> dict[str, str]:
        return {"auth-tag": f"user-{self.account.user}", "credentials": self.account.password}

    def _check_controller(self) -> None:
        """Refuse a server of another controller."""
        if self.account.uuid and self.login.get("controller-tag") != f"controller-{self.account.uuid}":
            text = f"another controller answers at {', '.join(self.account.addresses)}"
            raise ControllerUnreachable(text, hint=_register_again(self.account))

    def _version(self, facade: str) -> int:
        """Return the newest version of a facade that both sides know."""
        newest = VERSIONS[facade]
        if facade == "Admin":
            return newest
        for item in self.login.get("facades") or ():
            if item.get("name") == facade:
                if known := [version for version in item.get("versions", ()) if version <= newest]:
                    return int(max(known))
                break
        raise self._other_version(facade)

    def _other_version(self, what: str) -> NotSupported:
        version = self.login.get("server-version", "unknown")
        return NotSupported(
            f'controller "{self.account.name}" does not offer {what}: its version is {version}',
            hint="install the same version of pushjuju here and on the host of the controller",
        )

    def _more_access(self) -> str:
        """Return what may be granted beyond the access of the login, as `grant` takes it."""
        level = self.login.get("user-info", {}).get("model-access", "")
        if not self.login.get("model-tag"):  # what was refused may concern a model, too
            return f"admin MODEL, or for the controller: pushjuju grant {self.account.user} superuser"
        return {"admin": "superuser", "write": "admin MODEL"}.get(level, "write MODEL")

    def _failure(self, message: str, code: str, what: str = "") -> PushjujuError:
        if code == "not implemented":
            return self._other_version(what)
        if what == "Admin.Login" and code == "unauthorized access":
            return self._refused(message)
        hint = ""
        if code == "unauthorized access":
            hint = (
                f'ask an administrator of controller "{self.account.name}" for more access, such as: '
                f"pushjuju grant {self.account.user} {self._more_access()}"
            )
        if code == "model not found":
            hint = "pushjuju models    lists the models"
        return _KINDS.get(code, PushjujuError)(message, hint=hint)

    def _refused(self, message: str) -> NotPermitted:
        """Return the error of a login that the server refuses."""
        account = self.account
        text = f'controller "{account.name}" refuses the login of {account.user}: {message}'
        if message == "permission denied":
            hint = "ask an administrator of the controller for access: pushjuju grant"
            return LoginDenied(text, hint=hint)
        return NotPermitted(text, hint=f"pushjuju login -c {account.name}    asks for the password again")


def _register_again(account: Account) -> str:
    return f"if the controller was made anew: pushjuju unregister {account.name}, then register"


def _of_body(text: str) -> tuple[str, str]:
    """Return message and code of the body of a refused HTTP request."""
    try:
        body = json.loads(text)
        error = body.get("error", body)
        if isinstance(error, dict):
            return str(error.get("message", "")), str(error.get("code", ""))
        return str(error), str(body.get("error-code", ""))
    except (ValueError, AttributeError):
        return text.strip()[:1000] or "the server refuses the file", ""
