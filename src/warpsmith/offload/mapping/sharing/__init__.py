"""Loops of a thread that several threads go through together: which may be, which are, and the text. Read
`judged_loops.py`, then `shared_loops.py` and `shared_text.py`.
"""
