"""``python -m inversion``."""

import sys

from inversion.command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
