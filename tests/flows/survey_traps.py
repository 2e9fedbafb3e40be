"""Random programs of several files, in which what one file's loop may do is decided in another.

    use.c    for (i = 0; i < count; i++) out[i] = part(in[i]);
    far.c    part keeps a sum, or moves `count`, or hands `in` to somebody, or is what it seems

Every choice is there in a calm and in a wild form: a survey that is told nothing of far.c says less than it may,
and one that believes the calm form says more than is true.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

__all__ = ["trapped_program"]

_SHARED = """
struct grid { int n; double *now, *next; };
extern int count;
extern double *in, *out;
extern struct grid grid;
double part(double x);
double fabs(double x);
void note(int at);
void keep(double *p);
void aim(struct grid *g);
"""

_PARTS = (
    "double part(double x) { return 2 * x; }\n",
    "static double sum; double part(double x) { return sum += x; }\n",
    "double part(double x) { count--; return x; }\n",
    "double part(double x) { return x > 0 ? fabs(x) : out[0]; }\n",
    "static double *kept; void keep_part(double *p) { kept = p; }\n"
    "double part(double x) { if (kept) *kept = x; return x; }\n",
    "static double helper(double x) { return x + 1; }\ndouble part(double x) { return helper(x); }\n",
)
_NOTES = (
    "void note(int at) { (void)at; }\n",
    "void note(int at) { if (at > 3) count = at; }\n",
    "static int seen; void note(int at) { seen += at; }\n",
    "void note(int at) { grid.n = at; }\n",
)
_KEEPS = (
    "void keep(double *p) { (void)p; }\n",
    "void keep(double *p) { out = p; }\n",
    "static double *mine; void keep(double *p) { mine = p; }\nvoid spread(double x) { if (mine) mine[3] = x; }\n",
)
_AIMS = (
    "void aim(struct grid *g) { g->now[0] = 0; }\n",
    "void aim(struct grid *g) { g->next = g->now; }\n",
    "void aim(struct grid *g) { g->n = 3; }\n",
)
_LIBRARY = (
    "",
    "static double last; double fabs(double x) { double was = last; last = x; return was; }\n",
    "double fabs(double x) { return x < 0 ? -x : x; }\n",
)
_MAKES = (
    "in = malloc(800); out = malloc(800);",
    "in = malloc(800); out = in;",
    "out = malloc(800); in = out + 1;",
)
_REACHES = ("", "int *moves = &count;\nvoid moved(void) { *moves = 2; }\n", "double **door = &out;\n")
# a helper of this name is in every file: each file's is its own
_HELPERS = (
    "static double helper(double x) { return x; }\n",
    "static double all; static double helper(double x) { return all += x; }\n",
)
_LOOPS = (
    "for (int i = 0; i < count; i++) out[i] = in[i];",
    "for (int i = 0; i < count; i++) out[i] = in[i + 1];",
    "for (int i = 0; i < 90; i++) out[i] = part(i);",
    "for (int i = 0; i < count; i++) out[i] = fabs(in[i]);",
    "for (int i = 0; i < count; i++) { out[i] = i; note(i); }",
    "for (int i = 0; i < 90; i++) own[i] = helper(i);",
    "for (int i = 0; i < 90; i++) own[i] = own[i] + part(own[i]);",
    "for (int i = 0; i < g->n; i++) g->next[i] = g->now[i];",
    "for (int i = 0; i < g->n; i++) g->next[i] = g->now[i + 1];",
    "for (int i = 0; i < grid.n; i++) grid.next[i] = 2 * i;",
    "for (int i = 0; i < g->n; i++) { g->next[i] = i; note(i); }",
    "for (int i = 0; i < 90; i++) { own[i] = i; aim(&grid); }",
    "for (int i = 0; i < 90; i++) { keep(in); out[i] = in[i]; }",
)


def trapped_program(seed: int, *, programs: int = 1) -> Mapping[str, str]:
    """Return the files of `programs` programs: main0.c and far0.c are those of the first alone, use.c is in all."""
    chance = random.Random(seed)
    files = {"shared.h": _SHARED, "use.c": _use(chance)}
    for number in range(programs):
        files[f"far{number}.c"] = _far(chance)
        files[f"main{number}.c"] = _main(chance)
    return files


def _use(chance: random.Random) -> str:
    loops = "\n".join(f"    {loop}" for loop in chance.sample(_LOOPS, 6))
    body = f"void use(struct grid *g)\n{{\n    static double own[90];\n{loops}\n    out[0] += own[7];\n}}\n"
    return f'#include "shared.h"\n{chance.choice(_HELPERS)}{body}'


def _far(chance: random.Random) -> str:
    parts = [*map(chance.choice, (_PARTS, _NOTES, _KEEPS, _AIMS, _LIBRARY, _REACHES))]
    return '#include "shared.h"\n' + "".join(parts)


def _main(chance: random.Random) -> str:
    head = '#include <stdlib.h>\n#include "shared.h"\nint count = 90;\ndouble *in, *out;\nstruct grid grid;\n'
    kept = chance.choice(("", "    keep(in);\n", "    aim(&grid);\n"))
    grid = chance.choice(("grid.next = malloc(800);", "grid.next = grid.now;"))
    made = f"    {chance.choice(_MAKES)}\n    grid.n = 90; grid.now = malloc(800); {grid}\n"
    helper = chance.choice(_HELPERS)
    loop = f"    for (int i = 0; i < 90; i++) out[i] = helper(i);\n    {chance.choice(_LOOPS[:5])}\n"
    body = f"{made}{kept}    use(&grid);\n{loop}    return 0;\n"
    return f"{head}void use(struct grid *);\n{helper}int main(void)\n{{\n{body}}}\n"
