"""Which variables outlive their functions, whose address is known elsewhere, and which pointers own their memory."""

from __future__ import annotations

import re

from msgspec.structs import replace

from tests.poly.analysis import program_of
from tests.poly.programs import shown
from warpsmith.poly.effects.global_pointers import GlobalSurvey, global_uses, survey_globals
from warpsmith.poly.effects.outside import Outside, OutsideFunction
from warpsmith.poly.effects.summary import Summary
from warpsmith.tree.types import INT, Symbol

MAIN = "int main(void) { return 0; }\n"
HEAD = """void *malloc(unsigned long); void *calloc(unsigned long, unsigned long); void free(void *);
int posix_memalign(void **, unsigned long, unsigned long); int scanf(const char *restrict, ...);
void unknown(void *); static void *mine(int n) { return malloc(n); }
"""


def survey(text: str) -> GlobalSurvey:
    return survey_globals(program_of(HEAD + text))


OWNERS: list[tuple[str, bool]] = [
    ("p = malloc(8);", True),
    ("p = calloc(2, 8); p = 0;", True),
    ("p = (double *)malloc(8);", True),
    ("p = n ? malloc(8) : 0;", True),
    ("if (p) free(p);", True),
    ("q = p;", True),
    ("p[1] = 2;", True),
    ("p = q;", False),
    ("p = p + 1;", False),
    ("p = mine(8);", False),
    ("unknown(&p);", False),
    ("posix_memalign((void **)&p, 8, 8);", False),
    ("p = malloc(8); p = table;", False),
    ("KEEP(p);", False),
]


def test_pointers_that_own_their_memory() -> None:
    """Each case has a pointer of its own, so that all are asked at once."""
    lines = ["#define KEEP(x) do { x = 0; break; } while (1)", "double *q, table[4];"]
    for number, (uses, _) in enumerate(OWNERS):
        own = re.sub(r"\bp\b", f"p{number}", uses)
        lines.append(f"static double *p{number}; void f{number}(int n) {{ {own} }}")
    stable = shown(survey("\n".join([*lines, MAIN])).stable).split()
    assert {uses: f"p{number}" in stable for number, (uses, _) in enumerate(OWNERS)} == dict(OWNERS)


def test_a_pointer_that_other_files_may_assign_is_not_stable() -> None:
    text = (
        "double *open_one; static double *closed_one; void f(void) { open_one = malloc(8); closed_one = malloc(8); }\n"
    )
    assert shown(survey(text).stable) == "closed_one", "there is no main: the program is more than this"
    assert shown(survey(text + MAIN).stable) == "closed_one open_one"


def test_an_initializer_shares_as_an_assignment_does() -> None:
    text = "double table[4]; double *p = table; double *q = 0;"
    text += "void f(void) { p[0] = q[0]; static double *r = table; r[0] = 1; }"
    assert shown(survey(text + MAIN).stable) == "q"


def test_what_is_named_with_static_storage_persists() -> None:
    text = "int g; static int s; void f(int n) { static int own; int local = n; own = g + s + local; }"
    assert shown(survey(text + MAIN).persistent) == "g own s"


# the variable x of a case: whether its address is taken, and whether it may stand in memory
ADDRESSES: list[tuple[str, bool, bool]] = [
    ("x = 1; t.k[0] = 1;", False, False),
    ("unknown(&x);", True, False),
    ('scanf("%d", &x);', False, False),
    ("keep = &x;", True, True),
    ("keep = t.k;", True, True),
    ("unknown(t.k);", True, False),
    ("int *l = &t.n; *l = 1;", True, True),
]


def test_addresses_that_are_taken() -> None:
    lines = ["struct pair { int n, k[4]; }; static int *keep;"]
    for number, (uses, _, _) in enumerate(ADDRESSES):
        own = re.sub(r"\b([xt])\b", rf"\g<1>{number}", uses)
        lines.append(f"static int x{number}; static struct pair t{number}; void f{number}(void) {{ {own} }}")
    found = survey("\n".join([*lines, MAIN]))
    taken, held = (" ".join(re.findall(r"\d+", shown(s))).split() for s in (found.address_taken, found.held))
    assert [(str(k) in taken, str(k) in held) for k in range(len(ADDRESSES))] == [case[1:] for case in ADDRESSES]


def test_an_open_program_takes_every_global_address() -> None:
    text = "int g; static int s; void f(void) { g = s; }"
    assert shown(survey(text).address_taken) == shown(survey(text).held) == "g"
    assert shown(survey(text + MAIN).address_taken) == ""


def test_what_other_files_do_counts() -> None:
    program = program_of(HEAD + "double *p; int x; void f(void) { p = malloc(8); x = 1; }")
    symbols = {s.name: s for s in survey_globals(program).persistent}
    far, arg = Symbol("far", "far", INT, "global"), Symbol("a", "a", INT, "parameter")
    function = Symbol("other", "other", INT, "function")
    summary = Summary(reads=frozenset({far, arg}))
    outside = Outside({function: OutsideFunction(function, (), summary)}, closed=True)
    closed = survey_globals(replace(program, outside=outside))
    assert shown(closed.stable) == "p" and shown(closed.persistent) == "far p x" and not closed.address_taken
    shared = survey_globals(replace(program, outside=replace(outside, shared=frozenset({symbols["p"]}))))
    assert shown(shared.stable) == ""
    taken = survey_globals(replace(program, outside=replace(outside, taken=frozenset({symbols["x"], symbols["p"]}))))
    assert (shown(taken.stable), shown(taken.address_taken), shown(taken.held)) == ("", "p x", "p x")
    still_open = survey_globals(replace(program, outside=replace(outside, closed=False)))
    assert shown(still_open.stable) == ""


def test_uses_of_a_program() -> None:
    uses = global_uses(program_of(HEAD + "int *p, x, y; void f(void) { p = &x; y = 1; }"))
    assert (shown(uses.seen), shown(uses.shared), shown(uses.taken)) == ("p x y", "p y", "x")
