"""The kernel IR: SSA in blocks, lane queries, memory spaces, barriers, votes and shuffles. What we measure."""
