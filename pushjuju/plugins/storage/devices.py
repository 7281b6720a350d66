"""Finds the device on a machine of a volume that the cloud has attached."""

from __future__ import annotations

from shlex import quote

from pushjuju.plugins.api.storage_types import StorageSeen

WAIT_S = (
    30  # seconds until the search for a device fails: the kernel needs a moment after the cloud has finished
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
    """Return the script that finds a device and prints `device`, and also `link` when another path led to it.

    Args:
        seen: The paths and the serial number from the cloud; the first path that exists wins.
        wait_s: Seconds until the search fails.
    """
    paths = " ".join(seen.paths)
    return f"paths={quote(paths)}\nserial={quote(seen.serial)}\ntries={wait_s * 2:d}\n{_LOCATE}"
