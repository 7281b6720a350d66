"""Hooks of secrets: expired, rotate and remove for the owner; changed for the consumer. Pure.

Mirrors: juju worker/uniter/secrets/resolver.go (3.6)
"""

from __future__ import annotations

from pushjuju.core.status import Life
from pushjuju.uniter.decide.decision import GO_ON, OperationName, Verdict, new_operation, run, run_hook
from pushjuju.uniter.decide.remote import OwnedSecret, RemoteState
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind


def secrets(local: LocalState, remote: RemoteState) -> Verdict:
    """Run the next hook about a secret."""
    if not local.installed or remote.life is not Life.ALIVE or local.kind is not OperationKind.CONTINUE:
        return GO_ON
    return _expired(remote) or _rotate(remote) or _changed(local, remote) or _gone(local, remote)


def _owned(remote: RemoteState, uri: str) -> OwnedSecret:
    return remote.secrets_owned.get(uri, OwnedSecret(revision=0))


def _answers_for(remote: RemoteState, uri: str) -> bool:
    """Return True when this unit manages a secret; the leader manages those of the application."""
    return remote.leader or not _owned(remote, uri).application


def _hook(kind: HookKind, uri: str, revision: int, label: str) -> HookInfo:
    return HookInfo(kind=kind, secret_uri=uri, secret_revision=revision, secret_label=label)


def _expired(remote: RemoteState) -> Verdict:
    for item in remote.secrets_expired:
        if not _answers_for(remote, item.uri):
            continue
        hook = _hook(HookKind.SECRET_EXPIRED, item.uri, item.revision, _owned(remote, item.uri).label)
        return run_hook(remote, hook, f"revision {item.revision} of {item.uri} expired")
    return GO_ON


def _rotate(remote: RemoteState) -> Verdict:
    for uri in remote.secrets_rotate:
        owned = _owned(remote, uri)
        if not _answers_for(remote, uri):
            continue
        hook = _hook(HookKind.SECRET_ROTATE, uri, owned.revision, owned.label)
        return run_hook(remote, hook, f"the rotation of {uri} is due")
    return GO_ON


def _changed(local: LocalState, remote: RemoteState) -> Verdict:
    for uri, secret in sorted(remote.secrets_consumed.items()):
        if uri not in remote.secrets_deleted and secret.revision != local.secret_revisions.get(uri, 0):
            hook = _hook(HookKind.SECRET_CHANGED, uri, secret.revision, secret.label)
            return run_hook(remote, hook, f"{uri} has revision {secret.revision}")
    return GO_ON


def _gone(local: LocalState, remote: RemoteState) -> Verdict:
    """Commit the removal of deleted secrets, then report revisions that no consumer tracks."""
    noted = local.secret_revisions.keys() | local.secret_obsolete_revisions.keys()
    if gone := tuple(uri for uri in remote.secrets_deleted if uri in noted):
        operation = new_operation(remote, OperationName.SECRETS_REMOVED, secrets=gone)
        return run(operation, f"deleted: {', '.join(gone)}")
    for uri, revisions in sorted(remote.secrets_obsolete.items()):
        if uri in remote.secrets_deleted or not _answers_for(remote, uri):
            continue
        for revision in revisions:
            if revision not in local.secret_obsolete_revisions.get(uri, ()):
                hook = _hook(HookKind.SECRET_REMOVE, uri, revision, _owned(remote, uri).label)
                return run_hook(remote, hook, f"no consumer tracks revision {revision} of {uri}")
    return GO_ON
