"""Text of GCN becomes a program: words are split by simt/assembly.py.

    operands.py     registers, numbers, symbols, modifiers      directives.py   what describes a kernel, and data
    forms.py        whether operands are what is taken          read.py         the door

Read `read.py`.
"""
