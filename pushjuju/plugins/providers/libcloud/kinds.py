"""The types of cloud behind libcloud: credentials, questions, public clouds. Layer: plugins; data only.

Mirrors: juju provider/{ec2,openstack,gce,azure}/credentials.go, cloud/fallback_public_cloud.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.plugins.types import Attr, ProviderType, Question


def _words(text: str) -> list[str]:
    return text.split()


_AWS = _words(
    "us-east-1 us-east-2 us-west-1 us-west-2 ca-central-1 eu-west-1 eu-west-2 eu-west-3 eu-central-1"
    " eu-north-1 eu-south-1 me-south-1 af-south-1 ap-east-1 ap-south-1 ap-southeast-1 ap-southeast-2"
    " ap-southeast-3 ap-northeast-1 ap-northeast-2 ap-northeast-3 sa-east-1"
)
_AWS_CHINA = ("cn-north-1", "cn-northwest-1")
_AWS_GOV = ("us-gov-west-1", "us-gov-east-1")
_GOOGLE = _words(
    "us-east1 us-east4 us-central1 us-west1 us-west2 us-west3 us-west4 asia-east1 asia-east2 asia-"
    " northeast1 asia-northeast2 asia-northeast3 asia-south1 asia-southeast1 asia-southeast2"
    " australia-southeast1 europe-central2 europe-north1 europe-west1 europe-west2 europe-west3"
    " europe-west4 europe-west6 northamerica-northeast1 southamerica-east1"
)
_AZURE = _words(
    "centralus eastus eastus2 northcentralus southcentralus westcentralus westus westus2 westus3"
    " northeurope westeurope uksouth ukwest francecentral germanywestcentral norwayeast swedencentral"
    " switzerlandnorth eastasia southeastasia japaneast japanwest australiaeast australiasoutheast"
    " brazilsouth southindia centralindia westindia canadacentral canadaeast koreacentral koreasouth"
)
_DIGITALOCEAN = _words("nyc1 nyc3 ams3 fra1 lon1 sfo2 sfo3 sgp1 tor1 blr1 syd1")


def _endpoints(regions: list[str] | tuple[str, ...], form: str) -> dict[str, Any]:
    return {region: {"endpoint": form.format(region)} for region in regions}


def _secret(name: str, summary: str, *, required: bool = True, **more: Any) -> Attr:
    return Attr(name=name, summary=summary, required=required, secret=True, **more)


def _open(name: str, summary: str, *, required: bool = True, **more: Any) -> Attr:
    return Attr(name=name, summary=summary, required=required, **more)


_ACCESS_KEY = (
    _open("access-key", "The EC2 access key"),
    _secret("secret-key", "The EC2 secret key"),
)
_EC2 = ProviderType(
    name="ec2",
    summary="Amazon Web Services",
    credential_schemas={"access-key": _ACCESS_KEY},
    config_schema=(Attr(name="vpc-id", summary="Use a specific AWS VPC ID"),),
    features=frozenset({"start", "host-keys", "user-data", "poll", "firewall"}),
    public_clouds={
        "aws": {
            "description": "Amazon Web Services",
            "regions": _endpoints(_AWS, "https://ec2.{}.amazonaws.com"),
        },
        "aws-china": {
            "description": "Amazon China",
            "regions": _endpoints(_AWS_CHINA, "https://ec2.{}.amazonaws.com.cn"),
        },
        "aws-gov": {
            "description": "Amazon (USA Government)",
            "regions": _endpoints(_AWS_GOV, "https://ec2.{}.amazonaws.com"),
        },
    },
)
_OPENSTACK = ProviderType(
    name="openstack",
    summary="Openstack Cloud",
    credential_schemas={
        "access-key": (
            _open("access-key", "The access key to authenticate with."),
            _secret("secret-key", "The secret key to authenticate with."),
            _open("tenant-name", "The OpenStack tenant name.", required=False),
            _open("tenant-id", "The Openstack tenant ID", required=False),
            _open("version", "The Openstack identity version", required=False),
        ),
        "userpass": (
            _open("username", "The username to authenticate with."),
            _secret("password", "The password for the specified username."),
            _open("tenant-name", "The OpenStack tenant name.", required=False),
            _open("tenant-id", "The Openstack tenant ID", required=False),
            _open("version", "The Openstack identity version", required=False),
            _open("domain-name", "The OpenStack domain name.", required=False),
            _open("project-domain-name", "The OpenStack project domain name.", required=False),
            _open("user-domain-name", "The OpenStack user domain name.", required=False),
        ),
    },
    questions=(
        Question(
            key="endpoint",
            text="the API endpoint url for the cloud",
            kind="url",
            default="",
            environ=("OS_AUTH_URL",),
        ),
        Question(
            key="ca-certificates",
            text="a path to the CA certificate for your cloud if one is required to access it. (optional)",
            kind="file",
            default="",
            shown_default="none",
            environ=("OS_CACERT",),
        ),
        Question(key="auth-types", kind="choices"),
        Question(key="regions", kind="regions", environ=("OS_REGION_NAME",)),
    ),
)
_GCE = ProviderType(
    name="gce",
    summary="Google Cloud Platform",
    credential_schemas={
        "jsonfile": (
            _secret(
                "file",
                "path to the .json file containing a service account key for your project",
                file_path=True,
            ),
        ),
        "oauth2": (
            _open("client-id", "client ID"),
            _open("client-email", "client e-mail address"),
            _secret("private-key", "client secret"),
            _open("project-id", "project ID"),
        ),
    },
    public_clouds={
        "google": {
            "description": "Google Cloud Platform",
            "regions": {region: {} for region in _GOOGLE},
            "endpoint": "https://www.googleapis.com",
        }
    },
)
_AZURE_KIND = ProviderType(
    name="azure",
    summary="Microsoft Azure",
    credential_schemas={
        "service-principal-secret": (
            _open("application-id", "Azure Active Directory application ID"),
            _open("tenant-id", "Azure Active Directory tenant ID", required=False),
            _open("subscription-id", "Azure subscription ID"),
            _open("managed-subscription-id", "Azure managed subscription ID", required=False),
            _secret("application-password", "Azure Active Directory application password"),
        ),
    },
    public_clouds={
        "azure": {
            "description": "Microsoft Azure",
            "regions": _endpoints(_AZURE, "https://management.azure.com"),
        }
    },
)
_DIGITALOCEAN_KIND = ProviderType(
    name="digitalocean",
    summary="DigitalOcean droplets",
    credential_schemas={"token": (_secret("token", "API token with write scope"),)},
    public_clouds={
        "digitalocean": {
            "description": "DigitalOcean",
            "regions": {region: {} for region in _DIGITALOCEAN},
            "endpoint": "https://api.digitalocean.com",
        }
    },
)

KINDS: tuple[ProviderType, ...] = (_EC2, _OPENSTACK, _GCE, _AZURE_KIND, _DIGITALOCEAN_KIND)
BY_NAME: Mapping[str, ProviderType] = {kind.name: kind for kind in KINDS}
