"""
A private classifier
====================

Train a classifier on a survey whose answers nobody would want leaked, and see what the noise did to it.
"""

# %%
# The survey is public by now (Fair 1978); we treat it as if it were secret. The schema says what is public about it.
from veil import Ledger, NaiveBayesClassifier, datasets
from veil.report.counts import CountsDisplay

rows, schema = datasets.load("fair")
print(schema)

# %%
# A ledger holds the budget of the data set, and every answer is charged to it before it is given.
ledger = Ledger(1, schema.name)
model = NaiveBayesClassifier(epsilon=1, schema=schema, ledger=ledger).fit(rows)
print(ledger)

# %%
# What was released about one column: the share of each class among its values, and what the noise leaves open.
_ = CountsDisplay.from_model(model, "rate_marriage").plot()
