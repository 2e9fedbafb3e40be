"""A launch that has been run, once more: what it costs under other policies, and what caches make of it."""
