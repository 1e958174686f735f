"""What a person would write instead of NESL, in Python: a module for each way.

Each module has a table `PEERS`: name of a program -> function of the inputs that gives a function
without parameters, which is what is timed. `data` makes inputs and compares results.
"""
