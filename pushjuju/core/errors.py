"""Errors for users: what failed, on which entity, the remote text, what to type next.

The tree (callers catch a branch, not a leaf):

    PushjujuError
    ├── UsageError            bad flags or arguments (exit 2)
    ├── NotFound              a named entity does not exist
    ├── AlreadyExists         a named entity is there already
    ├── NotPermitted          refused by rule or right
    ├── NotValid              a value that breaks a rule
    │   └── InvalidCharm      a charm that is refused; names file and key
    ├── Conflict              the wanted change does not fit the present state
    ├── HookFailed            a hook, action or command of a charm failed
    ├── ProviderError         a cloud refused or failed
    │   ├── CredentialInvalid ... because it does not take the credential
    │   ├── NotSupported      ... because it does not offer this
    │   └── ZoneIndependent   ... and would fail in every zone
    │       └── QuotaExceeded ... because the account's quota is used up
    ├── BackendError          a backend for secrets refused or failed
    ├── NotifyError           an event was not delivered
    ├── HubError              a store of charms refused or failed (in `core.charmstore`)
    ├── StoreError            the local store
    │   ├── StoreTooNew       made by a newer pushjuju
    │   ├── StoreBusy         another process keeps it locked for too long
    │   │   └── StoreAway     ... because its server does not answer
    │   ├── StoreDamaged      the file is damaged, or not a store
    │   ├── StoreGone         the file was removed or replaced
    │   ├── WrongKey          the key file does not open the secrets of the store
    │   └── LeaseLost         another process has taken the work over
    ├── TransportError        a machine cannot be reached or used over SSH
    │   ├── Unreachable       no answer
    │   │   ├── InstanceStopped ... because the cloud has stopped the machine
    │   │   └── InstanceGone    ... because the cloud does not know the machine any more
    │   ├── HostKeyChanged    the machine shows another key than the known one
    │   ├── AuthFailed        the machine refuses our keys
    │   ├── SudoRefused       the login worked, but root rights were refused
    │   └── ConnectionLost    the connection was cut during the work
    ├── RemoteFailed          the machine answered that the request failed
    │   ├── DiskFull          ... because its disk is full
    │   ├── HeldElsewhere     ... because another controller or model holds the machine
    │   ├── Overtaken         ... because another process has a later lease for the machine
    │   └── BadAnswer         the answer breaks the protocol, or is too large
    ├── ControllerUnreachable a controller of another computer does not answer
    ├── IsRemote              the controller is on another computer
    ├── Refused               a command, flag or value of Juju that pushjuju does not support
    ├── Blocked               the commands of this kind are disabled for the model
    ├── Aborted               the user said no
    └── Silent                failed, and the text was printed already
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.core import moved
from pushjuju.core.problems import Subject
from pushjuju.portable.quote import quote

if TYPE_CHECKING:
    from typing import Self


class PushjujuError(Exception):
    """An error whose message is written for users.

    Attributes:
        message: One sentence: what failed, on which entity.
        detail: Remote or third-party text, shown below the message.
        hint: The next command to type.
        code: A stable id in kebab-case, for JSON.
        exit_code: Exit status of the command that ends with this error.
        retryable: True when the same call may work later without a change.
        subject: The entity that the message names, or None.
        what: The action that failed, where `prefixed` put the action in front of the message; may be empty.
        why: The message without that action.
    """

    message = "the command failed"
    code = "error"
    exit_code = 1
    retryable = False

    def __init_subclass__(
        cls,
        *,
        message: str | None = None,
        code: str | None = None,
        exit_code: int | None = None,
        retryable: bool | None = None,
    ) -> None:
        """Replace defaults of the parent class: `class Blocked(PushjujuError, code="blocked")`."""
        own = {"message": message, "code": code, "exit_code": exit_code, "retryable": retryable}
        for name, value in own.items():
            if value is not None:
                setattr(cls, name, value)

    def __init__(
        self,
        message: str | None = None,
        *,
        detail: str = "",
        hint: str = "",
        retryable: bool | None = None,
        subject: Subject | None = None,
    ) -> None:
        self.message = message if message is not None else type(self).message
        self.what, self.why = "", self.message
        self.detail = detail
        self.hint = hint
        self.subject = subject
        if retryable is not None:
            self.retryable = retryable
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message

    def prefixed(self, what: str) -> Self:
        """Put the action that failed in front of the error's message, and return the error itself."""
        self.what, self.why = what, self.message
        self.message = f"{what}: {self.message}"
        self.args = (self.message,)
        return self

    @property
    def full_text(self) -> str:
        """The message with the remote text."""
        return f"{self.message}: {self.detail}" if self.detail else self.message


