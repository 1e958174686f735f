"""Texts: words, lines, searches, codes, numbers in text."""

import re
from collections import Counter

import numpy as np

from .suite import check_ints, letters, loop, parallel, prange, program, random, text_of


def _text(n):
    return {"text": text_of(n)}


program(
    "word-lengths", n=1_000_000, inputs=_text, check="ints",
    nesl="", form="{#w : w in wordify(text)}", python=lambda text: [len(w) for w in text.split()])


def _count_words(text):
    counts = Counter(text.split())
    return np.arange(1, len(counts) + 1), np.array(sorted(counts.values()))


program(
    "count-words", n=1_000_000, inputs=_text,
    check=("(#r, sum({c : (w, c) in r}), sum({c * c : (w, c) in r}))",
           lambda r: [len(r[1]), r[1].sum(), (r[1] ** 2).sum()]),
    nesl="", form="histogram(wordify(text))", python=_count_words)

program(
    "search", n=4_000_000, inputs=_text, check="ints",
    nesl="", form="search_for_subseqs(\"the\", text)",
    python=lambda text: [m.start() for m in re.finditer("(?=the)", text)],
    numba=(lambda text: (letters(text),), lambda text: _occurrences(text, letters("the"))))


@loop
def _occurrences(text, word):
    out, n = np.empty(len(text), np.int64), 0
    for i in range(len(text) - len(word) + 1):
        same = True
        for j in range(len(word)):
            if text[i + j] != word[j]:
                same = False
                break
        if same:
            out[n] = i
            n += 1
    return out[:n]


