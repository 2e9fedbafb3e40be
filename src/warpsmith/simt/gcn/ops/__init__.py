"""What operations of GCN do: one table a file, from names to operands and functions; table.py puts them together.

op.py         an operation: the forms of its operands, and the function that runs it
scalar.py     on scalar registers          branches.py   where a wave goes on; forks and joins
integers.py   vectors of integers          floats.py     of floats, by exact.py; conversions.py
compare.py    masks of comparisons         lanes.py      between lanes; selected.py   parts of registers, DPP
memory.py     loads, stores, atomics       waits.py      what changes nothing here

Read `op.py`, then `scalar.py`.
"""
