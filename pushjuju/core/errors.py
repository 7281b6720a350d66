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
    │   ├── NotSupported      ... because it has no such thing
    │   └── ZoneIndependent   ... and would in every one of its zones
    │       └── QuotaExceeded ... because the account may have no more
    ├── BackendError          a backend for secrets refused or failed
    ├── HubError              a store of charms refused or failed
    ├── StoreError            the local store
    │   ├── StoreTooNew       made by a newer pushjuju
    │   ├── StoreBusy         another process holds it for too long
    │   ├── StoreDamaged      the file is no sound store
    │   ├── StoreGone         the file was removed or replaced
    │   ├── WrongKey          the key file does not open the secrets of the store
    │   └── LeaseLost         another process has taken the work over
    ├── TransportError        reaching a machine
    │   ├── Unreachable       no answer
    │   │   ├── InstanceStopped ... because its cloud has stopped it
    │   │   └── InstanceGone    ... because its cloud does not know it any more
    │   ├── HostKeyChanged    the machine shows another key than the known one
    │   ├── AuthFailed        the machine refuses our keys
    │   ├── SudoRefused       logged in, but not allowed to become root
    │   └── ConnectionLost    cut in the middle
    ├── RemoteFailed          the machine answered that it cannot do it
    │   ├── DiskFull          ... because its disk is full
    │   ├── HeldElsewhere     ... because another controller or model holds it
    │   ├── Overtaken         ... because it heard of a later lease
    │   └── BadAnswer         what it says makes no sense, or is too much
    ├── Refused               a word of Juju that has no meaning here
    ├── Blocked               the commands of this kind are disabled for the model
    ├── Aborted               the user said no
    └── Silent                failed, and the text was printed already
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.core.problems import Subject
from pushjuju.portable.quote import quote

if TYPE_CHECKING:
    from typing import Self

    from pushjuju.core.channel import Channel
    from pushjuju.core.charmstore import Platform


class PushjujuError(Exception):
    """An error whose message is written for users.

    Attributes:
        message: One sentence: what failed, on which entity.
        detail: Remote or third-party text, shown below the message.
        hint: The next command to type.
        code: Stable kebab-case id for JSON.
        exit_code: Exit status of the command that ends with this error.
        retryable: Whether the same call may work later without a change.
        subject: The entity that the message names, or None.
        what: What could not be done, where `prefixed` put that in front of the message; may be empty.
        why: The message without what could not be done.
    """

    message = "the command failed"
    code = "error"
    exit_code = 1
    retryable = False

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
        """Return the error itself, with what could not be done in front of its message."""
        self.what, self.why = what, self.message
        self.message = f"{what}: {self.message}"
        self.args = (self.message,)
        return self

    @property
    def full_text(self) -> str:
        """The message with the remote text."""
        return f"{self.message}: {self.detail}" if self.detail else self.message


class UsageError(PushjujuError):
    """Bad flags or arguments; nothing was started."""

    message = "bad arguments"
    code = "usage"
    exit_code = 2


class NotFound(PushjujuError):
    """A named entity does not exist."""

    message = "not found"
    code = "not-found"


def not_found(kind: str, name: str, *, hint: str = "") -> NotFound:
    """Return the error for an entity that does not exist, in Juju's words."""
    return NotFound(f"{kind} {quote(name)} not found", hint=hint, subject=Subject(kind, name))


class AlreadyExists(PushjujuError):
    """A named entity is there already."""

    message = "already exists"
    code = "already-exists"


class NotPermitted(PushjujuError):
    """A rule or a right forbids it."""

    message = "permission denied"
    code = "not-permitted"


class NotValid(PushjujuError):
    """A value breaks a rule."""

    message = "not valid"
    code = "not-valid"


def unknown_placement(directive: str) -> NotValid:
    """Return the error of a cloud that knows no such place for a machine, in Juju's words."""
    return NotValid(f"unknown placement directive: {directive}", subject=Subject("placement", directive))


