"""Random loop nests and an oracle that runs them. Neither uses the package's analyses."""
