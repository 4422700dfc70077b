"""`python -m bertscope`: the command `bertscope`."""

import sys

from bertscope.command import main

if __name__ == "__main__":
    sys.exit(main())
