"""`python -m towline.cli` is `towline`."""

import sys

from towline.cli.main import main

sys.exit(main())
