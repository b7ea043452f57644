"""What was measured for Veil and is not part of it: comparisons, papers repeated, speed, and the pages about them."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RESULTS = ROOT / "experiments" / "results"
