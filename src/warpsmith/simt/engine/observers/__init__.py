"""Observers of a compiled kernel, counters and checks, each compiled in or left out: cost where it is on only.

`lost.py`      lane slots that branches take away, by a log; `charges.py`    by levels, where the kernel is made of them
`requests.py`  sectors, bank conflicts of each request;      `indexed_requests.py`   of accesses by indices
`races.py`     accesses that nothing orders; between blocks of several threads: `merged.py`
`checks.py`    which of them are compiled in
"""
