"""Property tests here run beside real sshds and fsyncs: time is not what they judge."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("runner", deadline=None)
settings.load_profile("runner")
