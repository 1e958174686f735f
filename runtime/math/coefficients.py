"""Fits the polynomials of `runtime/src/math` and prints `coefficients.rs`.

    pip install mpmath
    python3 runtime/math/coefficients.py > runtime/src/math/coefficients.rs
    cargo fmt

Each polynomial approximates some g(z) on an interval: least squares at Chebyshev nodes, which is
within a factor of two of the best. The coefficients are rounded to the format one after the other,
from the lowest up, and the rest is fitted again each time, so that what rounding loses the later
ones make good. Errors are weighted by how much they move the final result. The degree grows until
the error is 2^-6 of half a unit in the last place, or more terms no longer help.
"""

from mpmath import mp, mpf, sin, cos, tan, exp, log, atan, asin, atanh, sinh, tanh, sqrt, pi

mp.prec = 400


def rounded(x, bits):
    with mp.workprec(bits):
        return +mpf(x)


def chebyshev(a, b, n):
    return [(a + b) / 2 + (b - a) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]


def evaluate(c, z):
    return mp.polyval(list(reversed(c)), z)


def fit(g, interval, weight, bits):
    """Coefficients, and the largest weighted error."""
    samples = [(z, g(z), weight(z)) for z in chebyshev(*map(mpf, interval), 200)]
    best = None
    for terms in range(2, 20):
        rows = [[w * z**k for k in range(terms)] + [w * y] for z, y, w in samples]
        gram = mp.matrix(terms, terms + 1)
        for i in range(terms):
            for j in range(i, terms + 1):
                gram[i, j] = mp.fdot((row[i], row[j]) for row in rows)
                if j < terms:
                    gram[j, i] = gram[i, j]
        c = []
        for k in range(terms):
            right = [gram[i, terms] - mp.fdot(zip(c, gram[i, :k])) for i in range(k, terms)]
            c.append(rounded(mp.lu_solve(gram[k:terms, k:terms], mp.matrix(right))[0], bits))
        error = max(abs((evaluate(c, z) - y) * w) for z, y, w in samples)
        if best and error > best[1] * 0.7:
            return best
        best = c, error
        if error < mpf(2) ** -(bits + 6):
            return best


def odd(f):
    """g with f(x) = x + x^3 g(x^2), and its weight relative to f."""
    g = lambda z: (f(sqrt(z)) / sqrt(z) - 1) / z
    return g, lambda z: z * sqrt(z) / f(sqrt(z))


QUARTER = mpf("0.79")  # a little over pi / 4: the multiple of pi / 2 is not always the nearest
POLYNOMIALS = [
    ("exp", "`(e^r - 1 - r) / r²`, |r| ≤ ln 2 / 2",
     lambda r: (exp(r) - 1 - r) / r**2, lambda r: r**2 / exp(r), (-0.35, 0.35)),
    ("ln", "`(ln((1+s) / (1-s)) / s - 2) / s²` in s², s ≤ 3 - 2√2",
     lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, lambda z: z / 2, (0, 0.0296)),
    ("sin", "`(sin(r) / r - 1) / r²` in r², r ≤ π/4",
     *odd(sin), (0, QUARTER**2)),
    ("cos", "`(cos(r) - 1 + r²/2) / r⁴` in r², r ≤ π/4",
     lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, lambda z: z**2 / cos(sqrt(z)), (0, QUARTER**2)),
    ("atan", "`(atan(t) / t - 1) / t²` in t², t ≤ tan(π/8)",
     *odd(atan), (0, 0.1718)),
    ("asin", "`(asin(t) / t - 1) / t²` in t², t ≤ ½",
     *odd(asin), (0, 0.25)),
    ("sinh", "`(sinh(x) / x - 1) / x²` in x², x ≤ 1",
     *odd(sinh), (0, 1)),
    ("tanh", "`(tanh(x) / x - 1) / x²` in x², x ≤ 0.55",
     *odd(tanh), (0, 0.3026)),
]


def parts(x, bits, count):
    """x as a sum of `count` floats, each the rest rounded."""
    out = []
    for _ in range(count):
        out.append(rounded(x, bits))
        x -= out[-1]
    return out


def literal(x):
    text = repr(float(x))
    return text if "e" in text or "." in text else text + ".0"


def table(name, bits, exponent_bits):
    rows, notes = [], []
    for field, _, g, weight, interval in POLYNOMIALS:
        c, error = fit(g, interval, weight, bits)
        notes.append(f"{field} 2^{float(log(error, 2)):.1f}")
        rows.append((field, "&[" + ", ".join(map(literal, c)) + "]"))
    ln2, half_pi = log(mpf(2)), pi / 2
    top = rounded(ln2, bits - exponent_bits)
    for field, value in [
        ("log2_e", [rounded(1 / ln2, bits)]),
        ("ln2", parts(ln2, bits, 2)),
        ("ln2_short", [top, rounded(ln2 - top, bits)]),
        ("two_over_pi", [rounded(1 / half_pi, bits)]),
        ("half_pi", parts(half_pi, bits, 3)),
        ("root_half", [rounded(1 / sqrt(mpf(2)), bits)]),
    ]:
        one = literal(value[0])
        rows.append((field, one if len(value) == 1 else f"[{', '.join(map(literal, value))}]"))
    # 2/pi in digits to the base 2^chunk, behind two zeros.
    chunk = {53: 48, 24: 24}[bits]
    count = {53: 27, 24: 11}[bits]
    x, words = 2 / pi, [mpf(0), mpf(0)]
    mp.prec = 2000
    x = 2 / pi
    while len(words) < count:
        x *= mpf(2) ** chunk
        words.append(mp.floor(x))
        x -= words[-1]
    mp.prec = 400
    rows.append(("two_over_pi_digits", "&[" + ", ".join(map(literal, words)) + "]"))
    notes = ", ".join(notes)
    print(f"/// Largest errors of the polynomials, relative to the result: {notes}.")
    print(f"pub(super) const {name}: Coefficients = Coefficients {{")
    for field, value in rows:
        print(f"    {field}: {value},")
    print("};\n")


print("""//! Polynomials and constants, made by `runtime/math/coefficients.py`: do not edit.
#![expect(clippy::approx_constant, reason = "the point is which float, not which number")]

/// Polynomials and constants in one format. Polynomials begin with the lowest coefficient.
pub(super) struct Coefficients {""")
for field, doc, *_ in POLYNOMIALS:
    print(f"    /// {doc}.\n    pub(super) {field}: &'static [f64],")
print("""    /// `1 / ln 2`.
    pub(super) log2_e: f64,
    /// `ln 2` as a sum of two floats.
    pub(super) ln2: [f64; 2],
    /// The same; the first so short that its product with any exponent is exact.
    pub(super) ln2_short: [f64; 2],
    /// `2 / π`.
    pub(super) two_over_pi: f64,
    /// `π / 2` as a sum of three floats.
    pub(super) half_pi: [f64; 3],
    /// `√½`.
    pub(super) root_half: f64,
    /// The digits of `2 / π` to the base 2⁴⁸ (64 bits) or 2²⁴ (32 bits), behind two zeros.
    pub(super) two_over_pi_digits: &'static [f64],
}
""")
table("BINARY64", 53, 11)
table("BINARY32", 24, 8)
