"""The container image is built and used; Debian's Python stands for the base image of a registry."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "contrib" / "image" / "Dockerfile"
TOOLS = ("buildah", "mmdebstrap", "unshare")
# ends when the health check succeeds
SERVES = (
    "pushjuju controller run --api 0.0.0.0 & until {health}; do sleep 0.5; done 2>/dev/null; kill $!; wait"
)

Buildah = Callable[..., str]


@pytest.fixture(scope="module")
def buildah(tmp_path_factory: pytest.TempPathFactory) -> Buildah:
    """A function that runs buildah, without a network, with a storage of its own; it returns the output."""
    if missing := [name for name in TOOLS if not shutil.which(name)]:
        pytest.skip(f"missing: {', '.join(missing)}")
    folder = tmp_path_factory.mktemp("buildah")
    store = ("--storage-driver=vfs", f"--root={folder / 'store'}", f"--runroot={folder / 'run'}")

    def run(*words: str | Path, alone: bool = True) -> str:
        wrap = ("unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh") if alone else ()
        command = [*wrap, "buildah", *store, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout.strip()

    return run


@pytest.fixture(scope="module")
def image(buildah: Buildah, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A container of the image, as its Dockerfile says."""
    root = tmp_path_factory.mktemp("base") / "root.tar"
    wanted = "python3,python3-venv,python3-pip,ca-certificates"
    subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={wanted}", "trixie", root], check=True
    )
    base = buildah("from", "scratch")
    buildah("add", base, root, "/")
    buildah("run", "--isolation=chroot", base, "--", "ln", "-s", "python3", "/usr/bin/python")
    (name,) = set(re.findall(r"^FROM (\S+)@sha256:[0-9a-f]{64}\b", DOCKERFILE.read_text(), re.MULTILINE))
    buildah("commit", base, f"docker.io/library/{name}")
    recipe = root.with_name("Dockerfile")  # this base has no digest that could be known before
    recipe.write_text(re.sub("@sha256:[0-9a-f]{64}", "", DOCKERFILE.read_text()))
    buildah(
        "bud", "--isolation=chroot", "--pull=never", "--network=host",
        "--volume=/etc/ssl/certs:/etc/ssl/certs:ro", "--tag=pushjuju",
        f"--file={recipe}", ROOT, alone=False,
    )  # fmt: skip
    return buildah("from", "--pull=never", "localhost/pushjuju")


@pytest.mark.image
@pytest.mark.timeout(1200)
def test_a_controller_in_the_image_serves_without_root(buildah: Buildah, image: str) -> None:
    def inside(*words: str) -> str:
        return buildah("run", "--isolation=chroot", image, "--", *words)

    assert inside("id", "-u") == "990"
    inside("pushjuju", "bootstrap", "manual", "home")
    check = re.search(r"^HEALTHCHECK CMD (.+)$", DOCKERFILE.read_text(), re.MULTILINE)
    assert check is not None
    inside("timeout", "60", "sh", "-c", SERVES.format(health=shlex.join(json.loads(check[1]))))
