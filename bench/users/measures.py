"""Statistics: moments, quantiles, correlations, moving averages, regressions, components."""

import numpy as np

from .suite import loop, parallel, prange, program, random


def _floats(n):
    return {"a": random(1).normal(10.0, 3.0, n)}


@parallel
def _moments(a):
    total, squares = 0.0, 0.0
    for i in prange(len(a)):
        total += a[i]
    mean = total / len(a)
    for i in prange(len(a)):
        squares += (a[i] - mean) ** 2
    return np.array([mean, squares / len(a)])


program(
    "mean-variance", n=4_000_000, inputs=_floats, check="floats",
    nesl="""
function moments(a) : [float] -> [float] =
  let n = float(#a); mean = sum(a) / n in [mean, sum({(x - mean) ^ 2 : x in a}) / n];
""",
    form="moments(a)", numba=_moments, numpy=lambda a: np.array([a.mean(), a.var()]))

program(
    "median", n=1_000_000, inputs=_floats, check="number",
    nesl="", form="median(a)", numpy=lambda a: np.partition(a, len(a) // 2)[len(a) // 2])

program(
    "quantiles", n=1_000_000, inputs=_floats, check="floats",
    nesl="", form="let s = sort(a) in {s[(#s - 1) * q / 10] : q in [0:11]}",
    numpy=lambda a: np.quantile(a, np.arange(11) / 10, method="lower"))


def _columns(n):
    return {"a": random(2).random((max(n // 10, 16), 10))}


def _correlation_pandas(frame):
    return frame.corr().to_numpy()


def _frame(a):
    import pandas

    return (pandas.DataFrame(a),)


program(
    "correlation", n=1_000_000, inputs=_columns, check="float rows",
    nesl="""
function standard(c) : [float] -> [float] =
  let n = float(#c); mean = sum(c) / n;
      deviation = sqrt(sum({(x - mean) ^ 2 : x in c}))
  in {(x - mean) / deviation : x in c};
function correlation(a) : [[float]] -> [[float]] =
  let cs = {standard(c) : c in transpose(a)} in {{sum({x * y : x in c; y in d}) : d in cs} : c in cs};
""",
    form="correlation(a)", numpy=lambda a: np.corrcoef(a, rowvar=False), pandas=(_frame, _correlation_pandas))


@loop
def _moving(a, k):
    out = np.empty(len(a) - k + 1)
    total = a[:k].sum()
    out[0] = total / k
    for i in range(k, len(a)):
        total += a[i] - a[i - k]
        out[i - k + 1] = total / k
    return out


def _moving_numpy(a):
    sums = np.cumsum(np.append(0.0, a))
    return (sums[50:] - sums[:-50]) / 50


def _moving_pandas(series):
    return series.rolling(50).mean().to_numpy()[49:]


def _series(a):
    import pandas

    return (pandas.Series(a),)


program(
    "moving-average", n=1_000_000, inputs=_floats, check="floats",
    nesl="""
function moving(a, k) : ([float], int) -> [float] =
  let sums = snoc(plus_scan(a), sum(a))
  in {(high - low) / float(k) : high in drop(sums, k); low in drop(sums, -k)};
""",
    form="moving(a, 50)", numba=lambda a: _moving(a, 50), numpy=_moving_numpy, pandas=(_series, _moving_pandas))

program(
    "moving-window", n=400_000, inputs=_floats, check="floats",
    nesl="", form="{sum(subseq(a, i, i + 50)) / 50.0 : i in [0:#a - 49]}",
    numba=lambda a: _windows(a), numpy=lambda a: np.lib.stride_tricks.sliding_window_view(a, 50).mean(1))


@parallel
def _windows(a):
    out = np.empty(len(a) - 49)
    for i in prange(len(out)):
        total = 0.0
        for j in range(50):
            total += a[i + j]
        out[i] = total / 50.0
    return out


def _pairs(n):
    rng = random(3)
    xs = rng.random(n)
    return {"xs": xs, "ys": 3.0 * xs + 1.0 + 0.1 * rng.normal(size=n)}


@parallel
def _line(xs, ys):
    n = len(xs)
    sx, sy, sxx, sxy = 0.0, 0.0, 0.0, 0.0
    for i in prange(n):
        sx += xs[i]
        sy += ys[i]
        sxx += xs[i] * xs[i]
        sxy += xs[i] * ys[i]
    b = (n * sxy - sx * sy) / (n * sxx - sx * sx)
    return np.array([(sy - b * sx) / n, b])


program(
    "line-fit", n=2_000_000, inputs=_pairs, check="floats",
    nesl="""
function line(xs, ys) : ([float], [float]) -> [float] =
  let n = float(#xs); sx = sum(xs); sy = sum(ys);
      sxx = sum({x * x : x in xs}); sxy = sum({x * y : x in xs; y in ys});
      b = (n * sxy - sx * sy) / (n * sxx - sx * sx)
  in [(sy - b * sx) / n, b];
""",
    form="line(xs, ys)", numba=_line, numpy=lambda xs, ys: np.polyfit(xs, ys, 1)[::-1])


def _components_numpy(a):
    c = a - a.mean(0)
    v = np.ones(a.shape[1])
    for _ in range(10):
        v = c.T @ (c @ v)
        v /= np.linalg.norm(v)
    return v


program(
    "pca", n=500_000, inputs=_columns, check="floats",
    nesl="""
% The first principal component, by power iteration on the centred data. %
function improve(rows, v, steps) : ([[float]], [float], int) -> [float] =
  if steps == 0 then v
  else let scores = {sum({x * y : x in row; y in v}) : row in rows};
           w = {sum({x * s : x in column; s in scores}) : column in transpose(rows)};
           norm = sqrt(sum({x * x : x in w}))
       in improve(rows, {x / norm : x in w}, steps - 1);
function component(a) : [[float]] -> [float] =
  let means = {sum(c) / float(#c) : c in transpose(a)}
  in improve({{x - m : x in row; m in means} : row in a}, dist(1.0, #means), 10);
""",
    form="component(a)", numpy=_components_numpy)

program(
    "standardise", n=1_000_000, inputs=_columns, check="float rows",
    nesl="""
function standard(c) : [float] -> [float] =
  let n = float(#c); mean = sum(c) / n;
      deviation = sqrt(sum({(x - mean) ^ 2 : x in c}) / n)
  in {(x - mean) / deviation : x in c};
""",
    form="transpose({standard(c) : c in transpose(a)})", numpy=lambda a: (a - a.mean(0)) / a.std(0))


@loop
def _smooth(a):
    out = np.empty_like(a)
    s = a[0]
    for i in range(len(a)):
        s = 0.1 * a[i] + 0.9 * s
        out[i] = s
    return out


program(
    "exponential-smoothing", n=1_000_000, inputs=_floats, check="floats",
    nesl="""
function smooth(a, out, s, i) : ([float], [float], float, int) -> [float] =
  if i == #a then out
  else let s = 0.1 * a[i] + 0.9 * s in smooth(a, rep(out, s, i), s, i + 1);
""",
    form="smooth(a, dist(0.0, #a), a[0], 0)", numba=_smooth,
    pandas=(lambda a: _series(a), lambda a: a.ewm(alpha=0.1, adjust=False).mean().to_numpy()))

program(
    "drawdown", n=2_000_000, inputs=_floats, check="number",
    nesl="", form="max_val({top - x : x in a; top in max_scan(a)})",
    numpy=lambda a: (np.maximum.accumulate(a)[:-1] - a[1:]).max(), numba=lambda a: _drawdown(a))


@loop
def _drawdown(a):
    top, worst = a[0], 0.0
    for x in a[1:]:
        worst = max(worst, top - x)
        top = max(top, x)
    return worst


program(
    "outliers", n=2_000_000, inputs=_floats, check="floats",
    nesl="""
function outliers(a) : [float] -> [float] =
  let n = float(#a); mean = sum(a) / n;
      deviation = sqrt(sum({(x - mean) ^ 2 : x in a}) / n)
  in {x in a | abs(x - mean) > 2.0 * deviation};
""",
    form="outliers(a)", numpy=lambda a: a[np.abs(a - a.mean()) > 2.0 * a.std()])


def _two_samples(n):
    rng = random(4)
    return {"a": rng.random(n // 2), "b": rng.random(n // 2)}


program(
    "rank-correlation", n=400_000, inputs=_two_samples, check="number",
    nesl="""
function spearman(a, b) : ([float], [float]) -> float =
  let n = float(#a); d = {float(x - y) : x in rank(a); y in rank(b)}
  in 1.0 - 6.0 * sum({x * x : x in d}) / (n * (n * n - 1.0));
""",
    form="spearman(a, b)", tolerance=1e-5, numpy=lambda a, b: _spearman(a, b))


def _spearman(a, b):
    n = len(a)
    ra, rb = np.empty(n), np.empty(n)
    ra[np.argsort(a)] = np.arange(n)
    rb[np.argsort(b)] = np.arange(n)
    return 1.0 - 6.0 * ((ra - rb) ** 2).sum() / (n * (n * n - 1.0))
