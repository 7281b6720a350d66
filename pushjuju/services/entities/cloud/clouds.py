"""Finds clouds and their credentials by name, and checks the definitions of clouds.

`local` and `manual` always exist. Other clouds are defined in a clouds.toml, of the client or of a
controller, or come with a plugin (public clouds). A controller's definition overrides the client's, and the
client's overrides a plugin's.

A credential of the controller's owner is stored under its name, a credential of another user under
`OWNER/NAME`. This key stands in `credentials.toml` and in a model's row.
Mirrors: juju cloud/clouds.go, cmd/juju/common/cloud.go, names CloudCredentialTag (3.6)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pushjuju.core.clouds import DEFAULT_REGION, EMPTY, KEYS, Cloud, CloudCredentials, StoredCredential
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.problems import Subject
from pushjuju.core.suggest import closest, is_alike
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.store.cloudfiles import CloudFiles as CloudFiles  # noqa: PLC0414 - commands hand it on
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.rows.model import Model

if TYPE_CHECKING:
    from pushjuju.plugins.api.clouds import Attr, ProviderType
    from pushjuju.plugins.manager import PluginHost

BUILT_IN: Mapping[str, str] = {"local": "local", "manual": "manual"}
_SUMMARIES: Mapping[str, str] = {
    "local": "Machines on this computer",
    "manual": "Existing machines, reached over SSH",
}
# Other names that `bootstrap` accepts. Mirrors: juju internal/provider/lxd/lxdnames (3.6)
_SECOND_NAMES: Mapping[str, str] = {"lxd": "localhost"}

Folders = Sequence[CloudFiles]
_TYPES: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "attrs": ("a map", dict),
    "bool": ("true or false", bool),
    "int": ("a whole number", int),
    "list": ("a list", (list, tuple)),
    "string": ("text", (str, int, float)),
}


def folders(datadir: DataDir, controller: ControllerDir | None = None) -> Folders:
    """Return the folders in which clouds are looked up; the controller's comes before the client's."""
    own = (controller.cloud_files,) if controller else ()
    return (*own, datadir.cloud_files)


def definition(places: Folders, name: str, host: PluginHost | None = None) -> Cloud:
    """Return the definition of a cloud, with `host` also of a public one, or raise NotFound."""
    for place in places:
        if name in place.clouds():
            table = place.clouds()[name]
            if isinstance(table, dict) and name in BUILT_IN:
                table = {"type": BUILT_IN[name], **table}
            try:
                return Cloud.from_document(name, table)
            except NotValid as error:
                raise NotValid(f"{error.message} in {place.root / 'clouds.toml'}") from None
    if name in BUILT_IN:
        return Cloud(name=name, type=BUILT_IN[name], description=_SUMMARIES[name])
    public = public_clouds(host).get(name) if host else None
    if public is None:
        own = _SECOND_NAMES.get(name)
        hint = f"the cloud of type {name} on this computer is {own}" if own else f"pushjuju add-cloud {name}"
        text, hint = f"cloud {name} not found", f"pushjuju clouds --all; {hint}"
        raise NotFound(text, hint=hint, subject=Subject("cloud", name))
    return public


def first_name(places: Folders, name: str) -> str:
    """Return `localhost` for Juju's other name `lxd`, unless a user has defined a cloud named `lxd`."""
    if any(name in place.clouds() for place in places):
        return name
    return _SECOND_NAMES.get(name, name)


def public_clouds(host: PluginHost) -> dict[str, Cloud]:
    """Return the public clouds of the plugins: name -> cloud."""
    return {
        name: Cloud.from_document(name, {"type": kind.name, "auth-types": auth_types(kind), **document})
        for kind in host.provider_types()
        for name, document in kind.public_clouds.items()
    }


def kind_of(host: PluginHost, name: str) -> ProviderType | None:
    """Return the type of cloud with this name, or None when no plugin has the type."""
    return next((kind for kind in host.provider_types() if kind.name == name), None)


def auth_types(kind: ProviderType) -> list[str]:
    """Return the authentication types of a type of cloud, except `empty`."""
    return [name for name in kind.credential_schemas if name != EMPTY]


def split(cloud: str) -> tuple[str, str]:
    """Return (cloud, region) of `cloud[/region]`; the region may be empty."""
    name, _, region = cloud.partition("/")
    return name, region


def choose_region(places: Folders, cloud: Cloud, asked: str) -> str:
    """Return the region `asked`; when empty, the default region, the first region, or `default`."""
    if asked:
        return cloud.region(asked).name
    for place in places:
        if found := place.credentials(cloud.name).default_region:
            return cloud.region(found).name
    return cloud.regions[0].name if cloud.regions else DEFAULT_REGION


