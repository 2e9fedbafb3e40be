"""The ways to map the loops of a nest to threads, with what each model says of them: `model.py`, then text and JSON."""
