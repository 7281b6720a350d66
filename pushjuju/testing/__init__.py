"""What plugin authors and charm tests may import: contract suites and real machines. Needs pytest.

Nothing in pushjuju imports it.
"""

import pytest

pytest.register_assert_rewrite("pushjuju.testing.provider_contract")
