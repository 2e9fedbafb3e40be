"""How the lanes of a warp are kept together: which of them execute the next instructions, where their ways part.

    machine.py    runs a launch warp by warp, as one of the policies says
    policy.py     what a policy decides, and where a lane stands
    stack.py      a stack of masks, joined at immediate post-dominators: which arm goes first
    linear.py     blocks one behind the other, masks in place of branches
    per_lane.py   a program counter for each lane, and fairness

Read `machine.py`. Costs differ; the results of kernels without races do not, unless a policy cannot run them: lanes
that spin for a lane which waits for them never end on a stack.
"""
