"""Exact reasoning about loops: iteration domains, accesses, dependences, legality. The only package that sees isl. Read
`analyze.py`: the door."""
