"""Trees drawn and in words, with the noisy counts of every node; the weights of linear models."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from veil import (
    BadInput,
    DecisionTreeClassifier,
    LogisticRegressionClassifier,
    NaiveBayesClassifier,
    RandomForestClassifier,
    coefficients,
    datasets,
    load_model,
    plot_tree,
)
from veil.models.displays import tree_nodes
from veil.plans.finish import probabilities
from veil.plans.trees.pruning import class_shares
from veil.plans.trees.trees import TREES


@pytest.fixture(scope="module")
def iris():
    return datasets.load("iris")


def fitted(iris, **settings):
    rows, schema = iris
    return DecisionTreeClassifier(**{"epsilon": 8, "schema": schema, "random_state": 0, **settings}).fit(rows)


@pytest.mark.parametrize("preset", [*TREES, "jostle"])
@pytest.mark.parametrize("epsilon", ["1/10", 3, 1000])
def test_the_nodes_are_those_that_the_model_predicts_by(preset, epsilon, iris, tmp_path):
    model = fitted(iris, preset=preset, epsilon=epsilon)
    model.save(tmp_path / "model.veil")
    for each in (model, load_model(tmp_path / "model.veil")):
        root, prior = tree_nodes(each)
        assert np.allclose(class_shares(root, prior), probabilities(each.scorer_.table), atol=1e-5)
        assert len(root.leaves()) == each.scorer_.partition.size
        for branches in (node.branches for node in (root, *root.branches) if node.branches):
            assert all(branch.deviation > 0 for branch in branches)


def test_counts_of_a_huge_budget_are_those_of_the_rows(iris):
    rows, schema = iris
    root, _ = tree_nodes(fitted(iris, epsilon=10**6))
    assert root.counts.tolist() == [50, 50, 50]
    assert sum(leaf.counts for leaf in root.leaves()).tolist() == [50, 50, 50]


def test_text_has_counts_and_standard_errors_in_every_node(iris):
    lines = fitted(iris, depth=2, preset="mohammed").export_text().splitlines()
    assert all(" ± " in line for line in lines)
    inner = [line for line in lines if line.endswith("rows)")]
    leaves = [line for line in lines if not line.endswith("rows)")]
    assert inner and leaves and all(line.count("±") == 3 for line in leaves)


def shown(axes):
    return [text.get_text() for text in axes.texts]


def test_a_drawing_shows_every_node_with_counts_and_standard_errors(iris):
    model = fitted(iris, preset="mohammed", depth=2)
    root, _ = tree_nodes(model)
    boxes = [text for text in shown(plot_tree(model)) if "says" in text]
    assert len(boxes) == 1 + len(root.branches) + len(root.leaves())
    assert all(box.count("±") == 4 and "rows" in box for box in boxes)
    assert boxes[0].startswith("by ")


def test_a_drawing_can_be_cut_off_filled_and_renamed(iris):
    model = fitted(iris, preset="mohammed", depth=2)
    axes = plot_tree(model, max_depth=1, filled=True, feature_names=["A", "B", "C", "D"], class_names=["x", "y", "z"])
    boxes = [text for text in shown(axes) if "says" in text]
    root, _ = tree_nodes(model)
    assert len(boxes) == 1 + len(root.branches) and any(" ..." in box for box in boxes)
    assert boxes[0][3] in "ABCD" and " ± " in boxes[0] and any(f"says {name}" in boxes[0] for name in "xyz")
    faces = {tuple(text.get_bbox_patch().get_facecolor()) for text in axes.texts if "says" in text.get_text()}
    assert len(faces) > 1
    own = Figure().add_subplot()
    assert plot_tree(model, ax=own, max_depth=0) is own and len(own.texts) == 1


@pytest.mark.parametrize("folded", [True, False])
@pytest.mark.parametrize("size", [(4, 3), (14, 8)])
@pytest.mark.parametrize("max_depth", [None, 2])
def test_boxes_and_names_fit_and_do_not_overlap(folded, size, max_depth):
    rows, schema = datasets.load("fair")
    model = DecisionTreeClassifier(epsilon=1, schema=schema, random_state=0).fit(rows)
    figure = Figure(figsize=size)
    renderer = FigureCanvasAgg(figure).get_renderer()
    axes = plot_tree(model, ax=figure.add_subplot(), folded=folded, max_depth=max_depth)
    figure.draw(renderer)
    boxes = [text.get_bbox_patch().get_window_extent(renderer) for text in axes.texts]
    assert len(boxes) > 3 and not [
        (a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.shrunk(0.9, 0.9).overlaps(b.shrunk(0.9, 0.9))
    ]


def test_what_is_below_noise_is_folded(iris):
    model = fitted(iris, preset="mohammed", epsilon=1, depth=2)
    root, prior = tree_nodes(model)
    noise = [node for node in (root, *root.branches) if node.counts.sum() <= 2 * node.deviation * 3**0.5]
    assert noise and any(node.branches for node in noise)
    text, whole = model.export_text(), model.export_text(folded=False)
    assert len(text.splitlines()) < len(whole.splitlines()) and text.count(") ...") == len(noise)
    leaves = [line for line in whole.splitlines() if ";" in line]
    said = [float(line.partition(";")[0].rpartition("(")[2]) for line in leaves]
    assert np.allclose(said, [shares.max() for shares in class_shares(root, prior)], atol=0.006)
    boxes = shown(plot_tree(model))
    assert any("no more rows" in box for box in boxes) == (len(noise) > 1)


def test_a_tree_of_one_leaf_is_drawn(iris):
    assert len(plot_tree(fitted(iris, epsilon="1/1000", preset="friedman-schuster")).texts) == 1


def test_what_cannot_be_drawn_is_refused(iris):
    rows, schema = iris
    with pytest.raises(BadInput, match="single tree"):
        plot_tree(RandomForestClassifier(epsilon=1, schema=schema, random_state=0).fit(rows))
    model = fitted(iris)
    with pytest.raises(BadInput, match="4 names"):
        plot_tree(model, feature_names=["one"])
    model.hold(replace(model.outcome_, releases=model.releases_[:-1]))
    with pytest.raises(BadInput, match="fit the model again"):
        plot_tree(model)
    model = fitted(iris)
    model.hold(replace(model.outcome_, made=fitted(iris, depth=1, preset="mohammed").scorer_))
    with pytest.raises(BadInput, match="another version"):
        plot_tree(model)


def test_coefficients_are_by_column_and_values(iris):
    rows, schema = iris
    for kind in (LogisticRegressionClassifier, NaiveBayesClassifier):
        model = kind(epsilon=1, schema=schema, random_state=0).fit(rows)
        found = pd.DataFrame(coefficients(model))
        assert list(found) == ["column", "values", *schema.classes]
        assert set(found["column"]) == {column.name for column in schema.features}
        assert np.allclose(found[list(schema.classes)].sum(axis=1), 0, atol=1e-6)


def test_two_classes_have_one_coefficient_a_value():
    rows, schema = datasets.load("fair")
    model = LogisticRegressionClassifier(epsilon=1, schema=schema, random_state=0).fit(rows)
    found = coefficients(model)
    assert list(found) == ["column", "values", schema.classes[1]]
    code, column = model.schema_.encode(rows)[found["column"][0]][0], found["column"][0]
    weights = np.asarray(model.scorer_.weights[column])[code]
    assert weights[1] - weights[0] in found[schema.classes[1]]


def test_a_tree_has_no_coefficients(iris):
    with pytest.raises(BadInput, match="not linear"):
        coefficients(fitted(iris))
