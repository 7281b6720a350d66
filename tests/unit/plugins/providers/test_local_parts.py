"""Parts of the local provider that need no rights: bases, subnets, names, locks, cgroup layouts."""

from __future__ import annotations

import errno
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.core.base import Base
from pushjuju.core.cloudinit_script import to_script, unknown_keys
from pushjuju.core.errors import NotFound, NotValid, ProviderError
from pushjuju.plugins.api.findings import Fix
from pushjuju.plugins.api.providers import no_progress
from pushjuju.plugins.providers.local import bases, doctor, limits, prepare, unsynced
from pushjuju.plugins.providers.local.network import (
    choose_subnet,
    free_index,
    hardware_address,
    nat_rules,
    parse_subnet,
)
from pushjuju.plugins.providers.local.provider import hardware
from pushjuju.plugins.providers.local.sources import BasesConfig, host_base
from pushjuju.plugins.providers.local.supervisor import nspawn_command
from pushjuju.plugins.providers.local.system import locked, put_file
from pushjuju.plugins.providers.nspawn.cgroups import hierarchies
from pushjuju.plugins.providers.nspawn.layout import Layout, Record

NOBLE = Base("ubuntu", "24.04")
RECORD = Record(
    id="juju-1-0",
    controller_uuid="c",
    model_uuid="m",
    machine_id="0",
    hostname="juju-1-0",
    index=2,
    address="10.70.1.2",
    gateway="10.70.1.1",
    cidr="10.70.1.0/24",
    base="ubuntu@24.04/stable",
    root="/base",
    arch="amd64",
    created="2025-03-01T09:00:00.000000Z",
    tags={"juju-units-deployed": "web/0"},
)


@pytest.mark.parametrize(
    ("cores", "mem", "text"),
    [
        (None, None, "arch=amd64 cores=4 mem=8000M virt-type=container"),
        (1, 256, "arch=amd64 cores=1 mem=256M virt-type=container"),
        (64, 92160000, "arch=amd64 cores=4 mem=8000M virt-type=container"),
    ],
)
def test_a_machine_never_claims_more_than_its_host_has(cores: int | None, mem: int | None, text: str) -> None:
    assert str(hardware(replace(RECORD, cores=cores, mem=mem), cores=4, mem=8000)) == text


class TestSources:
    def test_known_archives(self) -> None:
        source = BasesConfig().source(NOBLE, "amd64")
        assert source is not None
        assert source.suite == "noble"
        assert source.suites == (
            "deb http://archive.ubuntu.com/ubuntu noble main restricted universe multiverse",
            "deb http://archive.ubuntu.com/ubuntu noble-updates main restricted universe multiverse",
            "deb http://security.ubuntu.com/ubuntu noble-security main restricted universe multiverse",
        )
        arm = BasesConfig().source(Base("ubuntu", "22.04"), "arm64")
        assert arm is not None
        assert arm.suites[0].startswith("deb http://ports.ubuntu.com/ubuntu-ports jammy ")
        debian = BasesConfig().source(Base("debian", "12", "edge"), "amd64")
        assert debian is not None
        assert debian.suites[2] == "deb http://deb.debian.org/debian-security bookworm-security main"
        assert BasesConfig().source(Base("centos", "9"), "amd64") is None
        bionic = BasesConfig().source(Base("ubuntu", "18.04"), "amd64")
        assert bionic is not None
        assert {"dnsutils", "python3.8"} == set(bionic.packages) - set(source.packages)
        assert {"bind9-dnsutils"} == set(source.packages) - set(bionic.packages)

    def test_users_tables(self) -> None:
        config = BasesConfig.of(
            {
                "bases": {
                    "ubuntu@24.04": {"mmdebstrap": {"mirror": "http://mirror/u", "components": ["main"]}},
                    "centos@9": {"tarball": {"path": "/srv/c9.tar"}},
                    "debian@12/stable": {"directory": "/srv/d12"},
                },
                "packages": ["htop"],
            }
        )
        noble = config.source(NOBLE, "amd64")
        assert noble is not None
        assert noble.suites[0] == "deb http://mirror/u noble main"
        assert noble.packages[-1] == "htop"
        assert noble.configured
        centos = config.source(Base("centos", "9"), "amd64")
        assert centos is not None
        assert (centos.kind, centos.location) == ("tarball", "/srv/c9.tar")
        debian = config.source(Base("debian", "12"), "amd64")
        assert debian is not None
        assert (debian.kind, debian.location) == ("directory", "/srv/d12")

    @pytest.mark.parametrize(
        ("table", "problem"),
        [
            ({"bases": "noble"}, "must be a table"),
            ({"bases": {"ubuntu": {"directory": "/x"}}}, "base string must contain exactly one @"),
            ({"bases": {"ubuntu@24.04": {}}}, "needs exactly one of"),
            ({"bases": {"ubuntu@24.04": {"iso": "/x"}}}, "needs exactly one of"),
            ({"bases": {"ubuntu@24.04": {"directory": "x"}}}, "must be an absolute path"),
            ({"bases": {"ubuntu@24.04": {"mmdebstrap": {"sute": "noble"}}}}, "unknown key sute"),
            ({"bases": {"ubuntu@24.04": {"tarball": {"url": "http://x/y.tar"}}}}, "needs its sha256"),
            ({"bases": {"ubuntu@24.04": {"tarball": {"url": "u", "path": "p"}}}}, "either path or url"),
            ({"stand-in": "yes"}, "must be true or false"),
        ],
    )
    def test_refusals_name_the_key(self, table: dict[str, object], problem: str) -> None:
        with pytest.raises(NotValid, match=problem):
            BasesConfig.of(table)

    def test_other_recipe_has_another_name(self) -> None:
        plain = BasesConfig().source(NOBLE, "amd64")
        more = BasesConfig(packages=("htop",)).source(NOBLE, "amd64")
        assert plain
        assert more
        assert plain.digest() != more.digest()
        assert plain.digest() == BasesConfig().source(NOBLE, "amd64").digest()  # type: ignore[union-attr]

    def test_host_base(self) -> None:
        assert host_base('ID=debian\nVERSION_ID="12"\n') == Base("debian", "12")
        assert host_base("ID=arch\n") is None


