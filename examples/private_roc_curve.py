"""
A ROC curve of private test rows
================================

An exact ROC curve tells about the rows that it was measured on. This one is paid for, and shows its noise.
"""

# %%
# Train on some of the rows. Every row draws for itself whether it is one of them: a split of fixed size would weaken
# the promise.
import numpy as np

from veil import Ledger, LogisticRegressionClassifier, PrivateRocDisplay, datasets, private_roc_curve

rows, schema = datasets.load("fair")
chosen = np.random.default_rng().random(len(rows)) < 0.7
ledger = Ledger(2, schema.name)
model = LogisticRegressionClassifier(epsilon=1, schema=schema, ledger=ledger).fit(rows[chosen])

# %%
# Then ask the other rows how good it is.
curve = private_roc_curve(model, rows[~chosen], epsilon=1, ledger=ledger)
print(curve)
_ = PrivateRocDisplay(curve, name="private").plot(plot_chance_level=True)
