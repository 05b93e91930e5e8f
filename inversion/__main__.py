"""``python -m inversion``."""

import sys

from inversion.inverse_command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
