"""Code that charm-tools run while they build: it writes where it ran."""

import pathlib

from charmtools.build.tactics import Tactic


class Noted(Tactic):
    """Takes the file `noted`."""

    @classmethod
    def trigger(cls, entity, target=None, layer=None, next_config=None):
        return entity.name == "noted"

    def __call__(self):
        release = pathlib.Path("/etc/os-release").read_text()
        (self.target.directory / "noted").write_text(release)

    def sign(self):
        return {"noted": ("layer", "static", "")}
