"""The programs in PyTorch; those that consist of elementwise operations are compiled by `torch.compile`."""

import torch

if not torch.cuda.is_available():
    raise RuntimeError("PyTorch sees no GPU")

DEVICE = torch.device("cuda")


def versions():
    return {"torch": torch.__version__, "cuda": torch.version.cuda}


def iota(n):
    return torch.arange(n, dtype=torch.int64, device=DEVICE)


def real(x, bits):
    return x.to(torch.float32 if bits == 32 else torch.float64)


def starts(lengths):
    zero = torch.zeros(1, dtype=torch.int64, device=DEVICE)
    return torch.cat([zero, torch.cumsum(lengths, 0)])


def repeat(x, times):
    return torch.repeat_interleave(x, times)


def place(array):
    return torch.from_numpy(array).to(DEVICE)


def host(result):
    if isinstance(result, tuple):
        return tuple(host(part) for part in result)
    return result.cpu().numpy() if isinstance(result, torch.Tensor) else result


def wait():
    torch.cuda.synchronize()


def free():
    torch.cuda.empty_cache()


def timed(run):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    result = run()
    end.record()
    end.synchronize()
    return result, 1e-3 * begin.elapsed_time(end)


def _compiled(function):
    """Makes a task of a function of tensors, compiled at its first run."""

    def prepare(**inputs):
        compiled = torch.compile(function)
        return lambda: compiled(**inputs)

    return prepare


def _black_scholes(spot, strike, years):
    def cdf(d):
        k = 1 / (1 + 0.2316419 * torch.abs(d))
        polynomial = k * (0.319381530 + k * (-0.356563782 + k * (
            1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = polynomial * torch.exp(-0.5 * d * d) / (2 * torch.pi) ** 0.5
        return torch.where(d > 0, 1 - tail, tail)

    rate, volatility = 0.02, 0.3
    spread = volatility * torch.sqrt(years)
    d1 = (torch.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    discounted = strike * torch.exp(-rate * years)
    call = spot * cdf(d1) - discounted * cdf(d1 - spread)
    return call, call - spot + discounted


def segments(starts, entries):
    lengths = starts[1:] - starts[:-1]
    return lambda: torch.segment_reduce(entries, "sum", lengths=lengths, axis=0, unsafe=True)


def _csr(starts, columns, entries, n):
    return torch.sparse_csr_tensor(starts, columns, entries, size=(n, n))


def spmv(starts, columns, entries, v):
    matrix = _csr(starts, columns, entries, len(v))
    return lambda: torch.mv(matrix, v)


def pagerank(starts, columns, outs, steps):
    n = len(outs)
    ones = torch.ones(len(columns), dtype=torch.float64, device=DEVICE)
    matrix = _csr(starts, columns, ones, n)

    def run():
        ranks = torch.full((n,), 1.0 / n, dtype=torch.float64, device=DEVICE)
        for _ in range(steps):
            ranks = 0.15 / n + 0.85 * torch.mv(matrix, ranks / outs.clamp(min=1))
        return ranks

    return run


def kmeans(points, centres):
    k = len(centres)

    def step(points, centres):
        nearest = ((centres * centres).sum(1) - 2 * points @ centres.T).argmin(1)
        sums = torch.zeros_like(centres).index_add_(0, nearest, points)
        sizes = torch.bincount(nearest, minlength=k)[:, None]
        return torch.where(sizes > 0, sums / sizes.clamp(min=1), centres)

    return lambda: step(points, centres)


def hotspot(chip, power, steps):
    def step(t):
        wide = torch.nn.functional.pad(t[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
        vertical = wide[:-2, 1:-1] + wide[2:, 1:-1] - 2 * t
        horizontal = wide[1:-1, :-2] + wide[1:-1, 2:] - 2 * t
        return t + 0.05 * (power + 0.8 * vertical + 0.8 * horizontal + 0.01 * (80.0 - t))

    compiled = torch.compile(step)

    def run():
        t = chip
        for _ in range(steps):
            t = compiled(t)
        return t

    return run


TASKS = {
    "dot": lambda a, b: lambda: torch.dot(a, b),
    "triad": _compiled(lambda a, b: a + 3.0 * b),
    "reduce": lambda a: lambda: a.sum(),
    "scan_ints": lambda a: lambda: torch.cumsum(a, 0),
    "scan_floats": lambda a: lambda: torch.cumsum(a, 0),
    "sort": lambda a: lambda: torch.sort(a)[0],
    "quicksort": lambda a: lambda: torch.sort(a)[0],
    "segments": segments,
    "black_scholes": _compiled(_black_scholes),
    "spmv": spmv,
    "kmeans": kmeans,
    "sum_rows": lambda matrix: lambda: matrix.sum(1),
    "sum_columns": lambda matrix: lambda: matrix.sum(0),
    "pagerank": pagerank,
    "hotspot": hotspot,
}
