"""Prepares a root file system for machines: adds accounts, masks units, removes the identity of its origin.

This is done once for each base that pushjuju builds, and for each machine on a directory of the user.
"""

from __future__ import annotations

from pathlib import Path

from pushjuju.plugins.providers.local.system import make_folder, put_file, put_link, run

USER = "ubuntu"
# Units that do not work in a container, or only take time at boot.
MASKED = (
    "systemd-udevd.service", "systemd-udevd-kernel.socket", "systemd-udevd-control.socket",
    "systemd-udev-trigger.service", "systemd-udev-settle.service", "systemd-networkd-wait-online.service",
    "systemd-binfmt.service", "proc-sys-fs-binfmt_misc.automount", "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount", "sys-kernel-config.mount", "systemd-pstore.service", "console-getty.service",
    "getty.target", "systemd-timesyncd.service", "systemd-firstboot.service",
)  # fmt: skip
# Units that are disabled, as they lock apt or use the host's disks; not masked, for charms may enable them.
NOT_STARTED = (
    "apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer", "e2scrub_reap.service", "fstrim.timer",
    "systemd-networkd.service", "systemd-networkd.socket", "unattended-upgrades.service",
    "snapd.seeded.service",
)  # fmt: skip
# A machine on the host's own root runs only these services; others of the host would run a second time.
_KEPT_ON_HOST_ROOT = ("ssh.service", "dbus.service", "cron.service", "rsyslog.service", "remote-fs.target")
_GROUPS = ("adm", "cdrom", "dialout", "dip", "floppy", "audio", "netdev", "plugdev", "sudo", "video")
_SSHD = """HostKey /etc/ssh/ssh_host_ed25519_key
UseDNS no
PermitRootLogin prohibit-password
"""


def prepare_root(root: Path, *, host_root: bool = False) -> None:
    """Change a root in place, so that systemd-nspawn can boot it as a machine with sshd.

    Args:
        host_root: True for this host's own root (the lower layer of an overlay).
    """
    _forget_identity(root)
    _set_units(root, host_root=host_root)
    _add_user(root)
    _set_sshd(root)
    (root / "usr/sbin/policy-rc.d").unlink(missing_ok=True)
    for name in ("apt/apt.conf.d", "dpkg/dpkg.cfg.d"):
        (root / "etc" / name / "99mmdebstrap").unlink(missing_ok=True)
    put_file(root, "etc/default/locale", "LANG=C.UTF-8\n")
    if (root / "etc/cloud").is_dir():
        put_file(root, "etc/cloud/cloud-init.disabled", "")
    # With these files newer than /usr, the first boot skips updates: linker cache, catalogue, accounts.
    for folder in ("etc", "var"):
        put_file(root, f"{folder}/.updated", "")


def _forget_identity(root: Path) -> None:
    ssh = root / "etc/ssh"
    for key in ssh.glob("ssh_host_*"):
        key.unlink()
    for name in ("etc/hostname", "etc/resolv.conf", "var/lib/dbus/machine-id", "var/lib/systemd/random-seed"):
        (root / name).unlink(missing_ok=True)
    put_file(root, "etc/machine-id", "")


def _set_units(root: Path, *, host_root: bool) -> None:
    for unit in MASKED:
        put_link(root, f"etc/systemd/system/{unit}", "/dev/null")
    put_link(root, "etc/systemd/system/default.target", "/usr/lib/systemd/system/multi-user.target")
    for folder in (root / "etc/systemd/system").glob("*.wants"):
        for link in folder.iterdir():
            foreign = (
                host_root and link.suffix in (".service", ".timer") and link.name not in _KEPT_ON_HOST_ROOT
            )
            if link.name in NOT_STARTED or foreign:
                link.unlink()


def _set_sshd(root: Path) -> None:
    put_file(root, "etc/ssh/sshd_config.d/10-pushjuju.conf", _SSHD)
    main = root / "etc/ssh/sshd_config"
    text = main.read_text(encoding="utf-8", errors="replace") if main.exists() else ""
    if "Include /etc/ssh/sshd_config.d/" not in text and _SSHD not in text:  # before OpenSSH 8.2
        put_file(root, "etc/ssh/sshd_config", f"{_SSHD}{text}")
    # With a listening socket, each connection would start an sshd; the service answers sooner.
    system = root / "etc/systemd/system"
    for folder in (*system.glob("*.wants"), system / "ssh.service.requires"):
        (folder / "ssh.socket").unlink(missing_ok=True)  # may be a link to a missing file
    unit = next(
        (path for path in ("usr/lib", "lib") if (root / path / "systemd/system/ssh.service").exists()),
        "usr/lib",
    )
    put_link(
        root, "etc/systemd/system/multi-user.target.wants/ssh.service", f"/{unit}/systemd/system/ssh.service"
    )
    # On bases with /run in the image, sshd needs its folder before systemd-tmpfiles makes it.
    put_file(root, "usr/lib/tmpfiles.d/pushjuju-sshd.conf", "d /run/sshd 0755 root root\n")


def _add_user(root: Path) -> None:
    if account(root, USER) is None:
        run(["chroot", str(root), "useradd", "--create-home", "--shell", "/bin/bash", "--user-group", USER])
    known = {line.split(":", 1)[0] for line in _lines(root / "etc/group")}
    groups = ",".join(group for group in _GROUPS if group in known)
    if groups:
        run(["chroot", str(root), "usermod", "--append", "--groups", groups, USER])
    put_file(root, f"etc/sudoers.d/90-{USER}", f"{USER} ALL=(ALL) NOPASSWD:ALL\n", mode=0o440)
    make_folder(root, "root", mode=0o700)


def account(root: Path, name: str) -> tuple[int, str] | None:
    """Return (user id, home directory without leading slash) of a user inside a root, or None."""
    for line in _lines(root / "etc/passwd"):
        fields = line.split(":")
        if fields[0] == name:
            return int(fields[2]), fields[5].lstrip("/")
    return None


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
