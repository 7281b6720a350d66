"""The types of cloud that libcloud supports: credentials, questions, public clouds. Data only.

Mirrors: juju provider/{ec2,openstack,gce,azure,vsphere}/credentials.go, cloud/fallback_public_cloud.go (3.6)
"""

from __future__ import annotations

from typing import Any

from pushjuju.core.values import changed
from pushjuju.plugins.api.clouds import Attr, ProviderType, Question


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
    "us-east1 us-east4 us-central1 us-west1 us-west2 us-west3 us-west4 asia-east1 asia-east2"
    " asia-northeast1 asia-northeast2 asia-northeast3 asia-south1 asia-southeast1 asia-southeast2"
    " australia-southeast1 europe-central2 europe-north1 europe-west1 europe-west2 europe-west3"
    " europe-west4 europe-west6 northamerica-northeast1 southamerica-east1"
)
_AZURE = _words(
    "centralus eastus eastus2 northcentralus southcentralus westcentralus westus westus2 westus3"
    " northeurope westeurope uksouth ukwest francecentral germanywestcentral norwayeast swedencentral"
    " switzerlandnorth eastasia southeastasia japaneast japanwest australiaeast australiasoutheast"
    " brazilsouth southindia centralindia westindia canadacentral canadaeast koreacentral koreasouth"
)
_OVH = _words("GRA7 GRA9 GRA11 SBG5 SBG7 BHS5 DE1 UK1 WAW1 SGP1 SYD1")
_VULTR = _words(
    "ewr ord dfw sea lax atl ams lhr fra sjc syd yto cdg nrt waw mad icn mia sgp sto mex mel bom jnb tlv blr"
    " del scl itm man sao hnl"
)
_LINODE = _words(
    "us-east us-central us-west us-southeast us-ord us-lax us-mia us-sea us-iad ca-central eu-west eu-central"
    " fr-par se-sto nl-ams it-mil es-mad gb-lon de-fra-2 ap-south ap-west ap-northeast jp-osa jp-tyo-3 in-maa"
    " in-bom-2 id-cgk sg-sin-2 ap-southeast au-mel br-gru"
)
_DIGITALOCEAN = _words("nyc1 nyc3 ams3 fra1 lon1 sfo2 sfo3 sgp1 tor1 blr1 syd1")


_ADAPTED = frozenset({"start", "host-keys", "user-data", "poll"})


def _endpoints(regions: list[str] | tuple[str, ...], form: str) -> dict[str, object]:
    return {region: {"endpoint": form.format(region)} for region in regions}


def _secret(name: str, summary: str, *, required: bool = True, **more: Any) -> Attr:
    return Attr(name=name, summary=summary, required=required, secret=True, **more)


def _open(name: str, summary: str, *, required: bool = True, **more: Any) -> Attr:
    return Attr(name=name, summary=summary, required=required, **more)


_ACCESS_KEY = (_open("access-key", "The EC2 access key"), _secret("secret-key", "The EC2 secret key"))
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
_CERTIFICATES = Question(
    key="ca-certificates",
    text="a path to the CA certificate for your cloud if one is required to access it. (optional)",
    kind="file",
    default="",
    shown_default="none",
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
        changed(_CERTIFICATES, environ=("OS_CACERT",)),
        Question(key="auth-types", kind="choices"),
        Question(key="regions", kind="regions", environ=("OS_REGION_NAME",)),
    ),
    config_schema=(
        Attr(name="network", summary="Networks for machines, by name or id, with commas"),
        Attr(name="external-network", summary="The network that floating IPs come from, by name or id"),
        Attr(
            name="use-default-secgroup",
            summary="Whether machines also have the security group default",
            type="bool",
            default=False,
        ),
    ),
    features=_ADAPTED | {"firewall"},
    public_clouds={
        "ovh": {
            "description": "OVHcloud Public Cloud",
            "regions": {region: {} for region in _OVH},
            "endpoint": "https://auth.cloud.ovh.net/v3",
        }
    },
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
    config_schema=(Attr(name="vpc-id", summary="Use a specific VPC network, by name"),),
    features=_ADAPTED | {"firewall"},
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
        )
    },
    features=_ADAPTED | {"firewall"},
    public_clouds={
        "azure": {
            "description": "Microsoft Azure",
            "regions": _endpoints(_AZURE, "https://management.azure.com"),
        }
    },
)


