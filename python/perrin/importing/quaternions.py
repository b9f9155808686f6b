"""Quaternions w, x, y, z of importers: their product, matrices, and rotations of x."""
import numpy as np


def product(p, q):
    """Of quaternions, or of rows of them."""
    (a, b, c, d), (e, f, g, h) = np.moveaxis(np.asarray(p, float), -1, 0), \
        np.moveaxis(np.asarray(q, float), -1, 0)
    return np.stack([a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
                     a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e], axis=-1)


def from_x(d):
    """The shortest rotation of x to a direction; none of a vector without length."""
    size = np.linalg.norm(d)
    x, y, z = d / size if size else (1.0, 0.0, 0.0)
    q = np.array([1 + x, 0, -z, y]) if x > -0.999999 else np.array([0.0, 0, 0, 1.0])
    return q / np.linalg.norm(q)


def matrix(q):
    """Of the rotation: matrix @ r is the vector r of the frame, outside of it."""
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
