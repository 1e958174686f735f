"""Writes true values of the mathematical functions, for the tests of `runtime/src/math`.

    pip install gmpy2
    python3 runtime/math/reference.py 1000 > runtime/math/reference.bin

The argument is the number of points for each function. For each function, in the order of
`Function::ALL`: the number of points as a u32, then for each point x and f(x) as f64 and the rest
f(x) - f64(f(x)) in 1/256 of a unit in the last place, as an i8. All little-endian.

The points are random in the places where something can go wrong, and the hard cases of old: near
multiples of pi/2 at every exponent, thresholds, neighbours of special values.
"""

import math
import random
import struct
import sys

import gmpy2
from gmpy2 import mpfr

gmpy2.get_context().precision = 200
random.seed(1995)

TINY = 5e-324
PI = gmpy2.const_pi(2400)


def any_float(low=-1074, high=1023):
    return math.ldexp(random.uniform(1, 2), random.randint(low, high))


def near(x, steps=4):
    for _ in range(random.randint(0, steps)):
        x = math.nextafter(x, random.choice([-math.inf, math.inf]))
    return x


def signed(x):
    return random.choice([-x, x])


def hard_angles():
    """For each exponent the float that is nearest to a multiple of pi/2: by continued fractions."""
    found = []
    with gmpy2.context(precision=2400):
        for exponent in range(-52, 971):
            x = 2 * gmpy2.exp2(exponent) / PI
            x -= gmpy2.floor(x)
            last, q = 0, 1
            while True:
                x = 1 / x
                digit = int(gmpy2.floor(x))
                x -= digit
                if digit * q + last >= 2**53:
                    break
                last, q = q, digit * q + last
            found += [math.ldexp(q << up, exponent) for up in range(54) if 2**52 <= q << up < 2**53]
    return found


HARD = hard_angles()


def angle():
    return signed(random.choice([
        lambda: random.uniform(0, 8),
        lambda: random.uniform(0, 1000),
        lambda: near(float(random.randint(1, 10**random.randint(1, 12)) * PI / 2)),
        lambda: near(float(random.randint(1, 100) * PI / 4)),
        lambda: random.choice(HARD),
        lambda: near(2.0**random.randint(26, 30)),
        lambda: any_float(28, 1023),
        lambda: any_float(-40, 10),
        any_float,
    ])())


def exponent(threshold, least):
    return lambda: random.choice([
        lambda: random.uniform(-1, 1),
        lambda: random.uniform(-30, 30),
        lambda: random.uniform(least, threshold),
        lambda: near(threshold, 20) if random.random() < 0.5 else random.uniform(least, least + 45),
        lambda: near(random.randint(-40, 40) * math.log(2) / 2),
        lambda: signed(any_float(-60, 9)),
        lambda: signed(any_float()),
    ])()


def positive():
    return random.choice([
        any_float,
        lambda: any_float(-2, 2),
        lambda: near(1.0, 50),
        lambda: 1 + signed(any_float(-52, -2)),
        lambda: near(math.sqrt(0.5) * 2.0**random.randint(-3, 3)),
        lambda: TINY * random.randint(1, 2**random.randint(1, 53)),
    ])()


def sine():
    return signed(random.choice([
        lambda: random.uniform(0, 1),
        lambda: random.uniform(0.4, 0.6),
        lambda: near(0.5),
        lambda: 1 - any_float(-53, -2),
        lambda: any_float(-40, -1),
        lambda: any_float(-1074, -1),
    ])())


def tangent():
    return signed(random.choice([
        lambda: random.uniform(0, 3),
        lambda: near(random.choice([0.4140625, 2.4140625, 1.0]), 20),
        lambda: any_float(-10, 10),
        lambda: any_float(-40, 70),
        any_float,
    ])())


def hyperbolic(edges):
    return lambda: signed(random.choice([
        lambda: random.uniform(0, 1.5),
        lambda: random.uniform(0, 40),
        lambda: random.uniform(0, 711),
        lambda: near(random.choice(edges), 20),
        lambda: any_float(-40, 6),
        any_float,
    ])())


FUNCTIONS = [
    (gmpy2.exp, exponent(709.782712893384, -745.1332191019412)),
    (gmpy2.log, positive),
    (gmpy2.sin, angle),
    (gmpy2.cos, angle),
    (gmpy2.tan, angle),
    (gmpy2.asin, sine),
    (gmpy2.acos, sine),
    (gmpy2.atan, tangent),
    (gmpy2.sinh, hyperbolic([1.0, 710.4758600739439, 0.34657359027997264])),
    (gmpy2.cosh, hyperbolic([1.0, 710.4758600739439, 0.34657359027997264])),
    (gmpy2.tanh, hyperbolic([0.546875, 19.06154746539849, 22.0])),
]

count = int(sys.argv[1])
for function, point in FUNCTIONS:
    sys.stdout.buffer.write(struct.pack("<I", count))
    for _ in range(count):
        x = point()
        true = function(mpfr(x))
        y = float(true)
        rest = 0 if math.isinf(y) else round((true - mpfr(y)) / mpfr(math.ulp(y)) * 256)
        sys.stdout.buffer.write(struct.pack("<ddb", x, y, max(-128, min(127, rest))))
