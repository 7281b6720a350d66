"""Finds credentials in the files and variables of the clouds' own tools.

No function uses the network, and no message contains a value.
Mirrors: juju provider/{ec2,openstack,gce,azure}/credentials.go DetectCredentials (3.6)
"""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.core.values import regex
from pushjuju.plugins.api.clouds import DetectedCredential

Environ = Mapping[str, str]
_LARGEST = 1024 * 1024  # bytes; larger files are ignored
_EXPORT = regex(r"^\s*(?:export\s+)?([A-Z_][A-Z0-9_]*)=(.*?)\s*$")


def _home(environ: Environ) -> Path | None:
    return Path(environ["HOME"]) if environ.get("HOME") else None


def _text(path: Path | None) -> str | None:
    """Return the text of a file, or None when it cannot be read."""
    try:
        if path is None or path.stat().st_size > _LARGEST:
            return None
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return None


def _ini(path: Path | None) -> configparser.ConfigParser | None:
    """Return the content of an ini file, or None when the file cannot be read."""
    text = _text(path)
    if text is None:
        return None
    parser = configparser.ConfigParser(interpolation=None, default_section="\0none")
    try:
        parser.read_string(text)
    except configparser.Error:
        raise NotValid(f"{path} cannot be read: not an ini file") from None
    return parser


def _json(path: Path | None) -> dict[str, object] | None:
    text = _text(path)
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        raise NotValid(f"{path} cannot be read: not JSON") from None
    return found if isinstance(found, dict) else None


def _yaml(path: Path | None) -> dict[str, Any] | None:
    text = _text(path)
    if text is None:
        return None
    import yaml  # only OpenStack's clouds.yaml is YAML

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        raise NotValid(f"{path} cannot be read: not YAML") from None
    return found if isinstance(found, dict) else None


def find_ec2(environ: Environ) -> list[DetectedCredential]:
    """Find credentials in ~/.aws/credentials and ~/.aws/config, or else in AWS_ and EC2_ variables."""
    home = _home(environ)
    folder = home / ".aws" if home else None
    file = environ.get("AWS_SHARED_CREDENTIALS_FILE")
    keys = _ini(Path(file) if file else folder / "credentials" if folder else None)
    found: list[DetectedCredential] = []
    if keys is not None:
        config = environ.get("AWS_CONFIG_FILE")
        regions = _ini(Path(config) if config else folder / "config" if folder else None)
        for name in keys.sections():
            access, secret = keys[name].get("aws_access_key_id"), keys[name].get("aws_secret_access_key")
            if access and secret:
                found.append(
                    _aws(name, access, secret, _aws_region(regions, name), default=name == "default")
                )
    if found:
        return found
    access = environ.get("AWS_ACCESS_KEY_ID") or environ.get("EC2_ACCESS_KEY") or ""
    secret = environ.get("AWS_SECRET_ACCESS_KEY") or environ.get("EC2_SECRET_KEY") or ""
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or ""
    user = environ.get("USER") or "default"
    return [_aws(user, access, secret, region)] if access and secret else []


def _aws_region(regions: configparser.ConfigParser | None, name: str) -> str:
    for section in (name, f"profile {name}", "default"):
        if regions is not None and regions.has_option(section, "region"):
            return regions.get(section, "region")
    return ""


def _aws(name: str, access: str, secret: str, region: str, *, default: bool = False) -> DetectedCredential:
    return DetectedCredential(
        name=_name(name),
        label=f'aws credential "{name}"',
        auth_type="access-key",
        attributes={"access-key": access, "secret-key": secret},
        region=region,
        default=default,
    )


def find_openstack(environ: Environ) -> list[DetectedCredential]:
    """Find credentials in clouds.yaml and ~/.novarc, or else in OS_ variables."""
    home = _home(environ)
    listed = None
    for path in (Path("clouds.yaml"), home / ".config" / "openstack" / "clouds.yaml" if home else None):
        listed = listed or _yaml(path)
    found = [
        item
        for name, entry in ((listed or {}).get("clouds") or {}).items()
        if isinstance(entry, dict) and (item := _openstack(_from_clouds_yaml(entry), label=str(name)))
    ]
    novarc = _text(home / ".novarc" if home else None)
    if novarc is not None:
        pairs = (match.groups() for line in novarc.splitlines() if (match := _EXPORT.match(line)))
        environ = {**environ, **{key: value.strip("\"'") for key, value in pairs}}
    own = _openstack(
        {key.removeprefix("OS_"): value for key, value in environ.items() if key.startswith("OS_")}
    )
    return [*found, *([own] if own else [])]


def _from_clouds_yaml(entry: Mapping[str, Any]) -> dict[str, str]:
    auth = entry.get("auth") if isinstance(entry.get("auth"), dict) else {}
    found = {str(key).upper(): str(value) for key, value in (auth or {}).items()}
    found["REGION_NAME"] = str(entry.get("region_name") or "")
    found["IDENTITY_API_VERSION"] = str(entry.get("identity_api_version") or "")
    return found


