"""How much memory there is behind a name: what declarations and allocations say, and what callers hand over."""