def _runs(n):
    rng = random(2)
    lengths = rng.integers(1, 9, n // 4)
    return {"text": "".join(chr(97 + k % 26) * length for k, length in enumerate(lengths))[:n]}


def _run_lengths_numpy(text):
    starts = np.flatnonzero(np.append(True, text[1:] != text[:-1]))
    return text[starts], np.diff(np.append(starts, len(text)))


@loop
def _run_lengths(text):
    chars, counts, n = np.empty(len(text), np.uint8), np.empty(len(text), np.int64), 0
    for i in range(len(text)):
        if i == 0 or text[i] != text[i - 1]:
            chars[n], counts[n] = text[i], 0
            n += 1
        counts[n - 1] += 1
    return chars[:n], counts[:n]


_ENCODED = ("check_ints({char_code(c) * n : (c, n) in r})",
            lambda r: check_ints(r[0].astype(np.int64) * r[1]))

program(
    "run-length-encode", n=2_000_000, inputs=_runs, check=_ENCODED,
    nesl="""
function encode(s) : [char] -> [(char, int)] =
  let starts = {i == 0 or c /= before : c in s; before in previous(s, space); i in [0:#s]}
  in zip({c in s; new in starts | new}, length_from_flags(starts));
""",
    form="encode(text)", numba=(lambda text: (letters(text),), _run_lengths),
    numpy=(lambda text: (letters(text),), _run_lengths_numpy))


def _encoded(n):
    rng = random(3)
    size = n // 5
    return {"codes": rng.integers(97, 123, size), "counts": rng.integers(1, 10, size)}


program(
    "run-length-decode", n=2_000_000, inputs=_encoded, check="text",
    nesl="""
runs = {(code_char(c), n) : c in codes; n in counts};
""",
    form="flatten({dist(c, n) : (c, n) in runs})",
    numpy=(lambda codes, counts: (codes.astype(np.uint8), counts), np.repeat))


@parallel
def _caesar(text):
    out = np.empty_like(text)
    for i in prange(len(text)):
        c = text[i]
        out[i] = (c - 97 + 3) % 26 + 97 if 97 <= c <= 122 else c
    return out


program(
    "caesar", n=4_000_000, inputs=_text, check="text",
    nesl="""
function shift(c) : char -> char =
  if c >= `a and c <= `z then code_char(97 + rem(char_code(c) - 97 + 3, 26)) else c;
""",
    form="{shift(c) : c in text}", numba=(lambda text: (letters(text),), _caesar),
    python=lambda text: text.translate({k: (k - 97 + 3) % 26 + 97 for k in range(97, 123)}))


def _numbers(n):
    return {"text": "\n".join(map(str, random(4).integers(-100_000, 100_000, n // 6)))}


program(
    "parse-ints", n=600_000, inputs=_numbers, check="ints",
    nesl="", form="{i : (i, ok) in {parse_int(w) : w in wordify(text)}}",
    numpy=lambda text: np.fromstring(text, np.int64, sep="\n"),
    python=lambda text: [int(w) for w in text.split()])


def _decimals(n):
    return {"text": "\n".join(f"{x:.3f}" for x in 100.0 * random(5).random(n // 7))}


program(
    "parse-floats", n=600_000, inputs=_decimals, check="floats",
    nesl="", form="{x : (x, ok) in {parse_float(w) : w in wordify(text)}}",
    numpy=lambda text: np.fromstring(text, np.float64, sep="\n"),
    python=lambda text: [float(w) for w in text.split()])

program(
    "format-ints", n=200_000, inputs=lambda n: {"a": random(6).integers(0, 1_000_000, n // 6)}, check="text",
    nesl="", form="flatten({@x ++ \",\" : x in a})", python=lambda a: "".join(f"{x}," for x in a.tolist()))

program(
    "line-lengths", n=4_000_000, inputs=_text, check="ints",
    nesl="", form="{#l : l in linify(text)}", python=lambda text: [len(l) for l in text.splitlines()])


@loop
def _frequencies(text):
    counts = np.zeros(128, np.int64)
    for c in text:
        counts[c] += 1
    return counts[counts > 0]


program(
    "letter-frequencies", n=4_000_000, inputs=_text,
    check=("(#r, sum({c : (k, c) in r}), sum({c * c : (k, c) in r}))",
           lambda r: [len(r), r.sum(), (r * r).sum()]),
    nesl="", form="histogram(text)", numba=(lambda text: (letters(text),), _frequencies),
    numpy=(lambda text: (letters(text),), lambda text: np.bincount(text)[np.bincount(text) > 0]))

program(
    "palindromes", n=1_000_000, inputs=_text, check="number",
    nesl="", form="count({eql(w, reverse(w)) : w in wordify(text)})",
    python=lambda text: sum(w == w[::-1] for w in text.split()))


def _anagrams(text):
    groups = {}
    for w in set(text.split()):
        groups.setdefault("".join(sorted(w)), []).append(w)
    return max(len(g) for g in groups.values())


program(
    "anagrams", n=300_000, inputs=_text, check="number",
    nesl="""
function letters_of(w) : [char] -> [char] = {code_char(k) : k in sort({char_code(c) : c in w})};
function largest(text) : [char] -> int =
  let words = remove_duplicates(wordify(text))
  in max_val({#g : (key, g) in collect({(letters_of(w), w) : w in words})});
""",
    form="largest(text)", python=_anagrams)

program(
    "capitalise", n=1_000_000, inputs=_text, check="text",
    nesl="""
function capitalise(text) : [char] -> [char] =
  {(if before == space or before == newline then uppercase(c) else c)
   : c in text; before in previous(text, space)};
""",
    form="capitalise(text)", python=lambda text: text.title())

program(
    "longest-word", n=1_000_000, inputs=_text, check="number",
    nesl="", form="max_val({#w : w in wordify(text)})", python=lambda text: max(map(len, text.split())))


def _brackets(n):
    rng = random(7)
    return {"text": "".join("()"[k] for k in rng.integers(0, 2, n))}


program(
    "bracket-depth", n=4_000_000, inputs=_brackets, check="number",
    nesl="", form="max_val(plus_scan({(if c == `( then 1 else -1) : c in text}))",
    numpy=(lambda text: (letters(text),), lambda text: (np.cumsum(81 - 2 * text.astype(np.int64)) - (81 - 2 * text.astype(np.int64))).max()),
    numba=(lambda text: (letters(text),), lambda text: _depth(text)))


@loop
def _depth(text):
    depth = best = 0
    for c in text[:-1]:
        depth += 1 if c == 40 else -1
        best = max(best, depth)
    return best
