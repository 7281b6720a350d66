"""Makes packages of Python: wheels for any machine, and sources that build without a download."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

# A build system in the package itself: nothing has to be downloaded to build it.
BACKEND = """
import pathlib, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "{name}-{version}-{tag}.whl"
    info = "{name}-{version}.dist-info/"
    files = {{
        "{name}{suffix}": "VERSION = '{version}'",
        info + "METADATA": "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n{more}",
        info + "WHEEL": "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: {tag}\\n",
    }}
    record = "".join(f"{{path}},,\\n" for path in (*files, info + "RECORD"))
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        wheel.writestr(info + "RECORD", record)
    return name
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def sdist(
    folder: Path,
    name: str,
    *,
    tag: str = "py3-none-any",
    suffix: str = ".py",
    more: str = "",
    version: str = "1.0",
) -> None:
    """Write sources; what is built of them has the tag."""
    text = BACKEND.format(name=name, version=version, tag=tag, suffix=suffix, more=more.replace("\n", "\\n"))
    files = {
        "backend.py": text,
        "pyproject.toml": PROJECT,
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}",
    }
    with tarfile.open(folder / f"{name}-{version}.tar.gz", "w:gz") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{name}-{version}/{path}")
            entry.size = len(content.encode())
            archive.addfile(entry, io.BytesIO(content.encode()))


def wheel(
    folder: Path,
    name: str,
    *,
    tag: str = "py3-none-any",
    suffix: str = ".py",
    more: str = "",
    version: str = "1.0",
) -> None:
    """Write a wheel with one module, which holds the tag."""
    info = f"{name}-{version}.dist-info/"
    with zipfile.ZipFile(folder / f"{name}-{version}-{tag}.whl", "w") as archive:
        archive.writestr(f"{name}{suffix}", f"TAG = {tag!r}\n")
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}"
        archive.writestr(info + "METADATA", metadata)
        archive.writestr(info + "WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(
            info + "RECORD", f"{name}{suffix},,\n{info}METADATA,,\n{info}WHEEL,,\n{info}RECORD,,\n"
        )