class InvalidCharm(NotValid):
    """A charm is refused.

    Attributes:
        file: The file of the charm that is at fault, relative to its root; empty if it is the whole.
        key: The key path inside that file; may be empty.
    """

    message = "invalid charm"
    code = "invalid-charm"

    def __init__(
        self, message: str | None = None, *, file: str = "", key: str = "", detail: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.file = file
        self.key = key


class Conflict(PushjujuError):
    """The wanted change does not fit the present state."""

    message = "conflict"
    code = "conflict"


class HookFailed(PushjujuError):
    """A hook of a charm failed."""

    message = "hook failed"
    code = "hook-failed"


class ProviderError(PushjujuError):
    """A cloud refused or failed."""

    message = "the cloud failed"
    code = "provider"
    retryable = True


class CredentialInvalid(ProviderError):
    """The cloud refuses the credential; nothing is tried again until it is updated."""

    message = "the cloud refuses the credential"
    code = "credential-invalid"
    retryable = False


class NotSupported(ProviderError):
    """The cloud does not offer this, and will not offer it later."""

    message = "the cloud does not support this"
    code = "not-supported"
    retryable = False


class ZoneIndependent(ProviderError):
    """The cloud failed in a way that another zone does not mend."""

    message = "the cloud failed in all its zones"
    code = "zone-independent"


class QuotaExceeded(ZoneIndependent):
    """The account may have no more of something."""

    message = "the quota of the account is used up"
    code = "quota-exceeded"


class BackendError(PushjujuError):
    """A backend for the content of secrets refused or failed."""

    message = "the secret backend failed"
    code = "secret-backend"
    retryable = True


class HubError(PushjujuError):
    """A store of charms refused or failed.

    Attributes:
        reason: The store's own word for the fault, `revision-not-found`; empty when the store gave no word.
        releases: (channel, platform) of what there is in place of what was asked for.
    """

    message = "the charm store failed"
    code = "charm-store"

    def __init__(
        self,
        message: str | None = None,
        *,
        reason: str = "",
        detail: str = "",
        hint: str = "",
        retryable: bool | None = None,
        releases: tuple[tuple[Channel, Platform], ...] = (),
    ) -> None:
        super().__init__(message, detail=detail, hint=hint, retryable=retryable)
        self.reason = reason
        self.releases = releases


class StoreError(PushjujuError):
    """The local store cannot be used."""

    message = "the store cannot be used"
    code = "store"


class StoreTooNew(StoreError):
    """The store was made by a newer pushjuju."""

    message = "the store was made by a newer pushjuju"
    code = "store-too-new"


class StoreBusy(StoreError):
    """Another process holds the store for too long."""

    message = "the store is busy"
    code = "store-busy"
    retryable = True


class StoreDamaged(StoreError):
    """The store's file is damaged, or no store."""

    message = "the store is damaged"
    code = "store-damaged"


class StoreGone(StoreError):
    """The store was removed with its controller, or replaced, while it was open."""

    message = "the store is gone"
    code = "store-gone"


class WrongKey(StoreError):
    """The key file does not open the secrets of the store."""

    message = "the key file does not open the secrets of the store"
    code = "wrong-key"


class LeaseLost(StoreError):
    """Another controller process has taken the work over; what was to be written was not."""

    message = "another controller process has taken the work over"
    code = "lease-lost"


class TransportError(PushjujuError):
    """A machine could not be reached or used over SSH."""

    message = "the machine cannot be reached"
    code = "transport"
    retryable = True


class Unreachable(TransportError):
    """No answer from the machine.

    Attributes:
        reason: Why, without the name of the machine; empty when that is not known.
    """

    message = "the machine does not answer"
    code = "unreachable"

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


class InstanceStopped(Unreachable):
    """The machine's cloud says that it is stopped."""

    message = "the machine is stopped"
    code = "instance-stopped"


class InstanceGone(Unreachable):
    """The machine's cloud does not know it any more."""

    message = "the machine is gone from its cloud"
    code = "instance-gone"


class HostKeyChanged(TransportError):
    """The machine shows another host key than the one known."""

    message = "the host key of the machine changed"
    code = "host-key-changed"


class AuthFailed(TransportError):
    """The machine's SSH server refuses all keys that were offered."""

    message = "the machine refuses the login"
    code = "auth-failed"


class SudoRefused(TransportError):
    """Logged in, but root rights were refused."""

    message = "sudo was refused on the machine"
    code = "sudo-refused"


class ConnectionLost(TransportError):
    """The connection was cut in the middle."""

    message = "the connection to the machine was lost"
    code = "connection-lost"


class RemoteFailed(PushjujuError):
    """The machine answered that it cannot do what was asked."""

    message = "the machine could not do it"
    code = "remote-failed"
    retryable = True


class DiskFull(RemoteFailed):
    """The disk of the machine is full."""

    message = "the disk of the machine is full"
    code = "disk-full"


class HeldElsewhere(RemoteFailed):
    """Another controller, or another model, holds the machine; nothing was done there."""

    message = "the machine is held by another controller or model"
    code = "held-elsewhere"


class Overtaken(RemoteFailed):
    """The machine works for another controller process now; it did nothing.

    Attributes:
        lease: The number that it knows.
    """

    message = "the machine works for another controller process now"
    code = "overtaken"
    retryable = True

    def __init__(self, message: str | None = None, lease: int = 0) -> None:
        super().__init__(message)
        self.lease = lease


class BadAnswer(RemoteFailed):
    """What the machine says breaks the protocol or goes beyond a limit."""

    message = "the machine says what makes no sense"
    code = "bad-answer"


class Refused(PushjujuError):
    """A word or a value of Juju that has no meaning here; nothing is printed but this."""

    message = "not supported by pushjuju"
    code = "refused"


class Blocked(PushjujuError):
    """The commands of this kind are disabled for the model."""

    message = "the operation has been blocked"
    code = "blocked"


class Aborted(PushjujuError):
    """The user did not confirm."""

    message = "aborted"
    code = "aborted"


class Silent(PushjujuError):
    """The command failed and has printed why already."""

    message = ""
    code = "silent"
