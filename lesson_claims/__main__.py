"""`python -m lesson_claims`: the same as `lesson-claims`."""

import sys

from lesson_claims.command_line import main

if __name__ == "__main__":
    sys.exit(main())
