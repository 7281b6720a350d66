"""For tests of plugins and charms: contract suites and real machines. Needs pytest.

pushjuju itself imports nothing from here.
"""

import pytest

pytest.register_assert_rewrite("pushjuju.testing.provider_contract")
