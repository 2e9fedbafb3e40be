"""Where lanes wait for each other, and what they give each other there.

    waiting.py    which instructions those are
    barriers.py   barriers of a block: how many threads they ask for, and who went past them
    ordering.py   what threads know of each other's accesses, where only some of a block meet
    collect.py    barriers that combine what threads bring
    exchange.py   votes, shuffles, matches, reductions of a warp

Read `waiting.py`; the interpreter lets threads go on, as these say.
"""
