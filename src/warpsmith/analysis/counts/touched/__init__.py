"""What blocks touch: `spans.py` together, `order.py` one loop behind another. Both read what the walk has kept."""
