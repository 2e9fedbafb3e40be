"""What the user has set: files, environment variables and flags become one frozen record, with where each came from."""
