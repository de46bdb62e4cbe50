"""Lets `python -m assurgent` do what the `assurgent` command does."""

import sys

from assurgent.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
