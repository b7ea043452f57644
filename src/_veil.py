"""The entry of the command `veil`. It lies outside the package, which takes a second to load: so Ctrl-C in that second
ends in a sentence, as it does later on."""

import sys


def main() -> None:
    """Load the package and run the command."""
    try:
        from veil.cli import main as run
    except KeyboardInterrupt:
        print("veil: stopped", file=sys.stderr)
        sys.exit(130)
    run()
