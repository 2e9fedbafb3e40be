"""Masks of a wave, instruction by instruction, of programs in assembly text: model.py, and its formats."""
