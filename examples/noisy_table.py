"""
A table that may be published
=============================

Publish noisy counts of a few columns once; then query them, and draw synthetic rows from them, as often as you like.
"""

# %%
# PrivPfC chooses the columns and how to cut them, for what a classifier can learn from their counts.
from veil import Ledger, datasets, publish

rows, schema = datasets.load("fair")
ledger = Ledger(1, schema.name)
synopsis = publish(rows, schema, epsilon=1, ledger=ledger)
print(synopsis)

# %%
# How many women said that they had an affair? The answer comes with its standard error, and costs nothing more.
print(synopsis.query(affair="yes"))

# %%
# Synthetic rows in the original columns and units, of the columns that were published.
print(synopsis.to_frame(rows=5))
