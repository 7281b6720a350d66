"""The scripts that build a charm on a machine, where the charm's tree is in `/root/build`."""

from __future__ import annotations

PREPARE = r"""
set -e
export DEBIAN_FRONTEND=noninteractive
installed() { test "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed; }
for name in "$@"; do
    installed "$name" && continue
    apt-get -qq update
    apt-get -qqy --no-install-recommends install "$@" >&2
    break
done
"""
TOOL = r"""
set -e
command -v "$1" >/dev/null && exit 0
PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --target "/root/tools/$1" "$1" >&2
ln -s "/root/tools/$1/bin/$1" /usr/local/bin/
"""
WHEEL = r"""
set -e
cd /root/build
rm -rf out; mkdir out
wheel() {
    pip=$1; shift
    PIP_ROOT_USER_ACTION=ignore python3 $pip wheel --quiet --no-deps \
        --wheel-dir out --find-links tools "$@" in/*
}
"""
# Most packages build with the wheels that were sent; compiled code needs tools of the base, perhaps an index.
PURE = 'wheel "$(echo tools/pip-*.whl)/pip" --no-index'
COMPILED = r"""
wheel "-m pip" --no-index >/dev/null 2>&1 ||
    wheel "-m pip" --no-index --no-build-isolation >/dev/null 2>&1 || wheel "-m pip" >&2
"""
DEFAULT = r"""#!/bin/sh
# What a plugin does for the word `craftctl default`.
set -e
[ "$1" = default ] || exit 0
cp -a "$CRAFT_PART_SRC/." "$CRAFT_PART_INSTALL/"
set --
while read -r file; do set -- "$@" --requirement "$file"; done < /root/build/files
if [ -s /root/build/lines ]; then set -- "$@" --requirement /root/build/lines; fi
[ $# -eq 0 ] && exit 0
while read -r file; do set -- "$@" --constraint "$file"; done < /root/build/constraints
cd "$CRAFT_PART_SRC"
target="$CRAFT_PART_INSTALL/venv"
export PIP_ROOT_USER_ACTION=ignore
# Most need nothing but setuptools, which came with pip; only then an index is asked for more.
python3 -m pip install --quiet --target "$target" --no-index --no-build-isolation "$@" >/dev/null 2>&1 ||
    python3 -m pip install --quiet --upgrade --target "$target" "$@"
rm -rf "$CRAFT_PART_INSTALL/venv/bin"
"""
REACTIVE = r"""#!/bin/sh
# What the plugin reactive does for the word `craftctl default`.
set -e
[ "$1" = default ] || exit 0
charm() {
    python3 -c 'import sys; sys.path.insert(0, "/root/build/charm-tools"); from importlib import import_module
sys.exit(import_module(sys.argv.pop(1)).main())' "$@"
}
cd "$CRAFT_PART_SRC"
# charm proof exits with 100 or more for warnings, and with 200 or more for errors.
charm charmtools.proof || [ $? -lt 200 ]
name=$(sed -n 's/^name: *//p' metadata.yaml)
ln -sfn "$CRAFT_PART_INSTALL" "/root/build/$name"
set --
while read -r word; do set -- "$@" "$word"; done < /root/build/arguments
charm charmtools.build.builder "$@" -o /root/build
rm "/root/build/$name"
"""
PART = r"""
set -e
export CRAFT_PART_SRC=/root/build/src CRAFT_PART_BUILD=/root/build/src CRAFT_PART_INSTALL=/root/build/install
export CRAFT_PROJECT_DIR=/root/build/src CRAFT_ARCH_BUILD_FOR=$(dpkg --print-architecture)
export CRAFT_TARGET_ARCH=$CRAFT_ARCH_BUILD_FOR CRAFT_PART_NAME="$1"
cd "$CRAFT_PART_BUILD"
exec bash -e /root/build/script >&2
"""
ARCHIVE = """
import os, stat, zipfile
root = "/root/build/install"
with zipfile.ZipFile("/root/build/built.zip", "w", zipfile.ZIP_DEFLATED) as out:
    if not os.path.exists(root + "/metadata.yaml"):  # archives of charms have one
        out.writestr("metadata.yaml", "")
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "__pycache__")]
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in sorted([*files, *links]):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            info = zipfile.ZipInfo(os.path.relpath(path, root), (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, mode << 16
            if stat.S_ISLNK(mode):
                out.writestr(info, os.readlink(path))
            elif stat.S_ISREG(mode):
                info.compress_type = zipfile.ZIP_DEFLATED
                with open(path, "rb") as file:
                    out.writestr(info, file.read())
"""
