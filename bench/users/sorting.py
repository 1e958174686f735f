"""Sorting: networks on pairs, quicksort on the six distributions of paper 001, texts, selections."""

import numpy as np

from .suite import njit, parallel, prange, program, random


def _keys_and_values(n):
    size = 1 << (n.bit_length() - 1)
    keys = random(1).permutation(size)
    return {"keys": keys, "values": keys * 7 % 1000}


@parallel
def _bitonic(keys, values):
    k, v = keys.copy(), values.copy()
    n, width = len(k), 2
    while width <= n:
        j = width // 2
        while j > 0:
            for i in prange(n // 2):
                at = i // j * 2 * j + i % j
                if (k[at] > k[at + j]) == (at & width == 0):
                    k[at], k[at + j] = k[at + j], k[at]
                    v[at], v[at + j] = v[at + j], v[at]
            j //= 2
        width *= 2
    return k, v


def _bitonic_numpy(keys, values):
    k, v = keys.copy(), values.copy()
    n, width = len(k), 2
    while width <= n:
        j = width // 2
        while j > 0:
            ks, vs = k.reshape(-1, 2, j), v.reshape(-1, 2, j)
            up = (np.arange(len(ks)) * 2 * j & width == 0)[:, None]
            swap = (ks[:, 0] > ks[:, 1]) == up
            for pair in (ks, vs):
                low, high = np.where(swap, pair[:, 1], pair[:, 0]), np.where(swap, pair[:, 0], pair[:, 1])
                pair[:, 0], pair[:, 1] = low, high
            j //= 2
        width *= 2
    return k, v


_PAIRS = ("(#r, sum({k * rem(i, 7) : (k, v) in r; i in [0:#r]}), sum({v * rem(i, 7) : (k, v) in r; i in [0:#r]}))",
          lambda r: [len(r[0])] + [(x * (np.arange(len(x)) % 7)).sum() for x in r])

program(
    "bitonic-pairs", n=1 << 17, inputs=_keys_and_values, check=_PAIRS,
    nesl="""
% Batcher's bitonic sort of pairs of a key and a value. %
function merge(a) : [(int, int)] -> [(int, int)] =
  if #a == 1 then a
  else let halves = bottop(a);
           low = {(if j < k then (j, v) else (k, w)) : (j, v) in halves[0]; (k, w) in halves[1]};
           high = {(if j < k then (k, w) else (j, v)) : (j, v) in halves[0]; (k, w) in halves[1]}
       in flatten({merge(half) : half in [low, high]});
function bitonic_sort(a) : [(int, int)] -> [(int, int)] =
  if #a == 1 then a
  else let sorted = {bitonic_sort(half) : half in bottop(a)}
       in merge(sorted[0] ++ reverse(sorted[1]));
""",
    form="bitonic_sort(zip(keys, values))", numba=_bitonic, numpy=_bitonic_numpy)


def _uniform(n):
    return random(2).integers(0, 1 << 31, n)


def _gaussian(n):
    return random(3).integers(0, 1 << 31, (n, 4)).sum(1) // 4


def _bucket(n, p=16):
    # Each of p blocks has p parts; part j holds values of the j-th part of the range.
    rng, part = random(4), max(n // (p * p), 1)
    low = np.tile(np.repeat(np.arange(p), part), p)[:n]
    low = np.resize(low, n)
    return low * ((1 << 31) // p) + rng.integers(0, (1 << 31) // p, n)


def _staggered(n, p=16):
    # Block i holds values of one part of the range: part 2 i + 1 for the first half of the blocks.
    rng, block = random(5), max(n // p, 1)
    i = np.minimum(np.arange(n) // block, p - 1)
    low = np.where(i < p // 2, 2 * i + 1, 2 * (i - p // 2))
    return low * ((1 << 31) // p) + rng.integers(0, (1 << 31) // p, n)


@njit(cache=True)
def _quicksort(a):
    if len(a) < 2:
        return a
    pivot = (a.min() + a.max()) // 2
    less, equal, more = a[a < pivot], a[a == pivot], a[a > pivot]
    return np.concatenate((_quicksort(less), equal, _quicksort(more)))


for _name, _make in (("uniform", _uniform), ("gaussian", _gaussian), ("zero", lambda n: np.full(n, 12345)),
                     ("bucket", _bucket), ("staggered", _staggered), ("sorted", lambda n: np.sort(_uniform(n)))):
    program(
        f"quicksort-{_name}", n=500_000, inputs=lambda n, make=_make: {"a": make(n)}, check="ints",
        grows=_name in ("uniform", "zero"),
        nesl="""
% As in paper 001, the pivot is the mean of the least and the greatest key. %
function quicksort(a) : [int] -> [int] =
  if #a < 2 then a
  else let pivot = (min_val(a) + max_val(a)) / 2;
           less = {x in a | x < pivot};
           equal = {x in a | x == pivot};
           more = {x in a | x > pivot};
           sides = {quicksort(side) : side in [less, more]}
       in sides[0] ++ equal ++ sides[1];
""",
        form="quicksort(a)", numba=_quicksort, numpy=lambda a: np.sort(a))


def _names(n):
    rng = random(6)
    return {"names": ["".join(map(chr, rng.integers(97, 123, k))) for k in rng.integers(3, 12, n)]}


_TEXTS = ("let v = flatten(r) in (#r, #v, sum({char_code(c) * rem(i, 7) : c in v; i in [0:#v]}))",
          lambda r: _check_texts("".join(r), len(r)))


def _check_texts(text, n):
    codes = np.frombuffer(text.encode(), np.uint8).astype(np.int64)
    return [n, len(codes), (codes * (np.arange(len(codes)) % 7)).sum()]


program(
    "sort-texts", n=50_000, inputs=_names, check=_TEXTS,
    nesl="", form="string_sort(names)", python=lambda names: sorted(names),
    numpy=(lambda names: (np.array(names),), np.sort))


def _rows(n):
    rng = random(7)
    return {"ages": rng.integers(0, 100, n), "ids": rng.permutation(n)}


program(
    "sort-by-key", n=500_000, inputs=_rows, check="ints",
    nesl="", form="permute(ids, rank(ages))",
    numpy=lambda ages, ids: ids[np.argsort(ages, kind="stable")])

program(
    "top-k", n=2_000_000, inputs=lambda n: {"a": random(8).random(n)}, check="floats",
    nesl="", form="take(reverse(sort(a)), 100)",
    numpy=lambda a: np.sort(np.partition(a, len(a) - 100)[-100:])[::-1])


def _sorted_and_queries(n):
    rng = random(9)
    return {"a": np.sort(rng.random(n)), "queries": rng.random(n)}


@parallel
def _search(a, queries):
    out = np.empty(len(queries), np.int64)
    for i in prange(len(queries)):
        low, high = 0, len(a)
        while low < high:
            middle = (low + high) // 2
            if a[middle] < queries[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low
    return out


program(
    "binary-search", n=300_000, inputs=_sorted_and_queries, check="ints",
    nesl="""
function place(a, x, low, high) : ([float], float, int, int) -> int =
  if low == high then low
  else let middle = (low + high) / 2
       in if a[middle] < x then place(a, x, middle + 1, high) else place(a, x, low, middle);
""",
    form="{place(a, x, 0, #a) : x in queries}", numba=_search,
    numpy=lambda a, queries: np.searchsorted(a, queries))
