"""Tiles with a halo: what a block of threads reads around its own elements. Read `neighbors.py`,
then `tile_text.py`.
"""
