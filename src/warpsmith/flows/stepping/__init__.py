"""A stepping debugger of simulated kernels: warps in lock step, one after the other, and a person who asks.

`step.py`      a kernel is run, from its start again where somebody goes back: read this first
`session.py`   when it stops, and what is answered
`turns.py`     lanes go on together, and it is known where they parted
`values.py`    what variables and arrays hold, under the user's names; `conditions.py`   expressions of them
"""
