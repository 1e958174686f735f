"""Programs as users write them, beside what they would use instead in Python.

`suite.py` says what a program is; each of the other files holds the programs of one theme. A new program
is one call of `program` in one of these files; a new theme is a file, and a name in the list below. A peer
that several themes need, or that the other suite has too, comes from `bench/peers`.
"""

from . import (  # noqa: F401
    borders, carried, chance, conditionals, counted, equal_rows, everyday, exits, geometry, graphs, grouping, growing, handed_on, innermost,
    iterating, keyed_sums, lists, loops, measures, nested_loops, nests, numeric, pivots, products, rearranging, searching, segmented, short_lists,
    small_steps, sorting, sparse, tables, texts)
from .suite import PROGRAMS  # noqa: F401
