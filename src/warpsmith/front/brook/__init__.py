"""Brook+ as text: kernels go in, trees of device code come out; host code becomes trees that are run.

    read.py            the door: text becomes kernels, or all that is wrong in it, each with its place
    nodes.py           what a text defines
    tokens.py          words, with macros in place; cursor.py: a place among them, and what names mean there
    definitions.py     heads of functions; statements.py, expressions.py, operators.py: their bodies
    functions.py       what kernels call; prelude.br: what is written in Brook+ itself
    kernels.py         one thread an element of a domain, around a kernel's text
    hosts.py           functions of host code, which are run (flows/streams)
    kinds.py           types

Read `nodes.py`, then `kernels.py`, then `read.py`.
"""
