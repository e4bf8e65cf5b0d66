"""Distances between points, and the nearest of them: one search for all that compare clips."""

from __future__ import annotations

import numpy as np


def distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Euclidean distances of points (m, d) to others (n, d), in float64: (m, n)."""
    points, others = np.asarray(points, np.float64), np.asarray(others, np.float64)
    squares = (points**2).sum(1)[:, None] + (others**2).sum(1) - 2 * points @ others.T
    matrix: np.ndarray = np.sqrt(np.maximum(squares, 0.0))
    return matrix


def nearest_distances(matrix: np.ndarray, count: int) -> np.ndarray:
    """The `count` smallest of each row of distances (m, n), rising: (m, count)."""
    near = np.partition(matrix, count - 1, axis=1)[:, :count] if count < matrix.shape[1] else matrix
    rising: np.ndarray = np.sort(near, axis=1)
    return rising
