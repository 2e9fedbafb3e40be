"""The user interface of warpsmith: its command line."""
