"""The programs in JAX: operations on whole arrays, compiled by XLA for the CPU, unless
NESL_BENCH_JAX_PLATFORM names another of JAX's platforms."""

import os
from functools import partial

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", os.environ.get("NESL_BENCH_JAX_PLATFORM", "cpu"))

import jax.numpy as jnp  # noqa: E402  (must follow the configuration)


def _black_scholes(spot, strike, years):
    real = spot.dtype.type

    def cdf(d):
        k = 1 / (1 + real(0.2316419) * jnp.abs(d))
        polynomial = k * (real(0.319381530) + k * (real(-0.356563782) + k * (
            real(1.781477937) + k * (real(-1.821255978) + k * real(1.330274429)))))
        tail = polynomial * jnp.exp(real(-0.5) * d * d) / jnp.sqrt(real(2 * jnp.pi))
        return jnp.where(d > 0, 1 - tail, tail)

    rate, volatility = real(0.02), real(0.3)
    spread = volatility * jnp.sqrt(years)
    drift = rate + real(0.5) * volatility * volatility
    d1 = (jnp.log(spot / strike) + drift * years) / spread
    discounted = strike * jnp.exp(-rate * years)
    call = spot * cdf(d1) - discounted * cdf(d1 - spread)
    return call, call - spot + discounted


def _rows(starts, total):
    return jnp.repeat(jnp.arange(len(starts) - 1), jnp.diff(starts), total_repeat_length=total)


def _spmv(rows, columns, entries, v):
    return jax.ops.segment_sum(entries * v[columns], rows, len(v), indices_are_sorted=True)


def spmv(starts, columns, entries, v):
    starts, columns, entries, v = map(jnp.asarray, (starts, columns, entries, v))
    return partial(jax.jit(_spmv), _rows(starts, len(columns)), columns, entries, v)


def _kmeans(points, centres):
    k = len(centres)
    nearest = ((centres * centres).sum(1) - 2 * points @ centres.T).argmin(1)
    sums = jax.ops.segment_sum(points, nearest, k)
    sizes = jax.ops.segment_sum(jnp.ones(len(points)), nearest, k)[:, None]
    return jnp.where(sizes > 0, sums / jnp.maximum(sizes, 1), centres)


def _mandelbrot(cx, cy, limit):
    def point(cx, cy):
        def go_on(state):
            x, y, steps = state
            return (steps < limit) & (x * x + y * y <= 4.0)

        def step(state):
            x, y, steps = state
            return x * x - y * y + cx, 2.0 * x * y + cy, steps + 1

        return jax.lax.while_loop(go_on, step, (0.0, 0.0, 0))[2]

    return jax.vmap(lambda y: jax.vmap(lambda x: point(x, y))(cx))(cy)


def _pagerank(rows, columns, outs, steps):
    n = len(outs)

    def step(_, ranks):
        share = ranks / jnp.maximum(outs, 1)
        sums = jax.ops.segment_sum(share[columns], rows, n, indices_are_sorted=True)
        return 0.15 / n + 0.85 * sums

    return jax.lax.fori_loop(0, steps, step, jnp.full(n, 1.0 / n))


def pagerank(starts, columns, outs, steps):
    starts, columns, outs = map(jnp.asarray, (starts, columns, outs))
    return partial(jax.jit(_pagerank), _rows(starts, len(columns)), columns, outs, steps)


def _hotspot(chip, power, steps):
    def step(_, t):
        wide = jnp.pad(t, 1, mode="edge")
        vertical = wide[:-2, 1:-1] + wide[2:, 1:-1] - 2 * t
        horizontal = wide[1:-1, :-2] + wide[1:-1, 2:] - 2 * t
        return t + 0.05 * (power + 0.8 * vertical + 0.8 * horizontal + 0.01 * (80.0 - t))

    return jax.lax.fori_loop(0, steps, step, chip)


def _jit(function):
    """Makes a peer that transfers the inputs beforehand and waits for the result."""
    compiled = jax.jit(function)

    def prepare(**inputs):
        placed = {name: jnp.asarray(value) for name, value in inputs.items()}
        return lambda: jax.block_until_ready(compiled(**placed))

    return prepare


def _waited(prepare):
    def waiting(**inputs):
        run = prepare(**inputs)
        return lambda: jax.block_until_ready(run())

    return waiting


PEERS = {
    "dot": _jit(lambda a, b: a @ b),
    "quicksort": _jit(lambda a: jnp.sort(a)),
    "sort": _jit(lambda a: jnp.sort(a)),
    "black_scholes": _jit(_black_scholes),
    "spmv": _waited(spmv),
    "kmeans": _jit(_kmeans),
    "sum_rows": _jit(lambda matrix: matrix.sum(1)),
    "sum_columns": _jit(lambda matrix: matrix.sum(0)),
    "mandelbrot": _jit(_mandelbrot),
    "pagerank": _waited(pagerank),
    "hotspot": _jit(_hotspot),
}
