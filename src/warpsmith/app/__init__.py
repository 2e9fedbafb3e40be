"""People's side."""
