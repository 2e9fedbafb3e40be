"""Programs of AMD IL as bundles of R600, R700, Evergreen and Cayman GPUs, counted as Stream KernelAnalyzer did.

    analyze.py    the door: a program and a generation go in, bundles and their number come out
    operations.py what is computed, as a graph of operations on single numbers
    expand.py     IL becomes that graph, component by component, on arithmetic.py, division.py and views.py
    schedule.py   operations get bundles and slots; bounds.py: fewer bundles than that there cannot be
    allocate.py   values get registers
    segments.py   programs with control flow, run by run
    assembly.py   bundles as text, and read back from it (reading.py)

Read `operations.py`, then `analyze.py`.
"""
