"""Ports on a real GPU: are they right, are they clean, how fast are they, and are our counts the hardware's?

    python -m benchmarks.gpu prepare FOLDER          here, without a GPU: programs, their ports, all that a run needs
    python -m benchmarks.gpu count FOLDER            here too: launches simulated, for the GPU's counters
    python3 FOLDER/device all                        where the GPU is: the standard library, gcc, nvcc and nothing else;
                                                     again, until it says that nothing is left
    python -m benchmarks.gpu table FOLDER/results    here: the tables in benchmarks/results

    programs.py   which programs: examples, PolyBench, test cases, example projects, random whole programs
    mappings.py   PolyBench with other axes and blocks
    prepare.py    program -> original and port, as they are and with the referee's captures in them
    device/       what runs beside the GPU: builds, runs, compares, and calls compute-sanitizer and ncu; everything.py:
                  what of it is left to do
    table.py      what came back -> text

Read `prepare.py` and `device/check.py` first.
"""
