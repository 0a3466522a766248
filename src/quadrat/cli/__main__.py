"""``python -m quadrat.cli`` is ``quadrat``."""

from __future__ import annotations

import sys

from quadrat.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
