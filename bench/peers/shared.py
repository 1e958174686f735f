"""Peers of more than one program: in both suites, or in several themes of the users' programs.

Each stands here once, so that all these programs are compared with the same code. `loop` and `parallel`
compile a function with Numba and keep the machine code for the next process. A function that is kept so must not call
one from another file: Numba would not notice that the other file has changed.
"""

import numpy as np

try:
    from numba import njit, prange
except ImportError:
    # Without Numba, the other peers of the users' programs still run; `run.py` leaves this one out.
    prange = range

    def njit(**_):
        return lambda function: function

# A loop as it is written, and one whose iterations `prange` gives to all cores.
loop = njit(cache=True)
parallel = njit(cache=True, parallel=True, fastmath=True)


@loop
def sieve(n):
    """Returns the primes below n, by the sieve of Eratosthenes."""
    prime = np.ones(n, np.bool_)
    prime[:2] = False
    p = 2
    while p * p < n:
        if prime[p]:
            for m in range(p * p, n, p):
                prime[m] = False
        p += 1
    return np.flatnonzero(prime)


@parallel
def nearest(points, centres):
    """Returns the index of the nearest centre for each point."""
    out = np.empty(len(points), np.int64)
    for i in prange(len(points)):
        best, least = 0, np.inf
        for c in range(len(centres)):
            distance = 0.0
            for j in range(points.shape[1]):
                distance += (points[i, j] - centres[c, j]) ** 2
            if distance < least:
                best, least = c, distance
        out[i] = best
    return out


@loop
def means(points, centres, chosen):
    """Returns the mean of the points that have chosen each centre, or the centre itself if none has."""
    sums, sizes = np.zeros_like(centres), np.zeros(len(centres))
    for i in range(len(points)):
        sizes[chosen[i]] += 1
        for j in range(points.shape[1]):
            sums[chosen[i], j] += points[i, j]
    for c in range(len(centres)):
        for j in range(points.shape[1]):
            sums[c, j] = sums[c, j] / sizes[c] if sizes[c] > 0 else centres[c, j]
    return sums


@parallel
def times_vector(m, v):
    """Returns the product of a matrix and a vector."""
    out = np.empty(len(m))
    for i in prange(len(m)):
        total = 0.0
        for j in range(len(v)):
            total += m[i, j] * v[j]
        out[i] = total
    return out


@parallel
def sparse_times_vector(starts, columns, entries, v):
    """Returns the product of a sparse matrix, in compressed rows, and a vector."""
    out = np.empty(len(starts) - 1)
    for row in prange(len(out)):
        total = 0.0
        for at in range(starts[row], starts[row + 1]):
            total += entries[at] * v[columns[at]]
        out[row] = total
    return out


@parallel
def multiply(a, b):
    """Returns the product of two matrices; the middle one of the three loops goes along the rows of both."""
    out = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in prange(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


@parallel
def sum_columns(matrix):
    """Returns the sums of the columns; each core goes along the rows of a block of columns."""
    block = 256
    out = np.zeros(matrix.shape[1])
    for b in prange((matrix.shape[1] + block - 1) // block):
        for i in range(matrix.shape[0]):
            for j in range(b * block, min((b + 1) * block, matrix.shape[1])):
                out[j] += matrix[i, j]
    return out


@loop
def bfs(starts, ends):
    """Returns the number of edges from vertex 0 to each vertex, or -1; `starts` says where the edges of each begin."""
    level = np.full(len(starts) - 1, -1)
    queue = np.empty(len(level), np.int64)
    level[0], queue[0], head, tail = 0, 0, 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for v in ends[starts[u]:starts[u + 1]]:
            if level[v] < 0:
                level[v] = level[u] + 1
                queue[tail] = v
                tail += 1
    return level


@loop
def components(us, vs, vertices):
    """Returns the least vertex of each vertex's component: a union-find over the edges, which halves paths."""
    parent = np.arange(vertices)
    for i in range(len(us)):
        a, b = us[i], vs[i]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    for v in range(vertices):
        parent[v] = parent[parent[v]]
    return parent


def components_scipy(us, vs, vertices):
    """Returns the same as `components`, by SciPy."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(us), np.int8), (us, vs)), (vertices, vertices))
    found, labels = connected_components(graph, directed=False)
    least = np.full(found, vertices)
    np.minimum.at(least, labels, np.arange(vertices))
    return least[labels]