def choose_credential(places: Folders, cloud: str, asked: str = "", owner: str = DEFAULT_USER) -> str:
    """Return the key of a credential.

    Args:
        asked: The key of a credential of any owner; empty for the owner's default or only credential.

    Raises:
        NotFound: The credential does not exist.
        NotValid: `asked` is empty, and the owner has several credentials and no default.
    """
    known: dict[str, StoredCredential] = {}
    default = ""
    for place in places:
        stored = place.credentials(cloud)
        known = {**stored.credentials, **known}
        default = default or stored.default_credential
    if asked and asked not in known:
        raise NotFound(f'credential "{asked}" for cloud "{cloud}" not found')
    known = {key: item for key, item in known.items() if parts_of(key)[0] == owner}
    if asked or default in known:
        return asked or default
    if len(known) > 1:
        raise NotValid(
            "more than one credential is available",
            detail="specify a credential using the --credential argument",
            hint=f"known names: {', '.join(sorted(known))}; default-credential {cloud} NAME chooses one",
        )
    return next(iter(known), "")


def keep_public(controller: ControllerDir, places: Folders, cloud: Cloud) -> None:
    """Write a public cloud into the controller's files, where its models find the cloud without a plugin."""
    if cloud.name not in BUILT_IN and not any(cloud.name in place.clouds() for place in places):
        controller.cloud_files.put_cloud(cloud.name, cloud.to_document())


def secret_attributes(kind: ProviderType | None, auth_type: str, names: Collection[str]) -> frozenset[str]:
    """Return the secret attributes of a credential; without a schema, all attributes count as secret."""
    schema = kind.credential_schemas.get(auth_type) if kind else None
    if schema is None:
        return frozenset(names)
    open_ones = {attr.name for attr in schema if not attr.secret}
    return frozenset(name for name in names if name not in open_ones)


def key_of(owner: str, name: str) -> str:
    """Return the key under which a user's credential is stored."""
    return name if owner == DEFAULT_USER or not name else f"{owner}/{name}"


def parts_of(key: str) -> tuple[str, str]:
    """Return the owner and the name of a stored credential."""
    owner, _, name = key.rpartition("/")
    return owner or DEFAULT_USER, name


def of_owner(stored: CloudCredentials, owner: str) -> CloudCredentials:
    """Return the credentials of one user, by their names without the owner."""
    own = {parts_of(key)[1]: item for key, item in stored.credentials.items() if parts_of(key)[0] == owner}
    return CloudCredentials(
        default_credential=stored.default_credential if owner == DEFAULT_USER else "",
        default_region=stored.default_region,
        credentials=own,
    )


def keep_credential(
    files: CloudFiles, cloud: str, key: str, item: StoredCredential, kind: ProviderType | None = None
) -> None:
    """Write a credential to files; attributes that the schema calls secret are encrypted."""
    secret = secret_attributes(kind, item.auth_type, list(item.attributes))
    files.put_credential(cloud, key, item, secret)


def share_with_hosts(ctx: Context) -> None:
    """Copy the clouds and credentials that models use from this user to the controller, for its other hosts.

    A controller that is not shared needs no copies.
    """
    if ctx.controller.vault is None:
        return
    own, client = ctx.controller.cloud_files, ctx.datadir.cloud_files
    with ctx.store.read() as tx:
        used = {(model.cloud, model.credential) for model in tx.list(Model, "model_list")}
    for cloud, name in sorted(used):
        defined = client.clouds().get(cloud)
        if defined is not None and cloud not in own.clouds():
            own.put_cloud(cloud, defined)
        found = client.credentials(cloud).credentials.get(name)
        if found is not None and name not in own.credentials(cloud).credentials:
            keep_credential(own, cloud, name, found)


def check_definition(cloud: Cloud, kind: ProviderType) -> list[str]:
    """Return a warning for each unknown key of a cloud, or raise NotValid for a wrong value.

    Mirrors: juju cloud/clouds.go, `ValidateCloudSet` (3.6)
    """
    for auth in cloud.auth_types:
        if auth not in kind.credential_schemas:
            known = ", ".join(sorted(kind.credential_schemas))
            raise NotValid(f'auth type "{auth}" not supported', hint=f"{kind.name} takes: {known}")
    schema = {attr.name: attr for attr in kind.cloud_schema}
    for name, attr in schema.items():
        _check_value(cloud, attr, cloud.own.get(name))
    return [_unknown(cloud, kind, name) for name in cloud.own if name not in schema] if schema else []


def _check_value(cloud: Cloud, attr: Attr, value: Any) -> None:
    what, wanted = _TYPES.get(attr.type, _TYPES["string"])
    if value is None:
        if attr.required:
            raise NotValid(
                f"cloud {cloud.name}: {attr.name}: expected {what}, got nothing", hint=attr.summary
            )
        return
    is_other = not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool)
    if is_other:
        raise NotValid(f"cloud {cloud.name}: {attr.name}: expected {what}", hint=attr.summary)
    if attr.choices and value not in attr.choices:
        known = ", ".join(attr.choices)
        raise NotValid(f"cloud {cloud.name}: {attr.name}: expected one of {known}", hint=attr.summary)


def _unknown(cloud: Cloud, kind: ProviderType, name: str) -> str:
    said = f"cloud {cloud.name}: {kind.name} has no key {name}"
    if name in {attr.name for attr in kind.config_schema}:
        return f"{said}; as a default of its models it belongs below config"
    near = closest(name, (*KEYS, *(attr.name for attr in kind.cloud_schema)))
    return f"{said}; perhaps you mean {near}" if near and is_alike(name, near) else said
