"""Data directives of OpenMP and OpenACC, judged: does a device see what the host would? See `judge.py`, `walk.py`."""
