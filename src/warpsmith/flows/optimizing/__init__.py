"""`port --optimize`: steps tried on a port, each scored by the time model. Read `ported.py` first."""
