"""The order in which a walk meets statements: calls, jumps out of loops, branches, swapped pointers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.poly.mapped.programs import B_FROM_A, FOR, HEAD, SUM_B, TAIL
from tests.poly.mapped.test_judge import verdict
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.poly.mapped import walk
from warpsmith.poly.mapped.objects import MappedObject
from warpsmith.poly.mapped.ways import Way, meet
from warpsmith.poly.mapped.words import Words

CALLEE = """
static void twice(int m, double *x) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < m; i++) x[i] *= 2;
}
static void fresh(int m, double *x) {
#pragma omp target update from(x[0:m])
}
static void part(int m, double *x) { twice(m / 2, x); if (!m) fresh(m, x); }
"""
DATA = "#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{\n"
SWAPPED = (
    "double *p = a, *q = b;\n#pragma omp target data map(tofrom: a[0:n]) map(to: b[0:n])\n{{\n"
    f"for (int k = 0; k < {{}}; k++) {{{{\n{FOR}\nfor (int i = 0; i < n; i++) q[i] = p[i] + 1;\n"
    "double *t = p; p = q; q = t;\n}}\n"
)
BESIDE_CALLS = (
    ("double s2 = x[0];", "s += c[0] + ran(n, b, a);", "s += ran(n, b, a);"),
    ("", "s += ran(n, b, a) + *c;", "s += ran(n, b, a);"),
    ("", "double q = c[1] * ran(n, b, a); s += q;", "double q = ran(n, b, a); s += q;"),
    ("", "if (ran(n, b, a) > 1) s += 1;", "s += ran(n, b, a);"),
    ("", "s += sum(n, c) + ran(n, b, a);", "s += sum(n, a) + ran(n, b, a);"),
)
# what a call makes stale
BESIDE_ITSELF = (
    ("s += ran(n, c, a) * c[7];", "s += ran(n, b, a) * c[7];"),
    ("s += ran(n, c, a) + sum(n, c);", "s += ran(n, b, a) + sum(n, c);"),
    ("c[0] = ran(n, c, a);\ns += ran(n, b, c);", "s = ran(n, c, a);\ns += ran(n, b, c);"),
)
RAN = """
static double ran(int n, double *x, double *y) {
@
#pragma omp target teams distribute parallel for map(tofrom: x[0:n], y[0:n])
    for (int i = 0; i < n; i++) x[i] = y[i];
    return 2;
}
static double sum(int n, double *x) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
"""
CLEAR = """
static void clear(int h, int k, double *b) {
#pragma omp target update from(b[0:1])
    for (int i = 0; i < (h < k ? h : k); i++) b[i] = 0;
}
"""
LESSER = "for (int i = 0; i < (h < k ? h : k); i++)"
BODIES = {
    "a function works on what its caller mapped": (f"{DATA}part(n, b);\n}}\n{SUM_B}", True),
    "a function works on what nobody mapped": (f"part(n, b);\n{SUM_B}", False),
    "a function changes what is read in between": (f"{DATA}part(n, b);\n{SUM_B}\n}}", False),
    "a counter's range is not known": (f"{DATA}for (int k = 2; k < 4; k++) part(k, b);\n}}\n{SUM_B}", False),
    "a function updates less than it changes": (f"{DATA}part(n, b);\nfresh(h - 1, b);\n{SUM_B}\n}}", False),
    "a function updates what it changes": (f"{DATA}part(n, b);\nfresh(n, b);\n{SUM_B}\n}}", True),
    "what is read behind break is read": (
        f"{DATA}for (int k = 0; k < n; k++) {{\n{FOR}\n{B_FROM_A}\nif (k > 2) break;\n}}\n{SUM_B}\n}}", False,
    ),
    "both ways copy": (
        f"{DATA}{FOR}\n{B_FROM_A}\nif (n > 3) {{\n#pragma omp target update from(b[0:n])\n}} else {{\n"
        f"#pragma omp target update from(b[0:n])\n}}\n{SUM_B}\n}}", True,
    ),
    "swapped an odd number of times": (
        "double *p = a, *q = b;\n#pragma omp target data map(tofrom: a[0:n]) map(to: b[0:n])\n{\n"
        f"for (int k = 0; k < 3; k++) {{\n{FOR}\nfor (int i = 0; i < n; i++) q[i] = p[i] + 1;\n"
        f"double *t = p; p = q; q = t;\n}}\n}}\n{SUM_B}", False,
    ),
    "left before the update": (
        f"{DATA}for (int k = 0; k < n; k++) {{\n{FOR}\n{B_FROM_A}\nif (k > h) break;\n"
        f"#pragma omp target update from(b[0:n])\n}}\n{SUM_B}\n}}", False,
    ),
    "the next iteration before the update": (
        f"{DATA}for (int k = 0; k < n; k++) {{\n{SUM_B}\n{FOR}\n{B_FROM_A}\nif (k < h) continue;\n"
        f"#pragma omp target update from(b[0:n])\n}}\n}}\n{SUM_B}", False,
    ),
    "left behind the update": (
        f"{DATA}for (int k = 0; k < n; k++) {{\n{FOR}\n{B_FROM_A}\n#pragma omp target update from(b[0:n])\n"
        f"if (k > h) break;\n}}\n{SUM_B}\n}}", True,
    ),
    "a case falls into the next": (
        f"{DATA}switch (h) {{\ncase 8:\n{FOR}\n{B_FROM_A}\ncase 9:\n{SUM_B}\nbreak;\n}}\n}}", False,
    ),
    "a case does not fall": (
        f"{DATA}switch (h) {{\ncase 8:\n{FOR}\n{B_FROM_A}\nbreak;\ncase 9:\n{SUM_B}\n}}\n}}", True,
    ),
    "no case is chosen": (
        f"{DATA}{FOR}\n{B_FROM_A}\nswitch (h) {{\ncase 8:\n#pragma omp target update from(b[0:n])\n}}\n{SUM_B}\n}}",
        False,
    ),
    "the device sets what ends the loop": (
        "#pragma omp target data map(tofrom: s)\n{\nwhile (s < 9) {\n#pragma omp target\n"
        "for (int i = 0; i < n; i++) s += 1;\n}\n}", False,
    ),
    "swapped an unknown number of times": (f"{SWAPPED.format('n')}}}\nfor (int i = 0; i < n; i++) s += p[i];", False),
    "swapped an even number of times": (f"{SWAPPED.format('4')}}}\nfor (int i = 0; i < n; i++) s += p[i];", True),
    "swapped three times": (f"{SWAPPED.format('3')}}}\nfor (int i = 0; i < n; i++) s += p[i];", False),
    "the lesser of two, one of which changes": (
        f"int k = 12 * argc;\n{DATA}{FOR}\n{LESSER} b[i] = a[i];\nk = 2;\n{LESSER} b[i] = 0;\n{SUM_B}\n}}", False,
    ),
    "the lesser of the same two": (
        f"int k = 12 * argc;\n{DATA}{FOR}\n{LESSER} b[i] = a[i];\n{LESSER} b[i] = 0;\n{SUM_B}\n}}", True,
    ),
    "the lesser of two, which the device changes": (
        f"int k = 12 * argc;\n{DATA}{FOR}\n{LESSER} b[i] = a[i];\n#pragma omp target map(from: k)\nk = 2;\n"
        f"{LESSER} b[i] = 0;\n{SUM_B}\n}}", False,
    ),
    "the lesser of two others of these names": (
        f"int k = 12 * argc;\n{DATA}{FOR}\n{LESSER} b[i] = a[i];\nclear(2, argc, b);\n{SUM_B}\n}}", False,
    ),
    "goes on somewhere": (
        f"{DATA}{FOR}\n{B_FROM_A}\nif (n < 3) goto out;\n#pragma omp target update from(b[0:n])\nout:\n{SUM_B}\n}}",
        False,
    ),
    "swapped, and both come back": (
        "double *p = a, *q = b;\n#pragma omp target data map(tofrom: a[0:n]) map(tofrom: b[0:n])\n{\n"
        f"for (int k = 0; k < 3; k++) {{\n{FOR}\nfor (int i = 0; i < n; i++) q[i] = p[i] + 1;\n"
        f"double *t = p; p = q; q = t;\n}}\n}}\n{SUM_B}", True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", BODIES)
def test_what_runs_when(title: str) -> None:
    body, right = BODIES[title]
    called = CALLEE * ("part(" in body) + CLEAR * ("clear(" in body)
    assert isinstance(verdict(called + HEAD + body + TAIL), Proved) == right


def _goes_straight_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(walk, "jumps_out", lambda stmt: False)


def _pointers_of_one_way(patch: pytest.MonkeyPatch) -> None:
    def one(ways: Sequence[Way]) -> tuple[Way, tuple[MappedObject, ...]]:
        found, apart = meet(ways)
        return Way(found.state, ways[len(ways) // 2].objects), apart

    patch.setattr(walk, "meet", one)


def _one_round(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(walk, "_MOST_ROUNDS", 1)
    patch.setattr(Words, "doubt", lambda *args: None)


@pytest.mark.slow
@pytest.mark.parametrize("bug", [_goes_straight_on, _pointers_of_one_way, _one_round])
def test_a_seeded_bug_is_seen(bug: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(bug)
    bug(monkeypatch)
    alone = [body for body, right in BODIES.values() if not right and "part(" not in body and "clear(" not in body]
    assert any(isinstance(verdict.__wrapped__(HEAD + body + TAIL), Proved) for body in alone)


@pytest.mark.parametrize("case", BESIDE_CALLS)
def test_what_stands_beside_a_call_is_done_on_the_host(case: tuple[str, str, str]) -> None:
    inside, wrong, right = case
    region = f"#pragma omp target data map(from: c[0:n])\n{{\n{FOR}\nfor (int i = 0; i < n; i++) c[i] = 5;\n@\n}}\n"
    head = RAN.replace("@", inside) + HEAD
    assert not isinstance(verdict(head + region.replace("@", wrong) + TAIL), Proved)
    assert isinstance(verdict(head + region.replace("@", right) + TAIL), Proved)


@pytest.mark.parametrize("case", BESIDE_ITSELF)
def test_what_a_call_makes_stale_is_read_beside_it(case: tuple[str, str]) -> None:
    wrong, right = case
    region = "#pragma omp target data map(tofrom: c[0:n])\n{\n@\n}\n"
    head = RAN.replace("@", "") + HEAD
    assert not isinstance(verdict(head + region.replace("@", wrong) + TAIL), Proved)
    assert isinstance(verdict(head + region.replace("@", right) + TAIL), Proved)


def test_what_a_statement_with_a_call_writes_is_newer_than_on_the_device() -> None:
    region = (
        f"#pragma omp target data map(to: c[0:n])\n{{\n@ = ran(n, b, a);\n{FOR} map(from: b[0:n])\n"
        f"for (int i = 0; i < n; i++) b[i] = c[i];\n}}\n{SUM_B}"
    )
    head = RAN.replace("@", "") + HEAD
    assert not isinstance(verdict(head + region.replace("@", "c[0]") + TAIL), Proved)
    assert isinstance(verdict(head + region.replace("@", "t") + TAIL), Proved)


def test_opaque_text_reads_what_it_names() -> None:
    shown = "#define SHOW for (int i = 0; i < n; i++) s += b[i];\n" + HEAD
    body = f"{FOR} map(to: a[0:n]) map(@: b[0:n])\n{B_FROM_A}\nSHOW\n"
    assert isinstance(verdict(shown + body.replace("@", "from") + TAIL), Proved)
    assert isinstance(verdict(shown + body.replace("@", "to") + TAIL), Unknown)
