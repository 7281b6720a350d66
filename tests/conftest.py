"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# A loaded machine is slow now and then: no example fails for that. A failure prints how to repeat it.
settings.register_profile("pushjuju", deadline=None, print_blob=True)
settings.load_profile("pushjuju")