class TestBases:
    def test_nothing_stands_in_when_the_user_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(
            NotFound, match="no root file system for base centos@9: its archive is not known"
        ) as caught:
            bases.ensure_base(BasesConfig(stand_in=False), Base("centos", "9"), tmp_path, no_progress)
        assert caught.value.hint == 'set [clouds.local.bases."centos@9"] in clouds.toml'

    def test_the_hosts_release_stands_in_with_a_warning(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = BasesConfig().source(Base("debian", "12"), "amd64")
        assert source is not None
        monkeypatch.setattr(bases, "host_base", lambda: Base("debian", "12"))
        monkeypatch.setattr(bases, "host_arch", lambda: "amd64")
        monkeypatch.setattr(bases, "_reachable", lambda url: "debian.org" in url)
        monkeypatch.setattr(
            bases, "_build", lambda base, *_: bases.BaseRoot(base=str(base), root="/r", prepared=True)
        )
        found = bases.ensure_base(BasesConfig(), NOBLE, tmp_path, no_progress)
        assert found.base == "debian@12/stable"
        assert found.warning == (
            "ubuntu@24.04 is not available (no answer from http://archive.ubuntu.com/ubuntu); "
            "local machines use debian@12 of this host instead"
        )

    def test_broken_build_leaves_nothing(self, tmp_path: Path) -> None:
        bad = tmp_path / "bad.tar"
        bad.write_bytes(b"this is no archive")
        config = BasesConfig.of({"bases": {"ubuntu@24.04": {"tarball": {"path": str(bad)}}}})
        with pytest.raises(ProviderError, match="tar failed"):
            bases.ensure_base(config, NOBLE, tmp_path / "cache", no_progress)
        assert list((tmp_path / "cache" / "bases").iterdir()) == []

    def test_a_folder_that_a_killed_builders_child_still_writes_does_not_fail_the_build(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def busy(folder: Path) -> None:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), folder)

        source = BasesConfig().source(NOBLE, "amd64")
        assert source is not None
        folder = bases._folder(tmp_path, NOBLE, source)
        left = folder.with_name(f".{folder.name}.1.part")
        left.mkdir(parents=True)
        monkeypatch.setattr(bases, "_fill", lambda root, *_: (left / "written").touch())
        for name in ("prepare_root", "run"):
            monkeypatch.setattr(bases, name, lambda *_: None)
        tried: list[Path] = []
        monkeypatch.setattr(
            bases, "remove_tree", lambda path: (tried.append(path), path == left and busy(path))
        )
        assert bases._build(NOBLE, source, tmp_path, no_progress).root == str(folder / "root")
        assert (tried[0], folder.is_dir()) == (left, True)

    @pytest.mark.skipif(
        os.geteuid() != 0 or platform.machine() not in ("x86_64", "aarch64"), reason="needs root"
    )
    def test_a_build_does_not_wait_for_the_disk_file_by_file(self) -> None:
        """A file that is not open cannot be written out, unless nobody tries; children do not, either."""
        script = "import os; os.fsync(999); os.fdatasync(999); os.sync(); print(os.getpid() > 0)"
        inner = [sys.executable, "-c", script]
        ended = subprocess.run(unsynced.words(["env", *inner]), capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "True\n", "")

    def test_a_builder_that_is_not_there_is_named(self) -> None:
        ended = subprocess.run(unsynced.words(["/nowhere/mm"]), capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (
            1,
            "E: cannot run /nowhere/mm: No such file or directory\n",
        )

    def test_wrong_hash_is_refused(self, tmp_path: Path) -> None:
        bad = tmp_path / "bad.tar"
        bad.write_bytes(b"tampered")
        table = {"tarball": {"path": str(bad), "sha256": "0" * 64}}
        config = BasesConfig.of({"bases": {"ubuntu@24.04": table}})
        with pytest.raises(ProviderError, match=r"bad\.tar has the hash"):
            bases.ensure_base(config, NOBLE, tmp_path / "cache", no_progress)

    def test_directory_without_a_system_is_refused(self, tmp_path: Path) -> None:
        config = BasesConfig.of({"bases": {"ubuntu@24.04": {"directory": str(tmp_path)}}})
        with pytest.raises(NotValid, match="holds no root file system"):
            bases.find_cached(config, NOBLE, tmp_path)


class TestNetwork:
    @given(st.integers(0, 0xFFFFFF), st.lists(st.integers(0, 255), max_size=20))
    def test_chosen_subnet_is_free(self, number: int, used: list[int]) -> None:
        taken = [f"10.{64 + item % 128}.0.0/16" for item in used] + ["10.100.0.53", "192.0.2.0/24"]
        found = choose_subnet(f"{number:06x}", taken)
        assert found.prefixlen == 24
        assert not any(
            f"10.{64 + item % 128}." == f"{found.network_address}"[: len(f"10.{64 + item % 128}.")]
            for item in used
        )

    def test_full_host(self) -> None:
        with pytest.raises(ProviderError, match=r"no subnet 10\.x\.y\.0/24 is free"):
            choose_subnet("000000", ["10.0.0.0/8"])

    def test_addresses_are_used_again_and_run_out(self) -> None:
        subnet = parse_subnet("10.1.2.0/29")
        assert free_index(subnet, []) == 2
        assert free_index(subnet, [2, 4]) == 3
        with pytest.raises(ProviderError, match="is full"):
            free_index(subnet, [2, 3, 4, 5, 6])

    @pytest.mark.parametrize("text", ["10.1.2.3/24", "nonsense", "10.0.0.0/8", "10.0.0.0/30", "fd00::/64"])
    def test_bad_subnet(self, text: str) -> None:
        with pytest.raises(NotValid, match="of the local cloud"):
            parse_subnet(text)

    def test_hardware_address_goes_with_the_ip_address(self) -> None:
        assert hardware_address("a1b2c3", 258) == "02:a1:b2:c3:01:02"

    def test_nat_replaces_the_table_as_a_whole(self) -> None:
        rules = nat_rules("pja1b2c3", parse_subnet("10.1.2.0/24"))
        assert rules.splitlines()[:3] == [
            "table inet pja1b2c3",
            "delete table inet pja1b2c3",
            "table inet pja1b2c3 {",
        ]
        assert "ip saddr 10.1.2.0/24 ip daddr != 10.1.2.0/24 masquerade" in rules


class TestLayout:
    def test_names_fit_and_differ_between_data_directories(self, tmp_path: Path) -> None:
        one, two = Layout.of(tmp_path / "a"), Layout.of(tmp_path / "b")
        assert one.prefix != two.prefix
        assert one.prefix == Layout.of(tmp_path / "x" / ".." / "a").prefix
        assert len(one.namespace(65534)) <= 15
        assert Layout.of(tmp_path / "a", "/srv/machines").state == Path("/srv/machines", one.prefix[2:])

    @pytest.mark.parametrize("text", ["", "..", ".lock", "a/b", "/etc"])
    def test_id_that_leads_elsewhere_is_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(NotValid):
            Layout.of(tmp_path).machine(text)

    def test_records_survive(self, tmp_path: Path) -> None:
        layout = Layout.of(tmp_path)
        assert layout.records() == []
        layout.machine(RECORD.id).mkdir(parents=True)
        layout.write(RECORD)
        assert layout.records() == [RECORD]
        (layout.machine(RECORD.id) / "machine.json").write_text("{}", encoding="utf-8")
        with pytest.raises(NotValid, match="damaged"):
            layout.records()

    def test_volumes_with_a_colon_in_the_path(self) -> None:
        command = nspawn_command(Path("/srv/a:b"), "m", "ns")
        assert "--bind=/srv/a\\:b/vol:/var/lib/juju/storage:rbind" in command
        assert "--directory=/srv/a:b/root" in command


class TestSystem:
    def test_lock_admits_one_and_leaves_no_file(self, tmp_path: Path) -> None:
        path = tmp_path / "folder" / ".lock"
        inside, most = 0, 0
        guard = threading.Lock()

        def work() -> None:
            nonlocal inside, most
            for _ in range(50):
                with locked(path):
                    with guard:
                        inside += 1
                        most = max(most, inside)
                    with guard:
                        inside -= 1

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most == 1
        assert not path.exists()

    def test_files_are_never_written_through_links(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.write_text("kept", encoding="utf-8")
        root = tmp_path / "root"
        root.mkdir()
        (root / "file").symlink_to(outside)
        import os

        put_file(root, "file", "new", mode=0o600, owner=os.getuid())
        assert outside.read_text(encoding="utf-8") == "kept"
        assert (root / "file").read_text(encoding="utf-8") == "new"
        assert (root / "file").stat().st_mode & 0o777 == 0o600


class TestCgroups:
    def test_hybrid_host(self) -> None:
        text = (
            "30 29 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
            "31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
            "32 30 0:28 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
            "33 30 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
            "34 30 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup rw\n"
            "35 30 0:31 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n"
        )
        found = {item.controller: str(item.path) for item in hierarchies(text)}
        assert found == {
            "cpu": "/sys/fs/cgroup/cpu,cpuacct",
            "memory": "/sys/fs/cgroup/memory",
            "name=systemd": "/sys/fs/cgroup/systemd",
            "": "/sys/fs/cgroup/unified",
        }

    def test_unified_host(self) -> None:
        text = "30 29 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
        assert [(str(item.path), item.controller) for item in hierarchies(text)] == [("/sys/fs/cgroup", "")]


class TestUserData:
    def test_order_and_quoting(self) -> None:
        script = to_script(
            {
                "runcmd": ["echo last", ["echo", "a b"]],
                "packages": ["nginx", ["pg", "15"]],
                "bootcmd": ["echo first"],
                "write_files": [{"path": "/a b", "content": "x"}],
            }
        )
        assert script.splitlines() == [
            "(", "echo first", ")",
            "mkdir -p \"$(dirname '/a b')\"", "echo eA== | base64 -d > '/a b'", "chmod 0644 '/a b'",
            "chown root:root '/a b'",
            "apt-get update -q", "apt-get install -y -q nginx pg=15",
            "(", "echo last", ")", "echo 'a b'",
        ]  # fmt: skip

    def test_nothing_to_do(self) -> None:
        assert to_script({}) == ""
        assert unknown_keys({"packages": [], "timezone": "UTC", "snap": {}}) == ["snap", "timezone"]

    @pytest.mark.parametrize(
        "document",
        [
            {"packages": "nginx"},
            {"runcmd": [3]},
            {"write_files": [{"content": "x"}]},
            {"write_files": [{"path": "/x", "content": "aGVsbG8=", "encoding": "gz+b64"}]},
        ],
    )
    def test_wrong_forms(self, document: dict[str, object]) -> None:
        with pytest.raises(NotValid, match="user data"):
            to_script(document)


class TestDoctor:
    def test_firewall_that_drops_forwarded_packets_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        chains = [
            {"metainfo": {"version": "1.0.6"}},
            {"chain": {"family": "inet", "table": "pj000000", "hook": "forward", "policy": "accept"}},
            {"chain": {"family": "ip", "table": "filter", "hook": "forward", "policy": "drop"}},
        ]
        monkeypatch.setattr(doctor, "which", lambda _: "/usr/sbin/nft")
        monkeypatch.setattr(doctor, "run", lambda *_, **__: json.dumps({"nftables": chains}))
        problem = doctor.forwarding_problem()
        assert problem.startswith("nftables table ip filter drops forwarded packets")
        finding = doctor.forward_finding(problem)
        assert (finding.ok, finding.required) == (False, False)

    def test_missing_command_names_its_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            doctor, "which", lambda command: None if command == "nft" else f"/usr/bin/{command}"
        )
        (missing,) = [item for item in doctor.look_at_host() if item.name == "nft"]
        assert (missing.ok, missing.required) == (False, True)
        assert missing.message == "nft is missing: it lets machines reach the network"
        assert missing.fix == Fix(packages=("nftables",))

    def test_a_folder_that_cannot_be_written_leaves_the_other_checks(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(**_: object) -> None:
            raise OSError(errno.EROFS, "Read-only file system")

        monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
        problems = doctor.probe_kernel(tmp_path / "absent")
        assert list(problems) == ["overlay", "bridge", "veth", "nat"]
        found = doctor.kernel_findings(problems)[0]
        text = f"not tried, because {tmp_path} cannot be written: Read-only file system"
        assert (found.message, found.fix) == (f"mount points of type overlay: {text}", None)

    def test_kernel_findings_tell_what_went_wrong(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "which", lambda command: f"/usr/sbin/{command}")
        found = doctor.kernel_findings(
            {"overlay": "unknown filesystem type", "bridge": "", "veth": "", "nat": ""}
        )
        assert [(item.name, item.ok) for item in found] == [
            ("kernel: overlay", False),
            ("kernel: bridge", True),
            ("kernel: veth", True),
            ("kernel: nat", True),
        ]
        assert found[0].fix == Fix(command=("modprobe", "overlay"))


class TestLimits:
    def test_each_limit_is_told_with_its_sysctl(self) -> None:
        known = {"fs.inotify.max_user_instances": 128, "kernel.pid_max": 4194304, "kernel.pty.max": 100}
        found = {item.name: item for item in limits.findings(known, 3000, can_change=False)}
        inotify = found["fs.inotify.max_user_instances"]
        assert not inotify.ok
        assert not inotify.required
        assert inotify.message.startswith(
            "fs.inotify.max_user_instances = 128: enough for about 15 machines;"
        )
        assert inotify.fix == Fix(command=("sysctl", "-w", "fs.inotify.max_user_instances=8192"))
        assert found["kernel.pid_max"].ok
        assert found["memory"].message == "3000 MiB: about 100 idle machines"
        assert "fs.inotify.max_user_watches" not in found  # this kernel has none

    def test_what_a_start_raises_is_no_problem(self) -> None:
        (inotify, _) = limits.findings({"fs.inotify.max_user_instances": 128}, 3000, can_change=True)
        assert inotify.ok
        assert "raised to 8192 when a machine starts" in inotify.message

    def test_this_kernel(self) -> None:
        assert limits.values()["kernel.pid_max"] > 1000
        assert all(limit.room(limit.wanted) >= limits.MACHINES for limit in limits.LIMITS)


def test_a_base_listens_by_its_service_whatever_is_installed_here(tmp_path: Path) -> None:
    """Links into the base's own tree lead nowhere as seen from this computer; they go all the same."""
    system = tmp_path / "etc/systemd/system"
    for folder in ("sockets.target.wants", "ssh.service.requires"):
        (system / folder).mkdir(parents=True)
        (system / folder / "ssh.socket").symlink_to("/nowhere/ssh.socket")
    prepare._set_sshd(tmp_path)
    assert [path.name for path in system.rglob("ssh.*") if path.is_symlink()] == ["ssh.service"]


def test_an_sshd_that_knows_no_include_gets_the_settings(tmp_path: Path) -> None:
    main = tmp_path / "etc/ssh/sshd_config"
    put_file(tmp_path, "etc/ssh/sshd_config", "UsePAM yes\n")
    for _ in range(2):
        prepare._set_sshd(tmp_path)
        assert main.read_text().count("PermitRootLogin") == 1
    assert main.read_text().endswith("UsePAM yes\n")
    put_file(tmp_path, "etc/ssh/sshd_config", "Include /etc/ssh/sshd_config.d/*.conf\n")
    prepare._set_sshd(tmp_path)
    assert main.read_text() == "Include /etc/ssh/sshd_config.d/*.conf\n"
