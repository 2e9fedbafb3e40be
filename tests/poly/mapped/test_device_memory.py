"""Memory of the device's own: what is proved runs with such memory, wrong twins end or are not proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.analysis import program_of
from tests.poly.mapped.device_memory import outputs
from tests.poly.mapped.programs import FOR, HEAD, TAIL
from warpsmith.base.verdict import Proved, Refuted, Unknown, Verdict
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped.judge import judge_mapped

OWN = (
    "#include <omp.h>\n"
    + HEAD
    + """
int dev = omp_get_default_device(), host = omp_get_initial_device();
double *d = omp_target_alloc(n * sizeof(double), dev), *e = (double *)omp_target_alloc(n * sizeof(double), dev);
if (!d || e == NULL) return 1;
"""
)
TO_D = "omp_target_memcpy(d, a, n * sizeof(double), 0, 0, dev, host);\n"
E_FROM_D = f"{FOR} is_device_ptr(d, e)\nfor (int i = 0; i < n; i++) e[i] = 2 * d[i];\n"
TO_B = "omp_target_memcpy(b, e, n * sizeof(double), 0, 0, host, dev);\n"
SUM = "for (int i = 0; i < n; i++) s += b[i];\n"
FREE = "omp_target_free(d, dev);\nomp_target_free(e, dev);\n"
RIGHT = TO_D + E_FROM_D + TO_B + SUM + FREE
NEW = "(double *)omp_target_alloc(8, dev)"

# title: (body, what is wrong in it: the right text and the wrong one)
PAIRS = {
    "the host reads the device's memory": (RIGHT, "s += b[i]", "s += e[i]"),
    "the host reads one element": (RIGHT, SUM, "s += e[1];\n" + SUM),
    "the host writes the device's memory": (RIGHT, E_FROM_D, "d[0] = 4;\n" + E_FROM_D),
    "a loop without a construct": (RIGHT, E_FROM_D, E_FROM_D[E_FROM_D.index("\n") :]),
    "a copy takes the host for the device": (RIGHT, "0, 0, dev, host", "0, 0, host, dev"),
    "a copy takes the device for the host": (RIGHT, "0, 0, host, dev", "0, 0, dev, host"),
    "a copy between two hosts": (RIGHT, "0, 0, host, dev", "0, 0, host, host"),
    "memcpy reads the device's memory": (RIGHT, TO_B, "memcpy(b, e, n * sizeof(double));\n"),
    "free gets the device's memory": (RIGHT, "omp_target_free(d, dev)", "free(d)"),
    "the clause names the host's memory": (
        RIGHT, E_FROM_D, "d = a;\n" + E_FROM_D,
    ),
    "a pointer into it is read": (RIGHT, SUM, "double *q = e + 1;\ns += q[0];\n" + SUM),
    "a function of the host reads it": (RIGHT, SUM, "s += first(e);\n" + SUM),
    "a function with a construct reads it besides": (RIGHT, E_FROM_D, "s += run(n, d, e);\n"),
    "a test reads it": (RIGHT, SUM, f"if (e[0] > 0)\n{{\n{E_FROM_D}}}\n{SUM}"),
    "a struct holds it": (RIGHT, SUM, "struct W w = {0};\nw.p = e;\ns += w.p[0];\n" + SUM),
    "nobody waits for the construct": (RIGHT, "is_device_ptr(d, e)", "is_device_ptr(d, e) nowait"),
    "the construct runs on another device": (RIGHT, "is_device_ptr(d, e)", "is_device_ptr(d, e) device(1)"),
    "a pointer made in a loop": (RIGHT, SUM, "for (int i = 0; i < n; i++) { double *q = e + i; s += *q; }\n" + SUM),
    "a pointer made in a branch": (RIGHT, SUM, "if (n > 5) { double *q; q = e; q[3] = 1; }\n" + SUM),
    "a pointer made beside": (RIGHT, SUM, "double *q = e, *r = q, z = r[2];\ns += z;\n" + SUM),
    "a pointer that walks": (RIGHT, SUM, "for (double *q = e, *p = e + n; q != p; q++) s += *q;\n" + SUM),
    "read beside a call with a construct": (RIGHT, SUM, "s = quiet(n, d, e) + d[3];\n" + SUM),
    "written by a call with a construct": (RIGHT, SUM, "d[4] = quiet(n, d, e);\n" + SUM),
    "a number holds it": (RIGHT, SUM, "size_t q = (size_t)e;\ns += *(double *)q;\n" + SUM),
    "a number is given it later": (RIGHT, SUM, "size_t q;\nq = (size_t)(e + 1);\ns += ((double *)q)[0];\n" + SUM),
    "a global holds it": (RIGHT, SUM, "held = e;\ns += peek();\n" + SUM),
    "a function returns new memory": (RIGHT, SUM, "s += made(n)[0] * 0 + 1;\n" + SUM),
    "an array holds new memory": (RIGHT, SUM, f"double *q[1] = {{{NEW}}};\nq[0][0] = 1;\n" + SUM),
    "a struct holds new memory": (RIGHT, SUM, f"struct W w = {{{NEW}}};\nw.p[0] = 1;\n" + SUM),
    "a function is given new memory": (RIGHT, SUM, f"s += first({NEW}) * 0 + 1;\n" + SUM),
    "one of two memories is new": (RIGHT, SUM, f"double *q = s > 1e9 ? a : {NEW};\nq[0] = 1;\n" + SUM),
    "new memory behind a comma": (RIGHT, SUM, f"double *q = (s += 1, {NEW});\nq[0] = 1;\n" + SUM),
    "a pointer to the function allocates": (
        RIGHT, SUM, "void *(*make)(size_t, int) = omp_target_alloc;\ndouble *q = make(8, dev);\nq[0] = 1;\n" + SUM,
    ),
    "a copy of mapped memory is too early": (
        f"#pragma omp target data map(tofrom: a[0:n])\n{{\n{FOR}\nfor (int i = 0; i < n; i++) a[i] = 2 * a[i];\n"
        "#pragma omp target update from(a[0:n])\n}\n" + RIGHT,
        "#pragma omp target update from(a[0:n])\n}\n" + TO_D, TO_D + "}\n",
    ),
}  # fmt: skip
HELPERS = f"""
double quiet(int n, double *d, double *e) {{
{E_FROM_D}
return 1;
}}
struct W {{ double *p; }};
double *held;
double peek(void) {{ return held[0]; }}
double first(double *x) {{ return x[0]; }}
double run(int n, double *d, double *e) {{
double *g = malloc(sizeof(double));
{E_FROM_D}
free(g);
return e[0];
}}
"""


MADE = "double *made(int n) { return omp_target_alloc(n * sizeof(double), omp_get_default_device()); }\n"

# the stand-in for a device has one, which works at once
UNSEEN = {
    "a copy of mapped memory is too early", "nobody waits for the construct", "the construct runs on another device",
}  # fmt: skip


def verdict(text: str) -> Verdict:
    found = judge_mapped(Facts.about(program_of(text), PolyOptions()))
    return next(one.verdict for one in found if one.root.symbol.name == "main")


def program(title: str, *, wrong: bool) -> str:
    body, right, other = PAIRS[title]
    assert right in body
    text = body.replace(right, other, 1) if wrong else body
    head = OWN.replace("int main", HELPERS + MADE * ("made(" in text) + "int main", 1)
    return head + text + TAIL


@pytest.mark.slow
@pytest.mark.parametrize("title", PAIRS)
def test_wrong_uses_of_the_devices_memory_are_not_proved(title: str) -> None:
    assert not isinstance(verdict(program(title, wrong=True)), Proved)
    assert isinstance(verdict(program(title, wrong=False)), Proved)


@pytest.mark.slow
def test_they_are_wrong_where_the_device_has_memory_of_its_own(tmp_path: Path) -> None:
    titles = [title for title in PAIRS if title not in UNSEEN]
    wrong = outputs([program(title, wrong=True) for title in titles], tmp_path)
    assert [title for title, (host, device) in zip(titles, wrong, strict=True) if host == device] == []
    right = outputs([program(title, wrong=False) for title in PAIRS], tmp_path)
    assert [title for title, (host, device) in zip(PAIRS, right, strict=True) if host != device] == []


def test_what_is_certain_names_the_line() -> None:
    for title, text in (
        ("the host reads the device's memory", "e leads to the device's memory, and line 24 uses it on the host"),
        ("a copy takes the host for the device", "a is memory of the host"),
        ("free gets the device's memory", "d is memory of the device"),
    ):
        found = verdict(program(title, wrong=True))
        assert isinstance(found, Refuted), title
        assert any(text.rpartition("line ")[0] in reason.text for reason in found.reasons), found


def test_which_device_it_is_has_to_be_known() -> None:
    right = program("the host reads one element", wrong=False)
    for change in (
        ("int dev = omp_get_default_device()", "int dev = argc + 3"),
        ("int dev = omp_get_default_device()", "omp_set_default_device(host_); int dev = omp_get_default_device()"),
        ("is_device_ptr(d, e)", "is_device_ptr(e)"),
    ):
        text = right.replace(*change).replace("int main(", "int host_ = 0;\nint main(", 1)
        assert isinstance(verdict(text), Unknown), change


def test_openacc_has_calls_of_its_own() -> None:
    head = "#include <openacc.h>\n" + HEAD
    body = (
        "double *d = acc_malloc(n * sizeof(double));\nacc_memcpy_to_device(d, a, n * sizeof(double));\n"
        "#pragma acc parallel loop deviceptr(d) copyout(b[0:n])\nfor (int i = 0; i < n; i++) b[i] = d[i];\n"
        "acc_free(d);\n" + SUM
    )
    assert isinstance(verdict(head + body + TAIL), Proved)
    for change in (
        ("to_device(d, a", "from_device(d, a"), ("s += b[i]", "s += b[i] + d[i]"), ("acc_free", "free"),
        ("deviceptr(d)", "deviceptr(a, d)"), ("acc_malloc", "malloc"),
    ):  # fmt: skip
        changed = head + body.replace(*change) + TAIL
        assert not isinstance(verdict(changed), Proved) or "(a, d)" in change[1], change
