"""What was measured for Veil and is not part of it: comparisons, papers repeated, speed, and the pages about them."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RESULTS = ROOT / "experiments" / "results"
PUBLISHED = (  # tables of the papers, in the folder VEIL_DATA, that everybody may have
    *("acs_ipums_binary", "acs_national2019", "adult", "bank_additional", "br2000", "cmc", "hiv1625", "nursery"),
    *("reuters_earn", "satellite", "sentiment140_20k", "sms_spam"),
)
