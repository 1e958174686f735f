"""Grouping: counts, sets, groups of pairs, tables, joins."""

from collections import Counter

import numpy as np

from .suite import check_ints, loop, parallel, prange, program, random, text_of


def _distinct(a):
    import pandas

    return pandas.unique(a)


def _counts_pandas(a):
    import pandas

    counts = pandas.Series(a).value_counts(sort=False)
    return counts.index.to_numpy(), counts.to_numpy()


def _wide(n, distinct, seed):
    """Returns n ints with this many distinct values, far apart."""
    return random(seed).integers(0, distinct, n) * 1_000_003 % 1_000_000_007


def _counts_numpy(a):
    return np.unique(a, return_counts=True)


@loop
def _bincount(a, k):
    counts = np.zeros(k, np.int64)
    for x in a:
        counts[x] += 1
    return np.arange(k), counts


program(
    "histogram-few", n=4_000_000, inputs=lambda n: {"a": random(1).integers(0, 10, n)}, check="counts",
    nesl="", form="histogram(a)", numpy=lambda a: (np.arange(10), np.bincount(a, minlength=10)),
    numba=lambda a: _bincount(a, 10), pandas=_counts_pandas)

program(
    "histogram-many", n=500_000, inputs=lambda n: {"a": _wide(n, n // 4, 2)}, check="counts",
    nesl="", form="histogram(a)", numpy=_counts_numpy, pandas=_counts_pandas)

program(
    "histogram-distinct", n=500_000, inputs=lambda n: {"a": random(3).permutation(n) * 7919}, check="counts",
    nesl="", form="histogram(a)", numpy=_counts_numpy, pandas=_counts_pandas)

program(
    "remove-duplicates", n=500_000, inputs=lambda n: {"a": _wide(n, n // 4, 4)}, check="set",
    nesl="", form="remove_duplicates(a)", numpy=lambda a: np.unique(a), pandas=_distinct)

program(
    "remove-duplicates-floats", n=500_000, inputs=lambda n: {"a": random(5).integers(0, n // 4, n) / 8.0},
    check=("(#r, sum(r))", lambda r: [len(r), r.sum()]),
    nesl="", form="remove_duplicates(a)", numpy=lambda a: np.unique(a), pandas=_distinct)


def _two_sets(n):
    rng = random(6)
    return {name: rng.permutation(n)[:n // 2] * 10_007 for name in "ab"}


program(
    "union", n=500_000, inputs=_two_sets, check="set",
    nesl="", form="union(a, b)", numpy=lambda a, b: np.union1d(a, b),
    pandas=lambda a, b: _distinct(np.concatenate([a, b])))

program(
    "intersection", n=500_000, inputs=_two_sets, check="set",
    nesl="", form="intersection(a, b)", numpy=lambda a, b: np.intersect1d(a, b),
    pandas=lambda a, b: a[_isin(a, b)])


def _isin(a, b):
    import pandas

    return pandas.Series(a).isin(b).to_numpy()


def _pairs(n, keys, seed):
    rng = random(seed)
    return {"keys": rng.integers(0, keys, n), "values": rng.random(n)}


@loop
def _group_sums(keys, values, k):
    sums, counts = np.zeros(k), np.zeros(k, np.int64)
    for i in range(len(keys)):
        sums[keys[i]] += values[i]
        counts[keys[i]] += 1
    return sums, counts


def _sums_numpy(keys, values):
    return np.arange(1000), np.bincount(keys, values, 1000)


def _sums_pandas(keys, values):
    import pandas

    sums = pandas.Series(values).groupby(keys).sum()
    return sums.index.to_numpy(), sums.to_numpy()


program(
    "int-collect-sums", n=2_000_000, inputs=lambda n: _pairs(n, 1000, 7), check="sums",
    nesl="", form="{(k, sum(v)) : (k, v) in int_collect(zip(keys, values))}",
    numpy=_sums_numpy, pandas=_sums_pandas,
    numba=lambda keys, values: (np.arange(1000), _group_sums(keys, values, 1000)[0]))


def _medians_pandas(keys, values):
    import pandas

    medians = pandas.Series(values).groupby(keys).quantile(0.5, interpolation="higher")
    return medians.index.to_numpy(), medians.to_numpy()


def _medians_numpy(keys, values):
    order = np.argsort(keys, kind="stable")
    groups = np.split(values[order], np.cumsum(np.bincount(keys))[:-1])
    return np.arange(len(groups)), np.array([np.sort(g)[len(g) // 2] for g in groups])


program(
    "group-medians", n=500_000, inputs=lambda n: _pairs(n, n // 100, 8), check="sums",
    nesl="", form="{(k, median(v)) : (k, v) in int_collect(zip(keys, values))}", numpy=_medians_numpy,
    pandas=_medians_pandas)


def _wide_pairs(n):
    return {"keys": _wide(n, n // 10, 9), "values": random(9).random(n)}


def _means_pandas(keys, values):
    import pandas

    means = pandas.Series(values).groupby(keys).mean()
    return means.index.to_numpy(), means.to_numpy()


program(
    "collect-means", n=500_000, inputs=_wide_pairs, check="sums",
    nesl="", form="{(k, sum(v) / float(#v)) : (k, v) in collect(zip(keys, values))}", pandas=_means_pandas,
    numpy=lambda keys, values: _means_numpy(keys, values))


def _means_numpy(keys, values):
    distinct, at = np.unique(keys, return_inverse=True)
    return distinct, np.bincount(at, values) / np.bincount(at)


def _names_pandas(a):
    import pandas

    return pandas.factorize(a)[0]


program(
    "name", n=500_000, inputs=lambda n: {"a": _wide(n, n // 4, 10)},
    # The labels differ between systems; what is equal must have equal labels.
    check=("(#r, #remove_duplicates(r), btoi(all({x == y : x in a; y in a -> r})))",
           lambda r: [len(r), len(np.unique(r)), 1]),
    nesl="", form="name(a)", pandas=_names_pandas, numpy=lambda a: np.unique(a, return_inverse=True)[1])


def _table(n):
    rng = random(11)
    return {"keys": rng.permutation(n)[:n // 4] * 31, "prices": rng.random(n // 4),
            "wanted": rng.integers(0, n, n) * 31}


def _join_pandas(keys, prices, wanted):
    import pandas

    left, right = pandas.DataFrame({"k": wanted}), pandas.DataFrame({"k": keys, "p": prices})
    return left.merge(right, on="k")["p"].sum()


def _join_numpy(keys, prices, wanted):
    order = np.argsort(keys)
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    found = keys[order][at] == wanted
    return prices[order][at][found].sum()


program(
    "join", n=400_000, inputs=_table, check="number",
    nesl="""
% The sum of the prices of what is wanted, where there is a price. %
function total(keys, prices, wanted) : ([int], [float], [int]) -> float =
  let table = create_table(zip(keys, prices))
  in sum({price : (price, known) in search_table(wanted, table) | known});
""",
    form="total(keys, prices, wanted)", pandas=_join_pandas, numpy=_join_numpy)


def _words(n):
    return {"text": text_of(n, 12)}


def _top_ten(text):
    return [count for _, count in Counter(text.split()).most_common(10)]


program(
    "top-words", n=1_000_000, inputs=_words, check="ints",
    nesl="""
% The counts of the ten most frequent words. %
function top(text) : [char] -> [int] =
  let counts = {c : (w, c) in histogram(wordify(text))}
  in take(permute(counts, rank_down(counts)), 10);
""",
    form="top(text)", python=_top_ten)


def _sales(n):
    rng = random(13)
    cities = [f"city{i}" for i in range(500)]
    return {"cities": [cities[i] for i in rng.integers(0, 500, n)], "amounts": rng.random(n)}


def _by_city_pandas(frame):
    return frame.groupby("city", sort=False)["amount"].mean().to_numpy()


def _by_city_frame(cities, amounts):
    import pandas

    return (pandas.DataFrame({"city": cities, "amount": amounts}),)


def _by_city_python(cities, amounts):
    sums, counts = {}, {}
    for city, amount in zip(cities, amounts):
        sums[city] = sums.get(city, 0.0) + amount
        counts[city] = counts.get(city, 0) + 1
    return np.array([sums[c] / counts[c] for c in sums])


program(
    "group-by-text", n=200_000, inputs=_sales,
    check=("(#r, sum(r))", lambda r: [len(r), r.sum()]),
    nesl="", form="{sum(v) / float(#v) : (city, v) in collect(zip(cities, amounts))}",
    pandas=(_by_city_frame, _by_city_pandas), python=_by_city_python)


def _two_columns(n):
    rng = random(14)
    return {"us": rng.integers(0, 300, n), "vs": rng.integers(0, 300, n)}


def _pair_counts(us, vs):
    return np.bincount(us * 300 + vs)


def _pair_counts_pandas(us, vs):
    import pandas

    return pandas.DataFrame({"u": us, "v": vs}).groupby(["u", "v"]).size().to_numpy()


program(
    "histogram-pairs", n=1_000_000, inputs=_two_columns,
    check=("let c = {c : (k, c) in r} in (#c, sum(c), sum({x * x : x in c}))",
           lambda r: [(r > 0).sum(), r.sum(), (r * r).sum()]),
    nesl="", form="histogram(zip(us, vs))", numpy=_pair_counts, pandas=_pair_counts_pandas)


@parallel
def _bins(a):
    # Each of 8 parts counts on its own.
    counts, part = np.zeros((8, 100), np.int64), (len(a) + 7) // 8
    for p in prange(8):
        for x in a[p * part:(p + 1) * part]:
            counts[p, min(int(x * 100.0), 99)] += 1
    return counts.sum(0)


program(
    "float-bins", n=4_000_000, inputs=lambda n: {"a": random(15).random(n)}, check="ints",
    nesl="""
% A histogram with 100 bins of equal width. %
function bins(a) : [float] -> [int] =
  {#members : (k, members) in int_collect({(min(trunc(x * 100.0), 99), x) : x in a})};
""",
    form="bins(a)", numba=_bins, numpy=lambda a: np.bincount(np.minimum((a * 100.0).astype(np.int64), 99)))
