"""`python -m towline.cli` is `towline`."""

import os
import sys

from towline.cli.lifeline import end_with_parent

# Before anything else is imported: the parent may die while we start.
end_with_parent(os.environ)

from towline.cli.main import main  # noqa: E402

sys.exit(main())
