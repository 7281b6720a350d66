"""Finding the device on a machine that a cloud attached to it."""

from __future__ import annotations

from shlex import quote

from pushjuju.plugins.api.storage_types import StorageSeen

WAIT_S = (
    30  # until a device that does not appear is given up: the kernel needs a moment after the cloud is done
)

_LOCATE = """\
tell() { echo "device=${1#/dev/}"; [ "$1" = "$2" ] || echo "link=$2"; exit 0; }
look() {
  for path in $paths; do
    real=$(readlink -f "$path") && [ -b "$real" ] && tell "$real" "$path"
  done
  [ -n "$serial" ] || return 0
  for block in /sys/block/*; do
    for file in "$block/serial" "$block/device/serial"; do
      [ -r "$file" ] || continue
      found=
      read -r found < "$file" || :  # there may be no end of line
      [ "$found" = "$serial" ] || continue
      name=${block##*/}
      [ -b "/dev/$name" ] && tell "/dev/$name" "/dev/$name"
    done
  done
}
until look; [ "$tries" -eq 0 ]; do
  tries=$((tries - 1))
  sleep 0.5
done
echo "the machine does not show the volume: none of $paths is there${serial:+, no serial number $serial}" >&2
exit 1
"""


def locate(seen: StorageSeen, wait_s: int = WAIT_S) -> str:
    """Return the script that finds a device; prints `device`, and `link` where it was found by another path.

    Args:
        seen: The paths and the serial number that the cloud gives; the first path that exists wins.
        wait_s: How long it may take to appear.
    """
    paths = " ".join(seen.paths)
    return f"paths={quote(paths)}\nserial={quote(seen.serial)}\ntries={wait_s * 2:d}\n{_LOCATE}"