def _by_token(
    name: str, summary: str, token: str, *, title: str, regions: list[str], endpoint: str
) -> ProviderType:
    """Return the type of a public cloud whose credential is a token."""
    known = {"description": title, "regions": {region: {} for region in regions}, "endpoint": endpoint}
    return ProviderType(
        name=name,
        summary=summary,
        credential_schemas={"token": (_secret("token", token),)},
        features=_ADAPTED,
        public_clouds={name: known},
    )


_DIGITALOCEAN_KIND = _by_token(
    "digitalocean",
    "DigitalOcean droplets",
    "API token with write scope",
    title="DigitalOcean",
    regions=_DIGITALOCEAN,
    endpoint="https://api.digitalocean.com",
)
_VULTR_KIND = _by_token(
    "vultr",
    "Vultr cloud instances",
    "API key",
    title="Vultr",
    regions=_VULTR,
    endpoint="https://api.vultr.com",
)
_LINODE_KIND = _by_token(
    "linode",
    "Linode (Akamai) instances",
    "API token that may read and write Linodes, volumes and the account",
    title="Linode (Akamai)",
    regions=_LINODE,
    endpoint="https://api.linode.com",
)
_SCALEWAY_KIND = ProviderType(
    name="scaleway",
    summary="Scaleway instances",
    credential_schemas={
        "access-key": (
            _open("access-key", "access key of the API key; it is not sent", required=False),
            _secret("secret-key", "secret key of the API key"),
            _open("project-id", "ID of the project"),
        )
    },
    features=_ADAPTED,
    public_clouds={
        "scaleway": {
            "description": "Scaleway",
            "regions": {region: {} for region in ("fr-par", "nl-ams", "pl-waw")},
            "endpoint": "https://api.scaleway.com",
        }
    },
)

_VSPHERE_KIND = ProviderType(
    name="vsphere",
    summary="VMware vSphere",
    credential_schemas={
        "userpass": (
            _open("user", "The username to authenticate with."),
            _secret("password", "The password to authenticate with."),
            _open("vmfolder", "The folder to add VMs from the model.", required=False),
        )
    },
    questions=(
        Question(key="endpoint", text="the vCenter address or URL"),
        Question(key="auth-types", kind="choices"),
        Question(key="regions", text="datacenter", kind="names"),
    ),
    config_schema=(
        Attr(name="primary-network", summary="The network of machines, by name; VM Network when not set"),
        Attr(name="datastore", summary="The datastore of machines, by name; vCenter picks one when not set"),
        Attr(
            name="disk-provisioning-type",
            summary="How disks are made",
            choices=("thin", "thick", "thickEagerZero"),
        ),
    ),
    features=_ADAPTED,
)
_CLOUDSTACK_KIND = ProviderType(
    name="cloudstack",
    summary="Apache CloudStack, in zones with security groups",
    credential_schemas={
        "access-key": (
            _open("api-key", "API key of the user"),
            _secret("secret-key", "secret key of the user"),
        )
    },
    questions=(
        Question(key="endpoint", text="the API endpoint url for the cloud (.../client/api)", kind="url"),
        _CERTIFICATES,
        Question(key="auth-types", kind="choices"),
        Question(key="regions", text="zone", kind="names"),
    ),
    config_schema=(Attr(name="network", summary="Networks for machines, by name or id, with commas"),),
    features=_ADAPTED | {"firewall"},
)

_IMAGES = Attr(name="images", summary="base -> image to start from", type="attrs")


def _with_keys(kind: ProviderType, *, of_models: bool = False) -> ProviderType:
    """Return a type with keys for the cloud's table; with `of_models`, also the keys of its models."""
    return changed(kind, cloud_schema=(_IMAGES, *(kind.config_schema if of_models else ())))


KINDS: tuple[ProviderType, ...] = (
    _with_keys(_EC2, of_models=True),
    _with_keys(_OPENSTACK, of_models=True),
    _with_keys(_GCE, of_models=True),
    _with_keys(_AZURE_KIND),
    _with_keys(_DIGITALOCEAN_KIND),
    _with_keys(_VULTR_KIND),
    _with_keys(_LINODE_KIND),
    _with_keys(_VSPHERE_KIND),
    _with_keys(_SCALEWAY_KIND),
    _with_keys(_CLOUDSTACK_KIND),
)
