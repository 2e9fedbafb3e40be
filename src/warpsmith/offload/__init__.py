"""From facts to a port: which regions become kernels, how counters become threads, where data live and move. Read
`port.py`."""
