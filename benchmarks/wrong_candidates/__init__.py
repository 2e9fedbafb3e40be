"""Wrong candidates for the referee: correct ports of public programs, each with one small mistake put in.

    python -m benchmarks.wrong_candidates FOLDER --results FILE.jsonl [--count N] [--seed N] [-j N]

FOLDER holds programs.toml (model.py says what is in it) and the programs, which are never part of this repository.

    programs.py   what is listed there
    ports.py      program -> port, by `warpsmith port --verify off`, kept beside the programs
    changes.py    port -> its mutants, in classes: kernel, host, copies, extents, launch, order, types
    judge.py      original, port or mutant -> what its runs leave in memory, files and output: built with g++ and a CUDA
                  of its own (shim/), which shares nothing with the emulation of the referee
    referee.py    what `warpsmith verify` says of a mutant
    campaign.py   judge and referee asked about each mutant, one line of JSON each; table.py: what came of it

Read `campaign.py` first.
"""
