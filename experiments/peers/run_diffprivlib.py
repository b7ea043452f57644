"""diffprivlib's classifiers, given everything that the schema makes public.

Numbers are scaled to 0 to 1 by their bounds and categories become one column each, as most users have them. For the
methods whose name ends in "tuned" a category is its place in the schema, scaled in the same way, and everything is
centred: fewer columns and a smaller norm get less noise. Their trees are deeper, and their forest is larger.
"""

import numpy as np
from diffprivlib.models import DecisionTreeClassifier, GaussianNB, LogisticRegression, RandomForestClassifier
from protocol import serve
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder


def fit(request, train, labels):
    """A model, and the encoding of rows that it predicts from."""
    tuned = request["method"].endswith("-tuned")
    encode, centre = (places, 0.5) if tuned else (indicators, 0)

    categories = [column["values"] for column in request["columns"] if "values" in column]

    def prepare(rows):
        pairs = list(zip(rows, request["columns"], strict=True))
        texts = [values for values, column in pairs if "values" in column]
        encoded = iter(encode(np.column_stack(texts), categories) if texts else ())
        columns = [scale(values, c["bounds"]) if "bounds" in c else next(encoded) for values, c in pairs]
        return np.column_stack(columns) - centre

    return make(request, tuned, centre).fit(prepare(train), labels), prepare


def scale(values, bounds):
    low, high = bounds
    return (values - low) / (high - low)


def indicators(texts, categories):
    """A block of columns for each text, by one encoder for all of them: one for each would take longer."""
    encoder = OneHotEncoder(categories=categories, handle_unknown="ignore", sparse_output=False)
    return np.split(encoder.fit_transform(texts), np.cumsum([len(values) for values in categories])[:-1], axis=1)


def places(texts, categories):
    """A column for each text: the place of its category, from 0 to 1."""
    encoder = OrdinalEncoder(categories=categories, handle_unknown="use_encoded_value", unknown_value=-1)
    known = encoder.fit_transform(texts).clip(min=0)
    return [scale(known[:, i], (0, max(len(values) - 1, 1))) for i, values in enumerate(categories)]


def make(request, tuned, centre):
    """The model that is asked for. A column of the table adds at most (1 - centre)^2 to the squared norm of a row.

    A large C costs logistic regression nothing, since the noise brings its own penalty; with C = 1 and few columns
    the library would spend nearly all of an epsilon around 1 on the penalty and add enormous noise.
    """
    shared = {"epsilon": request["epsilon"], "random_state": request["seed"]}
    bounds = (-centre, 1 - centre)
    grown = {"bounds": bounds, "classes": np.arange(request["classes"]), **shared}
    forest = {"n_estimators": 30, "max_depth": 10} if tuned else {"n_estimators": 10, "max_depth": 5}
    norm = len(request["columns"]) ** 0.5 * (1 - centre)
    return {
        "naive-bayes": lambda: GaussianNB(bounds=bounds, **shared),
        "logistic-regression": lambda: LogisticRegression(data_norm=norm, C=100.0, max_iter=1000, **shared),
        "tree": lambda: DecisionTreeClassifier(max_depth=12 if tuned else 5, **grown),
        "forest": lambda: RandomForestClassifier(**forest, shuffle=True, **grown),
    }[request["method"].removeprefix("diffprivlib-").removesuffix("-tuned")]()


serve(fit)
