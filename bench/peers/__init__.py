"""The benchmark programs in Python, one module for each library.

The table `PEERS` of each module maps the name of a program to a function that takes the inputs and
returns a function without parameters, which is the one that is timed. The module `data` generates the
inputs and computes the checksums of results. The module `shared` holds the peers that the users' programs in
`bench/users` have too, or that several of their themes use.
"""
