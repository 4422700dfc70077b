#!/usr/bin/env python3
"""Start Bertscope, test it, train with it: `python3 run.py [command]`, with nothing installed but Python 3.11+."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - every Python since 2.7 reads this file, and says a sentence
    sys.exit("Bertscope needs Python 3.11 or newer; this is %s." % sys.version.split()[0])  # noqa: UP031

from bertscope.launcher import main

if __name__ == "__main__":
    sys.exit(main())
