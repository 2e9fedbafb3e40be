"""The kernel IR: SSA in blocks, lane queries, memory spaces, barriers, votes and shuffles. What we measure.

Read `nodes.py`, then `ops.py`; what rewrites it is in `passes`.
"""
