"""Machines that run all launches of a version: each reads the text that is shown, and knows nothing of the others.

work.py     what a machine gets; `by_calls`: the launches one after the other
kernel_ir.py  the kernel IR itself: lane by lane, or as machine code
ptx.py gcn.py avx512.py mask.py il.py brook.py    the text of a target
call_function.py    a function of C, in a process of its own: what the others are compared with
every.py      all of them in the order of the report

Read `work.py`, then `ptx.py`.
"""
