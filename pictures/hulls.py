"""The hull of a body in space: its faces as polygons, whatever the order of its points."""

from __future__ import annotations

import numpy as np

from ..mechanism.model import Array
from .outlines import hull

FLAT = 1e-6  # of the size: what is thinner is a plane, or a line


def faces(points: Array) -> list[Array]:
    """Return the faces of the convex hull (each m x 3): one for points in a plane, a line for points on a line."""
    middle = points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(points - middle)
    if len(points) < 3 or sizes[1] <= FLAT * sizes[0]:
        along = (points - middle) @ axes[0]
        return [points[[int(np.argmin(along)), int(np.argmax(along))]]]
    if len(points) == 3 or sizes[2] <= FLAT * sizes[0]:
        return [_polygon(points, middle, axes[:2])]
    from scipy.spatial import ConvexHull

    found = ConvexHull(points)
    # the triangles of a face have one plane: normal and distance
    planes: dict[tuple[float, ...], set[int]] = {}
    for corners, plane in zip(found.simplices, found.equations, strict=True):
        key = (*np.round(plane[:3], 6), round(float(plane[3] / sizes[0]), 6))
        planes.setdefault(key, set()).update(int(k) for k in corners)
    polygons = []
    for plane, corners in planes.items():
        normal = np.array(plane[:3])
        x = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        x /= np.linalg.norm(x)
        polygons.append(_polygon(points[sorted(corners)], middle, np.array([x, np.cross(normal, x)])))
    return polygons


def _polygon(points: Array, middle: Array, axes: Array) -> Array:
    """Return the hull of points that lie in a plane, in order round it."""
    flat = (points - middle) @ axes.T
    corners = hull(flat)
    return points[[int(np.argmin(np.linalg.norm(flat - corner, axis=1))) for corner in corners]]
