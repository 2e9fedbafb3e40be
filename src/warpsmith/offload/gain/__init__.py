"""What a port is worth before it runs: counts, work, seconds, and which fragments go. Read `choose.py` first."""
