"""
What privacy costs
==================

The same model at several epsilons, on public rows with seeded noise: how much accuracy does each epsilon leave?
"""

# %%
# Noise that can be repeated protects nobody, so all of these models are marked as not private.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from veil import NaiveBayesClassifier, datasets

rows, schema = datasets.load("fair")
chosen = np.random.default_rng(0).random(len(rows)) < 0.7
train, test = rows[chosen], rows[~chosen]
truth = test["affair"] == "yes"


def quality(epsilon, seed):
    model = NaiveBayesClassifier(epsilon=epsilon, schema=schema, random_state=seed).fit(train)
    return roc_auc_score(truth, model.predict_proba(test)[:, 1])


epsilons = [0.01, 0.03, 0.1, 0.3, 1, 3, 10]
areas = np.array([[quality(epsilon, seed) for seed in range(8)] for epsilon in epsilons])

# %%
# The line is the mean over 8 draws of the noise, the band holds nine tenths of them.
fig, ax = plt.subplots(layout="constrained")
ax.fill_between(epsilons, *np.quantile(areas, [0.05, 0.95], axis=1), alpha=0.2)
ax.plot(epsilons, areas.mean(axis=1), "o-")
ax.set(xscale="log", xlabel="epsilon", ylabel="AUC on rows held out of training")
plt.show()
