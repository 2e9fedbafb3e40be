"""The effects of functions whose text is not given: tables of data (`../effects.toml`). Read `effects.py`."""