def _openstack(given: Mapping[str, str], label: str = "") -> DetectedCredential | None:
    user = given.get("USERNAME") or ""
    access = given.get("ACCESS_KEY") or ""
    tenant = given.get("TENANT_NAME") or given.get("PROJECT_NAME") or ""
    tenant_id = given.get("TENANT_ID") or given.get("PROJECT_ID") or ""
    common = {
        "tenant-name": tenant,
        "tenant-id": tenant_id,
        "version": given.get("IDENTITY_API_VERSION") or "",
    }
    if user and given.get("PASSWORD"):
        auth_type, own = (
            "userpass",
            {
                "username": user,
                "password": given["PASSWORD"],
                "domain-name": given.get("DOMAIN_NAME") or "",
                "project-domain-name": given.get("PROJECT_DOMAIN_NAME") or "",
                "user-domain-name": given.get("USER_DOMAIN_NAME") or "",
            },
        )
    elif access and given.get("SECRET_KEY"):
        auth_type, own = "access-key", {"access-key": access, "secret-key": given["SECRET_KEY"]}
    else:
        return None
    if not (tenant or tenant_id):
        return None
    region = given.get("REGION_NAME") or ""
    who = user or access
    return DetectedCredential(
        name=_name(label or who),
        label=f'openstack region "{region or "<unspecified>"}" project "{tenant or tenant_id}" user "{who}"',
        auth_type=auth_type,
        attributes={key: value for key, value in {**own, **common}.items() if value},
        region=region,
    )


def find_gce(environ: Environ) -> list[DetectedCredential]:
    """Look at GOOGLE_APPLICATION_CREDENTIALS, or else at gcloud's application_default_credentials.json."""
    home = _home(environ)
    named = environ.get("GOOGLE_APPLICATION_CREDENTIALS")
    own = environ.get("CLOUDSDK_CONFIG") or (str(home / ".config" / "gcloud") if home else "")
    path = Path(named) if named else Path(own, "application_default_credentials.json") if own else None
    known = _json(path)
    if path is None or known is None or known.get("type") != "service_account":
        return []  # the login of a user, made by `gcloud auth login`, cannot start machines
    who = str(known.get("client_email") or "default")
    return [
        DetectedCredential(
            name=_name(environ.get("USER") or "default"),
            label=f'google credential "{who}"',
            auth_type="jsonfile",
            attributes={"file": str(path)},
            region=environ.get("CLOUDSDK_COMPUTE_REGION") or "",
        )
    ]


def find_azure(environ: Environ) -> list[DetectedCredential]:
    """Find a credential in the AZURE_ and ARM_ variables of Azure's SDK and Terraform."""

    def first(*names: str) -> str:
        return next((environ[name] for name in names if environ.get(name)), "")

    found = {
        "application-id": first("AZURE_CLIENT_ID", "ARM_CLIENT_ID"),
        "application-password": first("AZURE_CLIENT_SECRET", "ARM_CLIENT_SECRET"),
        "subscription-id": first("AZURE_SUBSCRIPTION_ID", "ARM_SUBSCRIPTION_ID"),
    }
    tenant = first("AZURE_TENANT_ID", "ARM_TENANT_ID")
    if not all(found.values()):
        return []
    return [
        DetectedCredential(
            name=_name(environ.get("USER") or "default"),
            label=f'azure subscription "{found["subscription-id"]}"',
            auth_type="service-principal-secret",
            attributes={**found, **({"tenant-id": tenant} if tenant else {})},
        )
    ]


def find_digitalocean(environ: Environ) -> list[DetectedCredential]:
    """Find a credential in the token variables, or else in doctl's configuration."""
    home = _home(environ)
    tokens: dict[str, str] = {}
    named = environ.get("DIGITALOCEAN_ACCESS_TOKEN") or environ.get("DIGITALOCEAN_TOKEN") or ""
    if named:
        tokens["default"] = named
    else:
        known = _yaml(home / ".config" / "doctl" / "config.yaml" if home else None) or {}
        tokens["default"] = str(known.get("access-token") or "")
        contexts = known.get("auth-contexts")
        tokens |= {str(name): str(token or "") for name, token in (contexts or {}).items()}
    return [
        DetectedCredential(
            name=_name(name),
            label=f'digitalocean credential "{name}"',
            auth_type="token",
            attributes={"token": token},
            default=name == "default",
        )
        for name, token in tokens.items()
        if token and token != "true"  # noqa: S105 - doctl writes it when the token is kept elsewhere
    ]


def _name(text: str) -> str:
    """Return a text turned into a valid name of a credential."""
    found = re.sub(r"[^a-zA-Z0-9.@_+-]", "_", text)
    return found if found[:1].isalpha() else f"c{found}"


FINDERS: Mapping[str, Callable[[Environ], list[DetectedCredential]]] = MappingProxyType(
    {
        "ec2": find_ec2,
        "openstack": find_openstack,
        "gce": find_gce,
        "azure": find_azure,
        "digitalocean": find_digitalocean,
    }
)
