"""``python -m fastexp`` is the command ``fastexp``."""

import sys

from .cli import main

sys.exit(main())
