"""The sample files are valid, and what they leave commented out is too."""

from __future__ import annotations

import tomllib

import pytest

from pushjuju.plugins.providers.local.sources import BasesConfig
from tests.world import CHECKOUT

SAMPLE = CHECKOUT / "state/sample"
FILES = ["pushjuju.toml", "clouds.toml", "credentials.toml"]


def uncommented(text: str) -> str:
    """Return the text with every commented setting switched on; prose has no ` = ` and no leading bracket."""
    lines = []
    for line in text.splitlines():
        inner = line.removeprefix("# ")
        is_setting = inner.startswith("[") or (
            " = " in inner and inner.split(" = ")[0].replace("-", "").isalpha()
        )
        lines.append(inner if line.startswith("# ") and is_setting else line)
    return "\n".join(lines)


@pytest.mark.parametrize("name", FILES)
def test_a_sample_is_valid_as_it_is_and_with_everything_on(name: str) -> None:
    text = (SAMPLE / name).read_text()
    tomllib.loads(text)
    assert tomllib.loads(uncommented(text))


def test_the_local_cloud_of_the_sample_is_what_the_provider_reads() -> None:
    clouds = tomllib.loads(uncommented((SAMPLE / "clouds.toml").read_text()))["clouds"]
    bases = BasesConfig.of(clouds["local"])
    assert bases.stand_in
    assert set(bases.tables) == {"ubuntu@24.04", "ubuntu@22.04", "debian@11", "debian@12"}
    assert {cloud["type"] for cloud in clouds.values()} == {"local", "manual"}
