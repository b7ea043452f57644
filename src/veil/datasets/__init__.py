"""Real tables for demos, docs and tests, found in installed packages, with hand-written public schemas.

The folder `public` holds schemas alone, of well-known tables that everybody can fetch.
"""

from importlib import resources
from typing import Any

from ..errors import BadInput
from ..schema import Schema

NAMES = ("fair", "iris", "wine", "breast_cancer", "digits")
PUBLIC = {name: name for name in ("adult", "bank_additional", "acs_national2019")} | {"adult_full": "adult"}


def load(name: str) -> tuple[Any, Schema]:
    """The rows (a pandas data frame) and the schema of an embedded data set.

    `fair` is the Redbook survey of 6,366 married women (Fair 1978); its label, whether the woman had an affair, is
    nobody's business. The others are scikit-learn's.
    """
    if name not in NAMES:
        raise BadInput(f"there is no data set {name!r}: choose one of {', '.join(NAMES)}")
    return _fair() if name == "fair" else _from_sklearn(name), _schema(f"{name}.toml")


def public_schema(name: str) -> Schema:
    """The schema, with taxonomies, of a well-known public table whose rows are not shipped."""
    if name not in PUBLIC:
        raise BadInput(f"there is no public schema {name!r}: choose one of {', '.join(PUBLIC)}")
    return _schema(f"public/{PUBLIC[name]}.toml")


def _schema(path: str) -> Schema:
    return Schema.loads((resources.files(__package__) / path).read_text(encoding="utf-8"))


def _fair() -> Any:
    try:
        from statsmodels.datasets import fair
    except ImportError:
        raise BadInput("the fair survey comes with statsmodels: pip install 'veil[demo]'") from None
    rows = fair.load_pandas().data
    return rows.assign(affair=rows.pop("affairs").gt(0).map({True: "yes", False: "no"}))


def _from_sklearn(name: str) -> Any:
    from sklearn import datasets

    try:
        bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    except ImportError:
        raise BadInput("the embedded data sets need pandas: pip install 'veil[demo]'") from None
    return bunch.data.assign(target=bunch.target.map(lambda code: str(bunch.target_names[code])))
