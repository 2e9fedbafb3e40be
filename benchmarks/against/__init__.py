"""Ports beside what another tool makes of the same programs, in the same counters: `python -m benchmarks.against`."""