class UsageError(PushjujuError, message="bad arguments", code="usage", exit_code=2):
    """Bad flags or arguments; nothing was started."""


class NotFound(PushjujuError, message="not found", code="not-found"):
    """A named entity does not exist."""


def not_found(kind: str, name: str, *, hint: str = "") -> NotFound:
    """Return the error for an entity that does not exist, in Juju's words."""
    return NotFound(f"{kind} {quote(name)} not found", hint=hint, subject=Subject(kind, name))


class AlreadyExists(PushjujuError, message="already exists", code="already-exists"):
    """A named entity is there already."""


class NotPermitted(PushjujuError, message="permission denied", code="not-permitted"):
    """A rule forbids the request, or the user lacks the permission."""


class NotValid(PushjujuError, message="not valid", code="not-valid"):
    """A value breaks a rule."""


def unknown_placement(directive: str) -> NotValid:
    """Return the error of a cloud that does not know a placement directive, in Juju's words."""
    return NotValid(f"unknown placement directive: {directive}", subject=Subject("placement", directive))


class InvalidCharm(NotValid, message="invalid charm", code="invalid-charm"):
    """A charm is refused.

    Attributes:
        file: The faulty file, relative to the charm's root; empty when the charm as a whole is faulty.
        key: The path of the faulty key inside that file; may be empty.
    """

    def __init__(
        self, message: str | None = None, *, file: str = "", key: str = "", detail: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.file = file
        self.key = key


class Conflict(PushjujuError, message="conflict", code="conflict"):
    """The wanted change does not fit the present state."""


class HookFailed(PushjujuError, message="hook failed", code="hook-failed"):
    """A hook of a charm failed."""


class ProviderError(PushjujuError, message="the cloud failed", code="provider", retryable=True):
    """A cloud refused or failed."""


class CredentialInvalid(
    ProviderError, message="the cloud refuses the credential", code="credential-invalid", retryable=False
):
    """The cloud refuses the credential; nothing is tried again until the user updates the credential."""


class NotSupported(
    ProviderError, message="the cloud does not support this", code="not-supported", retryable=False
):
    """The cloud does not offer this, and will not offer it later."""


class ZoneIndependent(ProviderError, message="the cloud failed in all its zones", code="zone-independent"):
    """The cloud failed in a way that would fail in every other zone, too."""


class QuotaExceeded(ZoneIndependent, message="the quota of the account is used up", code="quota-exceeded"):
    """The account's quota in the cloud is used up."""


class BackendError(PushjujuError, message="the secret backend failed", code="secret-backend", retryable=True):
    """A backend for the content of secrets refused or failed."""


class NotifyError(PushjujuError, message="the event was not delivered", code="notify", retryable=True):
    """An event could not be delivered to a target of notifications."""


class StoreError(PushjujuError, message="the store cannot be used", code="store"):
    """The local store cannot be used."""


class StoreTooNew(StoreError, message="the store was made by a newer pushjuju", code="store-too-new"):
    """The store was made by a newer pushjuju."""


class StoreBusy(StoreError, message="the store is busy", code="store-busy", retryable=True):
    """Another process keeps the store locked for too long."""


class StoreAway(StoreBusy, message="the server of the store does not answer", code="store-away"):
    """The server of the store does not answer; what was committed is there when it answers again."""


class StoreDamaged(StoreError, message="the store is damaged", code="store-damaged"):
    """The store's file is damaged, or is not a store."""


class StoreGone(StoreError, message="the store is gone", code="store-gone"):
    """The store was removed with its controller, or replaced, while it was open."""


class WrongKey(StoreError, message="the key file does not open the secrets of the store", code="wrong-key"):
    """The key file does not open the secrets of the store."""


class LeaseLost(StoreError, message="another controller process has taken the work over", code="lease-lost"):
    """Another controller process has taken the work over; this process has written nothing."""


class TransportError(
    PushjujuError, message="the machine cannot be reached", code="transport", retryable=True
):
    """A machine could not be reached or used over SSH."""


class Unreachable(TransportError, message="the machine does not answer", code="unreachable"):
    """The machine does not answer.

    Attributes:
        reason: Why, without the name of the machine; empty when that is not known.
    """

    def __init__(
        self,
        message: str | None = None,
        *,
        reason: str = "",
        detail: str = "",
        hint: str = "",
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message, detail=detail, hint=hint, retryable=retryable)
        self.reason = reason


class InstanceStopped(Unreachable, message="the machine is stopped", code="instance-stopped"):
    """The machine's cloud reports that the machine is stopped."""


class InstanceGone(Unreachable, message="the machine is gone from its cloud", code="instance-gone"):
    """The machine's cloud does not know the machine any more."""


class HostKeyChanged(TransportError, message="the host key of the machine changed", code="host-key-changed"):
    """The machine shows another host key than the known host key."""


class AuthFailed(TransportError, message="the machine refuses the login", code="auth-failed"):
    """The machine's SSH server refuses all keys that were offered."""


class SudoRefused(TransportError, message="sudo was refused on the machine", code="sudo-refused"):
    """The login worked, but the machine refused root rights."""


class ConnectionLost(
    TransportError, message="the connection to the machine was lost", code="connection-lost"
):
    """The connection was cut during the work."""


class RemoteFailed(
    PushjujuError, message="the machine could not do it", code="remote-failed", retryable=True
):
    """The machine answered that it cannot do the work."""


class DiskFull(RemoteFailed, message="the disk of the machine is full", code="disk-full"):
    """The disk of the machine is full."""


class HeldElsewhere(
    RemoteFailed, message="the machine is held by another controller or model", code="held-elsewhere"
):
    """Another controller, or another model, holds the machine; nothing was done there."""


class Overtaken(
    RemoteFailed,
    message="the machine works for another controller process now",
    code="overtaken",
    retryable=True,
):
    """The machine refused the work, because another controller process has a later lease for it.

    Attributes:
        lease: The number of the lease that the machine knows.
    """

    def __init__(self, message: str | None = None, lease: int = 0) -> None:
        super().__init__(message)
        self.lease = lease


class BadAnswer(RemoteFailed, message="the machine sent an invalid answer", code="bad-answer"):
    """A message from the machine breaks the protocol or exceeds a limit."""


class ControllerUnreachable(
    PushjujuError, message="the controller does not answer", code="controller-unreachable", retryable=True
):
    """The API of a controller on another computer does not answer, or is not that of the controller."""


class IsRemote(PushjujuError, message="the controller is on another computer", code="remote-controller"):
    """A command that needs the store of a controller was called for a controller of another computer.

    The entry point runs the command's remote form instead, if there is one.

    Attributes:
        name: The controller.
        model: The model that the command line names, or empty for the current model.
    """

    def __init__(
        self, message: str | None = None, *, name: str = "", hint: str = "", subject: Subject | None = None
    ) -> None:
        super().__init__(message, hint=hint, subject=subject)
        self.name = name
        self.model = ""


class Refused(PushjujuError, message="not supported by pushjuju", code="refused"):
    """A command, flag or value of Juju that pushjuju does not support; only this error is printed."""


class Blocked(PushjujuError, message="the operation has been blocked", code="blocked"):
    """The commands of this kind are disabled for the model."""


class Aborted(PushjujuError, message="aborted", code="aborted"):
    """The user did not confirm."""


class Silent(PushjujuError, message="", code="silent"):
    """The command failed and has printed the reason already."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return an error that moved to another module, for plugins of API 1.5."""
        return moved.attribute(__name__, name)
