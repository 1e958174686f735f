"""Products of matrices and vectors, as nested sums; NumPy calls its BLAS."""

import numpy as np

from peers.shared import multiply, times_vector

from .suite import check_floats, parallel, prange, program, random


def _factors(n):
    side = max(int(n ** 0.5), 8)
    rng = random(1)
    return {"a": rng.random((side, side)), "b": rng.random((side, side))}


_PRODUCT = """
function multiply(a, b) : ([[float]], [[float]]) -> [[float]] =
  {{sum({x * y : x in row; y in column}) : column in transpose(b)} : row in a};
"""


def _single(a, b):
    return a.astype(np.float32), b.astype(np.float32)


program(
    "matmul-f64", n=512 * 512, inputs=_factors, check="float rows", nesl=_PRODUCT,
    form="multiply(a, b)", numba=multiply, numpy=lambda a, b: a @ b)

program(
    "matmul-f32", n=512 * 512, inputs=_factors, check="float rows", nesl=_PRODUCT, precision=32, tolerance=1e-3,
    form="multiply(a, b)", numba=(_single, multiply), numpy=(_single, lambda a, b: a @ b))


def _tall(n):
    return {"a": random(2).random((max(n // 16, 8), 16))}


@parallel
def _gram(a):
    k, parts = a.shape[1], 16
    sums = np.zeros((parts, k, k))
    for p in prange(parts):
        for r in range(p * len(a) // parts, (p + 1) * len(a) // parts):
            for i in range(k):
                for j in range(k):
                    sums[p, i, j] += a[r, i] * a[r, j]
    return sums.sum(0)


program(
    "gram-tall", n=2_000_000, inputs=_tall, check="float rows",
    nesl="""
function gram(a) : [[float]] -> [[float]] =
  let columns = transpose(a) in {{sum({x * y : x in c; y in d}) : d in columns} : c in columns};
""",
    form="gram(a)", numba=_gram, numpy=lambda a: a.T @ a)


def _matrix_vector(n):
    side = max(int(n ** 0.5), 8)
    rng = random(3)
    return {"m": rng.random((side, side)), "v": rng.random(side)}


program(
    "matrix-vector", n=4_000_000, inputs=_matrix_vector, check="floats",
    nesl="", form="{sum({x * y : x in row; y in v}) : row in m}", numba=times_vector, numpy=lambda m, v: m @ v)

program(
    "vector-matrix", n=4_000_000, inputs=_matrix_vector, check="floats",
    nesl="", form="{sum({x * y : x in column; y in v}) : column in transpose(m)}",
    numpy=lambda m, v: v @ m)


def _batch(n):
    rng, k = random(4), 8
    count = max(n // 64, 4)
    return {"xs": rng.random((count * k, k)), "ys": rng.random((count * k, k))}


@parallel
def _batched(a, b):
    out = np.zeros_like(a)
    for m in prange(len(a)):
        for i in range(8):
            for k in range(8):
                for j in range(8):
                    out[m, i, j] += a[m, i, k] * b[m, k, j]
    return out


_three_dimensions = (lambda xs, ys: (xs.reshape(-1, 8, 8), ys.reshape(-1, 8, 8)))

program(
    "batched-small", n=1_000_000, inputs=_batch,
    check=("check_floats(flatten(flatten(r)))", check_floats),
    nesl=_PRODUCT + """
as = group_by(xs, 8);
bs = group_by(ys, 8);
""",
    form="{multiply(a, b) : a in as; b in bs}", numba=(_three_dimensions, _batched),
    numpy=(_three_dimensions, lambda a, b: a @ b))


program(
    "covariance", n=1_000_000, inputs=_tall, check="float rows",
    nesl="""
function covariance(a) : [[float]] -> [[float]] =
  let columns = transpose(a);
      n = float(#a);
      centred = {let mean = sum(c) / n in {x - mean : x in c} : c in columns}
  in {{sum({x * y : x in c; y in d}) / (n - 1.0) : d in centred} : c in centred};
""",
    form="covariance(a)", numpy=lambda a: np.cov(a, rowvar=False))


def _layer(n):
    rng = random(5)
    return {"batch": rng.random((max(n // 256, 8), 256)), "weights": rng.random((64, 256)) - 0.5,
            "bias": rng.random(64)}


program(
    "dense-layer", n=500_000, inputs=_layer, check="float rows",
    nesl="""
% A layer of a neural network with rectified outputs. %
function layer(batch, weights, bias) : ([[float]], [[float]], [float]) -> [[float]] =
  {{max(0.0, sum({x * w : x in p; w in ws}) + b) : ws in weights; b in bias} : p in batch};
""",
    form="layer(batch, weights, bias)",
    numpy=lambda batch, weights, bias: np.maximum(batch @ weights.T + bias, 0.0))
