"""``python -m overlay``."""

import sys

from overlay.tools.command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
