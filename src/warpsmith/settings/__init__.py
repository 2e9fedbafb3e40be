"""The user's settings: files, environment variables and flags become one frozen record, with where each came from."""
