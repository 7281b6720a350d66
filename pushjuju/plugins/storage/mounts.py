"""Filesystems of storage on a machine: makes them on devices, mounts them, and mounts them again at boot.

The scripts serve the storage of every provider. A script may run again after an interruption at any point.
Mirrors: juju storage/provider/managedfs.go (3.6)
"""

from __future__ import annotations

from shlex import quote

from pushjuju.plugins.api.storage_types import BootMount, StorageItem

_HALF_MADE = "pushjuju-new"  # the label of a filesystem while it is being made
_HEAD = """\
set -u
die() { echo "$*" >&2; exit 1; }
same() { [ "$(stat -c %d:%i "$1" 2>/dev/null)" = "$(stat -c %d:%i "$2" 2>/dev/null)" ]; }
ours() {
  if [ -b "$what" ]; then
    [ "$(mountpoint -d "$where")" = "$(mountpoint -x "$what")" ]
  else
    same "$what" "$where"
  fi
}
with() {
  if [ -e /etc/fstab ]; then
    grep -v -F ",x-pushjuju=$mark " /etc/fstab || [ $? -eq 1 ] || return 1  # 1: no other lines
  fi
  printf %s "$1"
}
boot() {
  new=/etc/.fstab.pushjuju
  rm -f "$new"
  cp -p /etc/fstab "$new" 2>/dev/null || : > "$new"
  if ! with "$1" > "$new"; then
    rm -f "$new"
    die "/etc/fstab could not be written anew: is the disk full?"
  fi
  if cmp -s "$new" /etc/fstab; then rm -f "$new"; else mv -f "$new" /etc/fstab; fi
}
"""
_MOUNT = """\
[ -e "$what" ] || die "$what is not there"
if mountpoint -q "$where"; then
  ours || die "$where is the mount point of something else"
else
  mkdir -p "$where" || exit 1
  [ -b "$what" ] || [ -z "$(ls -A "$where")" ] || die "$where is not empty"
  if [ -b "$what" ]; then
    if [ "$only" = ro ]; then mount -o ro "$what" "$where"; else mount "$what" "$where"; fi || exit 1
  else
    mount --bind "$what" "$where" || exit 1
  fi
fi
if [ "$only" = ro ] && [ ! -b "$what" ]; then mount -o remount,bind,ro "$where" || exit 1; fi
boot "$lines"
"""
_UNMOUNT = """\
boot ""
while mountpoint -q "$where" && ours; do
  umount "$where" && continue
  users=$(find /proc/[0-9]*/cwd /proc/[0-9]*/root /proc/[0-9]*/fd -maxdepth 1 -type l \\
    \\( -lname "$pattern" -o -lname "$pattern/*" \\) 2>/dev/null | cut -d / -f 3 | sort -un | head -n 5)
  for pid in $users; do echo "used by process $pid ($(cat "/proc/$pid/comm" 2>/dev/null))" >&2; done
  exit 1
done
case $where in
/var/lib/juju/storage/*) rmdir "$where" "${where%/*}" 2>/dev/null || : ;;
esac
"""


def make(item: StorageItem, device: str) -> str:
    """Return the script that makes a filesystem on a device, unless the device holds another filesystem."""
    return f"""\
set -u
die() {{ echo "$*" >&2; exit 1; }}
device={quote(f"/dev/{device}")}
[ -b "$device" ] || die "there is no device $device"
has() {{ blkid -p -s "$1" -o value "$device" || :; }}
if [ "$(has UUID)" != {quote(item.uuid)} ] || [ "$(has LABEL)" = {_HALF_MADE} ]; then
  [ -z "$(has TYPE)" ] || [ "$(has LABEL)" = {_HALF_MADE} ] ||
    die "$device holds a file system already: $(has TYPE)"
  mkfs.ext4 -q -F -L {_HALF_MADE} -U {quote(item.uuid)} "$device" || exit 1
  e2label "$device" "" || exit 1
fi
bytes=$(blockdev --getsize64 "$device") || exit 1
echo "size=$((bytes / 1048576))"
"""


def take(device: str) -> str:
    """Return the script that reads the filesystem of an imported volume; it prints `uuid` and `size`."""
    return f"""\
set -u
die() {{ echo "$*" >&2; exit 1; }}
device={quote(f"/dev/{device}")}
[ -b "$device" ] || die "there is no device $device"
uuid=$(blkid -p -s UUID -o value "$device")
[ -n "$uuid" ] || die "$device holds no file system: it was imported as one"
bytes=$(blockdev --getsize64 "$device") || exit 1
echo "uuid=$uuid"
echo "size=$((bytes / 1048576))"
"""


def mount(item: StorageItem, what: str, boots: tuple[BootMount, ...]) -> str:
    """Return the script that mounts a device or bind-mounts a directory, now and at each boot.

    Args:
        item: The filesystem, with its mount point.
        what: A device `/dev/...`, or a directory of the machine.
        boots: The lines for fstab.
    """
    lines = "".join(_line(item, boot) for boot in boots)
    return (
        f"{_HEAD}what={quote(what)}\nwhere={quote(item.path)}\nmark={_mark(item)}\n"
        f"only={'ro' if item.read_only else 'rw'}\nlines={quote(lines)}\n{_MOUNT}"
    )


def unmount(item: StorageItem, what: str) -> str:
    """Return the script that undoes `mount`; it fails while the filesystem is in use."""
    return (
        f"{_HEAD}what={quote(what)}\nwhere={quote(item.path)}\nmark={_mark(item)}\n"
        f"pattern={quote(_pattern(item.path))}\n{_UNMOUNT}"
    )


def _mark(item: StorageItem) -> str:
    return quote(item.uuid)


def _pattern(path: str) -> str:
    """Return a path with the characters escaped that `find` would read as a pattern."""
    return "".join(f"\\{char}" if char in "*?[]\\" else char for char in path)


def _line(item: StorageItem, boot: BootMount) -> str:
    own = ("ro",) if item.read_only and (boot.where or item.path) == item.path else ()
    options = ",".join((*boot.options, *own, "nofail", f"x-pushjuju={item.uuid}"))
    return f"{_escaped(boot.what)} {_escaped(boot.where or item.path)} {boot.type} {options} 0 0\n"


def _escaped(text: str) -> str:
    for char, code in (("\\", "\\134"), (" ", "\\040"), ("\t", "\\011"), ("#", "\\043")):
        text = text.replace(char, code)
    return text
