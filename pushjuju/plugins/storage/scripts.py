"""Scripts for the types of storage that every machine has: rootfs, tmpfs and loop.

Their data are in folders of Juju's storage directory; no storage can have the names of these folders, and
each model has its own names inside. Mirrors: juju storage/provider/{rootfs,tmpfs,loop}.go (3.6)
"""

from __future__ import annotations

from shlex import quote

from pushjuju.core.storage import STORAGE_DIR
from pushjuju.plugins.api.storage_types import BootMount, StorageItem

_HEAD = 'set -u\ndie() { echo "$*" >&2; exit 1; }\n'
_ROOM = 'room() { df -Pk "$1" | { read -r _; read -r _ _ _ kb _; echo $((kb / 1024)); }; }\n'
_NODES = """\
node() {
  [ -b "/dev/$1" ] && return 0
  IFS=: read -r major minor < "/sys/block/$1/dev" && mknod -m 660 "/dev/$1" b "$major" "$minor"
}
[ -e /dev/loop-control ] || mknod -m 660 /dev/loop-control c 10 237 2>/dev/null || :
for path in /sys/block/loop*/loop; do
  [ -d "$path" ] || continue
  name=${path%/loop}
  node "${name##*/}"
done
devices() { losetup -n -O NAME -j "$1" | sed -n 's,^/dev/,,p'; }
"""


def folder(kind: str, item: StorageItem) -> str:
    """Return the path of an item's data on its machine."""
    return f"{STORAGE_DIR}/.{kind}/{item.uuid}"


class Rootfs:
    """A directory of the root disk."""

    def create(self, item: StorageItem) -> str:
        """Return a script that makes the directory, or fails when the disk is too small."""
        path = quote(folder("rootfs", item))
        return (
            f"{_HEAD}mkdir -p {path} || exit 1\n"
            f'size=$(df -Pm {path} | tail -n 1 | {{ read -r name total rest; echo "$total"; }})\n'
            f'[ "$size" -ge {item.size:d} ] || {{ rmdir {path}; '
            f'die "filesystem is not big enough (${{size}}M < {item.size:d}M)"; }}\n'
            'echo "size=$size"\n'
        )

    def attach(self, item: StorageItem) -> str:
        """Return a script that prints the directory."""
        path = quote(folder("rootfs", item))
        return f"{_HEAD}[ -d {path} ] || die {path} is gone\necho source={path}\n"

    def detach(self, item: StorageItem) -> str:  # noqa: ARG002
        """Return a script that changes nothing: there is nothing to detach."""
        return _HEAD

    def destroy(self, item: StorageItem) -> str:
        """Return a script that deletes the directory, or fails when something is mounted below it."""
        path = quote(folder("rootfs", item))
        return (
            f"{_HEAD}! grep -q -F {quote(' ' + folder('rootfs', item) + '/')} /proc/self/mountinfo || "
            f"die something is mounted below {path}\nrm -rf --one-file-system {path}\n"
            f"rmdir {quote(STORAGE_DIR)}/.rootfs 2>/dev/null || :\n"
        )

    def at_boot(self, item: StorageItem) -> BootMount | None:  # noqa: ARG002
        """Return no line: the line of the mount point is enough."""
        return None


class Tmpfs:
    """A tmpfs. It has a mount of its own, so that the data survive a detach, but not a reboot."""

    def create(self, item: StorageItem) -> str:
        """Return a script that reserves nothing: a tmpfs takes memory when it is used."""
        return f"{_HEAD}echo size={item.size:d}\n"

    def attach(self, item: StorageItem) -> str:
        """Return a script that mounts the tmpfs in its own folder."""
        path = quote(folder("tmpfs", item))
        return (
            f"{_HEAD}mkdir -p {path} || exit 1\n"
            f"mountpoint -q {path} || "
            f"mount -t tmpfs -o {self._options(item)} {self._name(item)} {path} || exit 1\n"
            f"echo source={path}\n"
        )

    def detach(self, item: StorageItem) -> str:  # noqa: ARG002
        """Return a script that changes nothing: the tmpfs stays mounted."""
        return _HEAD

    def destroy(self, item: StorageItem) -> str:
        """Return a script that unmounts the tmpfs, which frees the memory."""
        path = quote(folder("tmpfs", item))
        return (
            f"{_HEAD}if mountpoint -q {path}; then umount {path} || exit 1; fi\n"
            f"rmdir {path} {quote(STORAGE_DIR)}/.tmpfs 2>/dev/null || :\n"
        )

    def at_boot(self, item: StorageItem) -> BootMount | None:
        """Return the line of fstab that mounts a new, empty tmpfs."""
        options = tuple(self._options(item).split(","))
        return BootMount(what=self._name(item), where=folder("tmpfs", item), type="tmpfs", options=options)

    def _options(self, item: StorageItem) -> str:
        return f"size={item.size:d}m,mode=0755"

    def _name(self, item: StorageItem) -> str:
        return f"filesystem-{item.id.replace('/', '-')}"


class Loop:
    """A file of the root disk as a block device."""

    def create(self, item: StorageItem) -> str:
        """Return a script that allocates the whole file; the file gets its final name when it is complete.

        A file system fills its disk up to the end before `fallocate` fails, so the script looks first.
        """
        path, new = quote(folder("loop", item)), quote(folder("loop", item) + ".new")
        return (
            f"{_HEAD}{_ROOM}umask 077\nmkdir -p {quote(STORAGE_DIR)}/.loop || exit 1\n"
            f"if [ ! -e {path} ]; then\n"
            f"  free=$(room {quote(STORAGE_DIR)}/.loop) wanted={item.size:d}\n"
            f'  [ "$free" -ge "$wanted" ] || die "no room for $wanted MiB: $free MiB of the disk are free"\n'
            f"  fallocate -l {item.size:d}MiB {new} && mv {new} {path} || {{ rm -f {new}; exit 1; }}\n"
            f"fi\necho size={item.size:d}\n"
        )

    def attach(self, item: StorageItem) -> str:
        """Return a script that makes a loop device for the file, unless it has one."""
        path, flags = quote(folder("loop", item)), "-r " if item.read_only else ""
        return (
            f"{_HEAD}{_NODES}[ -e {path} ] || die {path} is gone\n"
            f"device=$(devices {path} | head -n 1)\ntries=0\n"
            'while [ -z "$device" ] && [ "$tries" -lt 20 ]; do\n'
            "  tries=$((tries + 1))\n"
            '  free=$(losetup -f) || die "no loop device is free on this machine"\n'
            f'  node "${{free#/dev/}}" && losetup {flags}"$free" {path} && device=${{free#/dev/}}\n'
            'done\n[ -n "$device" ] || exit 1\necho "device=$device"\n'
        )

    def detach(self, item: StorageItem) -> str:
        """Return a script that removes the loop device, which the kernel keeps as long as it is in use."""
        path = quote(folder("loop", item))
        return (
            f"{_HEAD}[ -e {path} ] || exit 0\n{_NODES}"
            f'for device in $(devices {path}); do losetup -d "/dev/$device" || exit 1; done\n'
        )

    def destroy(self, item: StorageItem) -> str:
        """Return a script that removes the device and deletes the file."""
        path = quote(folder("loop", item))
        return f"{self.detach(item)}rm -f {path}\nrmdir {quote(STORAGE_DIR)}/.loop 2>/dev/null || :\n"

    def at_boot(self, item: StorageItem) -> BootMount | None:
        """Return the line of fstab with which `mount` makes a loop device for the file."""
        return BootMount(what=folder("loop", item), options=("loop",))
