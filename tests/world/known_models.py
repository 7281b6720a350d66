"""Status documents of models that people know, such as OpenStack, and of models of any size; for pictures.

The short form is that of `model`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from random import Random
from typing import Any

from pushjuju.services.views.hook_runs import HookRun
from tests.world.printed import NINE

Found = tuple[dict[str, Any], list[dict[str, Any]]]
"""(status document, relation rows)"""

OPENSTACK_UNITS = """
ceph-mon=3 ceph-osd=4 ceph-radosgw=1 cinder=3 cinder-ceph=sub glance=3 keystone=3 mysql-innodb-cluster=3
neutron-api=3 neutron-api-plugin-ovn=sub nova-cloud-controller=3 nova-compute=6 ntp=sub nrpe=sub
openstack-dashboard=3 ovn-central=3 ovn-chassis=sub placement=3 rabbitmq-server=3 vault=3 heat=3 aodh=3
gnocchi=3 ceilometer=3 ceilometer-agent=sub designate=3 designate-bind=2 memcached=2 octavia=3 barbican=3
barbican-vault=sub manila=3 manila-ganesha=2 swift-proxy=2 swift-storage-z1=3 swift-storage-z2=3
glance-simplestreams-sync=1 magnum=2 masakari=3 hacluster-keystone=sub nagios=1 landscape-client=sub
easyrsa=1 etcd=3 prometheus-openstack-exporter=1
"""
_MYSQL = """
cinder glance keystone neutron-api nova-cloud-controller openstack-dashboard placement vault heat aodh
gnocchi designate octavia barbican manila magnum masakari
"""
_IDENTITY = """
cinder glance neutron-api nova-cloud-controller openstack-dashboard placement heat aodh gnocchi
ceilometer designate octavia barbican manila manila-ganesha swift-proxy ceph-radosgw magnum masakari
glance-simplestreams-sync prometheus-openstack-exporter
"""
_AMQP = """
cinder neutron-api nova-cloud-controller nova-compute heat aodh ceilometer designate octavia barbican
manila manila-ganesha magnum masakari glance
"""
_CERTIFIED = """
cinder glance keystone neutron-api nova-cloud-controller openstack-dashboard placement heat aodh gnocchi
ovn-central octavia barbican manila mysql-innodb-cluster rabbitmq-server swift-proxy magnum masakari
ceph-radosgw designate
"""
_NTP = """
ceph-mon ceph-osd nova-compute swift-storage-z1 swift-storage-z2
"""
_NRPE = f"{_MYSQL} rabbitmq-server mysql-innodb-cluster ceph-mon ceph-osd nova-compute etcd"
_OPENSTACK_OWN = """
ceph-osd:mon>ceph-mon:osd ceph-radosgw:mon>ceph-mon:radosgw cinder-ceph:ceph>ceph-mon:client
cinder:storage-backend~cinder-ceph:storage-backend cinder-ceph:ceph-access>nova-compute:ceph-access
glance:ceph>ceph-mon:client cinder:image-service>glance:image-service nova-compute:ceph>ceph-mon:client
nova-compute:image-service>glance:image-service nova-cloud-controller:image-service>glance:image-service
nova-cloud-controller:cloud-compute>nova-compute:cloud-compute
nova-cloud-controller:cinder-volume-service>cinder:cinder-volume-service
nova-cloud-controller:placement>placement:placement nova-cloud-controller:quantum>neutron-api:neutron-api
nova-cloud-controller:memcache>memcached:cache
neutron-api:neutron-plugin~neutron-api-plugin-ovn:neutron-plugin
neutron-api-plugin-ovn:ovsdb-cms>ovn-central:ovsdb-cms
nova-compute:neutron-plugin~ovn-chassis:nova-compute ovn-chassis:ovsdb>ovn-central:ovsdb
octavia:ovsdb-cms>ovn-central:ovsdb-cms nova-compute:nova-ceilometer~ceilometer-agent:nova-ceilometer
ceilometer:metric-service>gnocchi:metric-service aodh:metrics>gnocchi:metric-service
gnocchi:storage-ceph>ceph-mon:client gnocchi:coordinator>memcached:cache
designate:dns-backend>designate-bind:dns-backend designate:coordinator>memcached:cache
neutron-api:external-dns>designate:external-dns octavia:neutron-api>neutron-api:neutron-load-balancer
barbican:secrets~barbican-vault:secrets barbican-vault:secrets-storage>vault:secrets
manila:manila-plugin>manila-ganesha:manila-plugin manila-ganesha:ceph>ceph-mon:client
swift-proxy:swift-storage>swift-storage-z1:swift-storage
swift-proxy:swift-storage>swift-storage-z2:swift-storage
glance-simplestreams-sync:image-modifier>glance:image-modifier vault:etcd>etcd:db
etcd:certificates>easyrsa:client keystone:ha~hacluster-keystone:ha nrpe:monitors>nagios:monitors
masakari:compute>nova-compute:compute heat:dashboard>openstack-dashboard:dashboard-plugin
cinder:backup>swift-proxy:object-store glance:object-store>swift-proxy:object-store
nova-compute:container~landscape-client:container cinder:logs>graylog:beats
"""


def _each(names: str, endpoint: str, other: str) -> str:
    return " ".join(f"{name}:{endpoint}{other}" for name in names.split())


OPENSTACK_RELATIONS = " ".join(
    [
        _OPENSTACK_OWN,
        _each(_MYSQL, "shared-db", ">mysql-innodb-cluster:shared-db"),
        _each(_IDENTITY, "identity-service", ">keystone:identity-service"),
        _each(_AMQP, "amqp", ">rabbitmq-server:amqp"),
        _each(_CERTIFIED, "certificates", ">vault:certificates"),
        _each(_NTP, "juju-info", "~ntp:juju-info"),
        _each(_NRPE, "nrpe-external-master", "~nrpe:nrpe-external-master"),
    ]
)
KUBERNETES_UNITS = """
easyrsa=1 etcd=3 kubernetes-control-plane=2 kubernetes-worker=5 kubeapi-load-balancer=1 calico=sub
containerd=sub keepalived=sub openstack-integrator=1 openstack-cloud-controller=sub cinder-csi=sub
docker-registry=1 ceph-mon=3 ceph-osd=3 ceph-csi=sub coredns=1 telegraf=sub prometheus2=1 grafana=1
"""
KUBERNETES_RELATIONS = """
kubernetes-control-plane:loadbalancer-external>kubeapi-load-balancer:lb-consumers
kubernetes-control-plane:loadbalancer-internal>kubeapi-load-balancer:lb-consumers
kubernetes-worker:kube-control>kubernetes-control-plane:kube-control
kubernetes-control-plane:certificates>easyrsa:client etcd:certificates>easyrsa:client
kubernetes-worker:certificates>easyrsa:client kubeapi-load-balancer:certificates>easyrsa:client
kubernetes-control-plane:etcd>etcd:db calico:etcd>etcd:db kubernetes-control-plane:cni~calico:cni
kubernetes-worker:cni~calico:cni kubernetes-control-plane:container-runtime~containerd:containerd
kubernetes-worker:container-runtime~containerd:containerd
kubeapi-load-balancer:juju-info~keepalived:juju-info
openstack-cloud-controller:openstack>openstack-integrator:clients
kubernetes-control-plane:external-cloud-provider~openstack-cloud-controller:external-cloud-provider
cinder-csi:openstack>openstack-integrator:clients
kubernetes-control-plane:juju-info~cinder-csi:kube-control
kubeapi-load-balancer:openstack>openstack-integrator:lb-consumers
containerd:docker-registry>docker-registry:docker-registry docker-registry:cert-provider>easyrsa:client
ceph-osd:mon>ceph-mon:osd ceph-csi:ceph-client>ceph-mon:client
kubernetes-control-plane:juju-info~ceph-csi:kubernetes
kubernetes-control-plane:dns-provider>coredns:dns-provider kubernetes-worker:juju-info~telegraf:juju-info
kubernetes-control-plane:juju-info~telegraf:juju-info etcd:juju-info~telegraf:juju-info
prometheus2:target>telegraf:prometheus-client grafana:grafana-source>prometheus2:grafana-source
prometheus2:scrape>etcd:metrics prometheus2:manual-jobs>kubernetes-control-plane:prometheus
grafana:dashboards>kubernetes-control-plane:grafana
"""
COS_UNITS = """
traefik=1 alertmanager=2 prometheus=1 grafana=1 catalogue=1 loki=1 cos-configuration=1
"""
COS_RELATIONS = """
prometheus:ingress>traefik:ingress-per-unit loki:ingress>traefik:ingress-per-unit
grafana:ingress>traefik:traefik-route alertmanager:ingress>traefik:ingress
catalogue:ingress>traefik:ingress prometheus:alertmanager>alertmanager:alerting
loki:alertmanager>alertmanager:alerting grafana:grafana-source>prometheus:grafana-source
grafana:grafana-source>loki:grafana-source grafana:grafana-source>alertmanager:grafana-source
prometheus:metrics-endpoint>traefik:metrics-endpoint
prometheus:metrics-endpoint>alertmanager:self-metrics-endpoint
prometheus:metrics-endpoint>loki:metrics-endpoint prometheus:metrics-endpoint>grafana:metrics-endpoint
grafana:grafana-dashboard>loki:grafana-dashboard grafana:grafana-dashboard>prometheus:grafana-dashboard
grafana:grafana-dashboard>alertmanager:grafana-dashboard grafana:catalogue>catalogue:catalogue
prometheus:catalogue>catalogue:catalogue alertmanager:catalogue>catalogue:catalogue
prometheus:rules>cos-configuration:prometheus-config loki:rules>cos-configuration:loki-config
grafana:boards>cos-configuration:grafana-dashboards
"""

HADOOP_UNITS = """
namenode=1 resourcemanager=1 slave=3 plugin=sub client=1 ganglia=1 ganglia-node=sub rsyslog=1
rsyslog-forwarder-ha=sub
"""
HADOOP_RELATIONS = """
resourcemanager:namenode>namenode:resourcemanager namenode:datanode>slave:namenode
resourcemanager:nodemanager>slave:resourcemanager plugin:namenode>namenode:namenode
plugin:resourcemanager>resourcemanager:resourcemanager client:hadoop~plugin:hadoop-plugin
client:juju-info~ganglia-node:juju-info namenode:juju-info~ganglia-node:juju-info
resourcemanager:juju-info~ganglia-node:juju-info slave:juju-info~ganglia-node:juju-info
ganglia:node>ganglia-node:node rsyslog-forwarder-ha:syslog>rsyslog:aggregator
client:juju-info~rsyslog-forwarder-ha:juju-info namenode:juju-info~rsyslog-forwarder-ha:juju-info
resourcemanager:juju-info~rsyslog-forwarder-ha:juju-info slave:juju-info~rsyslog-forwarder-ha:juju-info
"""


def model(
    name: str,
    units: str,
    relations: str,
    *,
    not_well: Mapping[str, tuple[str, str]] | None = None,
    consumed: Mapping[str, str] | None = None,
    offered: Iterable[str] = (),
    containers: bool = False,
) -> Found:
    """Return (status document, relation rows) of a model in short form.

    Args:
        units: `application=number`, or `application=sub` for a subordinate.
        relations: `requirer:endpoint>provider:endpoint`, or `principal:endpoint~subordinate:endpoint`.
        not_well: Unit or application -> (status, message).
        consumed: Name -> address of consumed applications.
        containers: Whether units live in containers of three machines; else each has a machine of its own.
    """
    rows = [_row(words) for words in relations.split()]
    bad = dict(not_well or {})
    numbers = dict(item.split("=") for item in units.split())
    principals: dict[str, list[str]] = {name: [] for name, number in numbers.items() if number == "sub"}
    for row in rows:
        if row["type"] == "subordinate":
            principals[row["provider"].partition(":")[0]].append(row["requirer"].partition(":")[0])
    machines: dict[str, Any] = {}
    applications = {
        app: _application(app, number, principals, bad, machines, containers)
        for app, number in numbers.items()
    }
    rows += [_peer(app) for app, number in numbers.items() if number == "3"]
    document: dict[str, Any] = {"model": {"name": name}, "machines": machines, "applications": applications}
    if consumed:
        document["application-endpoints"] = {
            key: {"url": url, "application-status": {"current": "active"}} for key, url in consumed.items()
        }
    if offered:
        document["offers"] = {app: {"application": app} for app in offered}
    return document, rows


def _row(words: str) -> dict[str, Any]:
    subordinate = "~" in words
    requirer, provider = words.split("~" if subordinate else ">")
    kind = "subordinate" if subordinate else "regular"
    interface = provider.partition(":")[2]
    return {
        "provider": provider, "requirer": requirer, "interface": interface, "type": kind,
        "status": "joined", "message": "",
    }  # fmt: skip


def _peer(name: str) -> dict[str, Any]:
    return {**_row(f"{name}:cluster>{name}:cluster"), "type": "peer"}


def _application(
    app: str,
    number: str,
    principals: Mapping[str, list[str]],
    bad: Mapping[str, tuple[str, str]],
    machines: dict[str, Any],
    containers: bool,
) -> dict[str, Any]:
    status, message = bad.get(app, ("active", ""))
    found: dict[str, Any] = {
        "charm": app, "charm-name": app, "exposed": False,
        "application-status": {"current": status, "message": message},
    }  # fmt: skip
    if number == "sub":
        return {**found, "subordinate-to": sorted(principals[app])}
    subs = sorted(name for name, mine in principals.items() if app in mine)
    found["units"] = {
        f"{app}/{at}": {
            **_unit(f"{app}/{at}", bad),
            "machine": _machine(machines, containers),
            "subordinates": {f"{sub}/{app}-{at}": _unit(f"{sub}/{app}-{at}", bad) for sub in subs},
        }
        for at in range(int(number))
    }
    return found


def _unit(name: str, bad: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    status, message = bad.get(name, ("active", "Unit is ready"))
    agent = {"current": status} if status in ("lost", "failed") else {"current": "idle"}
    return {"workload-status": {"current": status, "message": message}, "juju-status": agent}


def _machine(machines: dict[str, Any], containers: bool) -> str:
    if not containers:
        found = str(len(machines))
        machines[found] = _machine_document(found)
        return found
    hosts = 3
    total = sum(len(machine["containers"]) for machine in machines.values())
    host = str(total % hosts)
    machines.setdefault(host, {**_machine_document(host), "containers": {}})
    found = f"{host}/lxd/{len(machines[host]['containers'])}"
    machines[host]["containers"][found] = _machine_document(found)
    return found


def _machine_document(name: str) -> dict[str, Any]:
    zone = f"zone{int(name.partition('/')[0]) % 3 + 1}"
    return {
        "juju-status": {"current": "started"}, "machine-status": {"current": "running"},
        "instance-id": f"juju-{name.replace('/', '-')}", "dns-name": f"10.0.0.{len(name)}",
        "base": {"name": "ubuntu", "channel": "22.04"},
        "hardware": f"arch=amd64 cores=4 availability-zone={zone}",
    }  # fmt: skip


NOT_WELL = {
    "nova-compute/3": ("error", 'hook failed: "config-changed"'),
    "vault": ("blocked", "Unit is sealed"),
    "glance": ("waiting", "Incomplete relations: identity"),
    "heat/1": ("lost", "agent is not communicating with the server"),
    "octavia": ("maintenance", "Setting up"),
}


def openstack() -> Found:
    return model(
        "openstack",
        OPENSTACK_UNITS,
        OPENSTACK_RELATIONS,
        not_well=NOT_WELL,
        consumed={"graylog": "admin/logs.graylog"},
        offered=["keystone"],
        containers=True,
    )


def kubernetes() -> Found:
    return model("kubernetes", KUBERNETES_UNITS, KUBERNETES_RELATIONS)


def cos() -> Found:
    return model("cos", COS_UNITS, COS_RELATIONS, offered=["loki", "prometheus", "grafana"])


def hadoop() -> Found:
    """The bundle hadoop-processing of Apache Bigtop; a DataNode has failed."""
    bad = {"slave/1": ("error", 'hook failed: "datanode-relation-changed"')}
    return model("hadoop", HADOOP_UNITS, HADOOP_RELATIONS, not_well=bad)


def random_model(applications: int, *, hubs: int, seed: int = 1, links: bool = True) -> Found:
    """Return a model of a size: groups of related applications, and hubs that most of them use."""
    draw = Random(seed)
    names = [
        f"svc-{at:03}-{draw.choice(('api', 'db', 'cache', 'worker', 'frontend'))}"
        for at in range(applications)
    ]
    centre, rest = names[:hubs], names[hubs:]
    lines = []
    for at, name in enumerate(rest):
        lines += [f"{name}:hub>{hub}:hub" for hub in centre if draw.random() < 0.25]
        near = rest[max(0, at - 8) : at]
        chosen = draw.sample(near, min(len(near), draw.choice((0, 1, 1, 2))))
        lines += [f"{name}:link>{other}:link" for other in chosen]
    bad = dict.fromkeys(draw.sample(rest, max(1, applications // 60)), ("error", "hook failed"))
    return model(f"m{applications}", " ".join(f"{name}={draw.choice((1, 1, 2, 3))}" for name in names),
                 " ".join(lines) if links else "", not_well=bad)  # fmt: skip


_HOOKS = ("config-changed", "update-status", "db-relation-changed", "db-relation-joined", "upgrade-charm")


def runs(number: int, *, units: int, seed: int = 1) -> list[HookRun]:
    """Return runs of hooks: each unit starts, then all run hooks in bursts, of which a few fail."""
    draw = Random(seed)
    found = []
    free = dict.fromkeys((f"app{at % 7}/{at // 7}" for at in range(units)), 0.0)
    for at in range(number):
        unit = list(free)[at % units]
        hook = ("install", "leader-elected", "config-changed", "start")[at // units] if at < 4 * units else ""
        begin = max(free[unit], 600.0 * (at // (10 * units)) + draw.random() * 3)
        took = 0.2 + draw.random() * (8 if hook == "install" else 2)
        free[unit] = begin + took + 0.1
        started = NINE + timedelta(seconds=begin)
        found.append(
            HookRun(
                unit=unit,
                hook=hook or draw.choice(_HOOKS),
                kind="hook",
                operation=f"{at:08}",
                result="failed" if draw.random() < 0.01 else "ok",
                started=started,
                committed=started + timedelta(seconds=took),
                took_s=round(took, 3),
            )
        )
    return found
