"""The steps that map loops to threads or place data, one a file."""
