"""Where the loops and arrays of a nest go by other rules than a port's own: printed tables, predicted times."""
