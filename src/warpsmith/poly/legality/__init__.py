"""Whether statements may run in another order, or on copies of their own. Read `order.py`, `legality.py`."""
