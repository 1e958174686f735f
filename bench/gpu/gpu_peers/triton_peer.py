"""The elementwise programs and the dot product as kernels in Triton, on PyTorch's tensors."""

import torch
import triton
import triton.language as tl

from gpu_peers import torch_peer
from gpu_peers.torch_peer import free, host, iota, place, real, repeat, starts, timed, wait  # noqa: F401

BLOCK = 1024


def versions():
    return {"triton": triton.__version__} | torch_peer.versions()


@triton.jit
def _triad(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(a + at, mask=inside)
    y = tl.load(b + at, mask=inside)
    tl.store(out + at, x + 3.0 * y, mask=inside)


@triton.jit
def _partial_dots(a, b, out, n, BLOCK: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    blocks = tl.num_programs(0)
    total = tl.zeros((BLOCK,), dtype=tl.float64)
    for start in range(block * BLOCK, n, blocks * BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < n
        total += tl.load(a + at, mask=inside, other=0.0) * tl.load(b + at, mask=inside, other=0.0)
    tl.store(out + block, tl.sum(total, axis=0))


@triton.jit
def _cdf(d):
    k = 1.0 / (1.0 + 0.2316419 * tl.abs(d))
    polynomial = k * (0.319381530 + k * (-0.356563782 + k * (
        1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = polynomial * tl.exp(-0.5 * d * d) / 2.5066282746310002
    return tl.where(d > 0.0, 1.0 - tail, tail)


@triton.jit
def _prices(spots, strikes, years, calls, puts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    spot = tl.load(spots + at, mask=inside, other=1.0)
    strike = tl.load(strikes + at, mask=inside, other=1.0)
    time = tl.load(years + at, mask=inside, other=1.0)
    spread = 0.3 * tl.sqrt(time)
    d1 = (tl.log(spot / strike) + (0.02 + 0.5 * 0.3 * 0.3) * time) / spread
    discounted = strike * tl.exp(-0.02 * time)
    call = spot * _cdf(d1) - discounted * _cdf(d1 - spread)
    tl.store(calls + at, call, mask=inside)
    tl.store(puts + at, call - spot + discounted, mask=inside)


def triad(a, b):
    out, n = torch.empty_like(a), len(a)

    def run():
        _triad[(triton.cdiv(n, BLOCK),)](a, b, out, n, BLOCK=BLOCK)
        return out

    return run


def dot(a, b):
    n = len(a)
    blocks = min(triton.cdiv(n, BLOCK), 2048)
    partial = torch.empty(blocks, dtype=a.dtype, device=a.device)

    def run():
        _partial_dots[(blocks,)](a, b, partial, n, BLOCK=BLOCK)
        return partial.sum()

    return run


def black_scholes(spot, strike, years):
    calls, puts, n = torch.empty_like(spot), torch.empty_like(spot), len(spot)

    def run():
        _prices[(triton.cdiv(n, BLOCK),)](spot, strike, years, calls, puts, n, BLOCK=BLOCK)
        return calls, puts

    return run


TASKS = {"triad": triad, "dot": dot, "black_scholes": black_scholes}
