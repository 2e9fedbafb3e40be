"""The syntax tree of C-like programs: what warpsmith reads, rewrites and prints. Read `nodes.py`."""
