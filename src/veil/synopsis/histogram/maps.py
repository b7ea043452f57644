"""Maps: the cells of a histogram over longitude and latitude as rectangles, for programs that draw maps."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from ...errors import BadInput
from ...schema import Numeric
from ..domain import spans
from .answers import Numbers

LEAST = 0.005  # rows of a cell that is worth drawing
DIGITS = 3  # after the point, of an estimated number of rows


def rectangles(histogram: Any, longitude: str, latitude: str) -> tuple[Numbers, Numbers]:
    """West, south, east and north of every cell that is not empty, cells x 4, and its estimated rows.

    A cell that spans the 180th meridian cannot be: longitudes run from the lower to the upper bound of their column.
    """
    columns = [histogram.schema_.get(name) for name in (longitude, latitude)]
    if not all(isinstance(column, Numeric) and column.kind == "numeric" for column in columns):
        raise BadInput("a map needs two columns of numbers: the longitude and the latitude, in degrees")
    rows = np.round(histogram.marginal([longitude, latitude]), DIGITS)
    x, y = np.nonzero(np.abs(rows) > LEAST)
    (west, east), (south, north) = (spans(column) for column in columns)
    return np.stack([west[x], south[y], east[x], north[y]], axis=1), rows[x, y]


def geojson(histogram: Any, longitude: str, latitude: str) -> str:
    """A GeoJSON feature collection (RFC 7946): a polygon for each cell, its rows as a property."""
    boxes, rows = rectangles(histogram, longitude, latitude)
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Polygon", "coordinates": [corners(*box)]},
            "properties": {"rows": count},
        }
        for box, count in zip(boxes.tolist(), rows.tolist(), strict=True)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features})


def write_geoparquet(histogram: Any, longitude: str, latitude: str, path: Path) -> None:
    """A GeoParquet 1.1 file: a column of polygons as well-known binary, and one of rows."""
    boxes, rows = rectangles(histogram, longitude, latitude)
    shapes = [_binary(corners(*box)) for box in boxes.tolist()]
    column = {"encoding": "WKB", "geometry_types": ["Polygon"]}
    about = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    table = pa.table({"geometry": pa.array(shapes, pa.binary()), "rows": rows})
    parquet.write_table(table.replace_schema_metadata({"geo": json.dumps(about)}), path)


def corners(west: float, south: float, east: float, north: float) -> list[list[float]]:
    """The corners of a rectangle against the clock, the first once more at the end."""
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def _binary(ring: list[list[float]]) -> bytes:
    """A polygon of one ring as well-known binary, little-endian."""
    return struct.pack(f"<BIII{2 * len(ring)}d", 1, 3, 1, len(ring), *(part for point in ring for part in point))
