"""Failed assertions of the conformance suite say what they compared."""

import pytest

pytest.register_assert_rewrite("towline.store.conformance")
