"""One thread in place of those of a `parallel for`: refused wherever the serial loop would leave something else."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.concurrency.one_loop import loop_in_the_way, shared_loop
from warpsmith.tree.walk import loops

HEAD = """int omp_get_thread_num(void); double omp_get_wtime(void); int g; double scratch[8];
static double part[8];
#pragma omp threadprivate(part)
static int mine(void) { return omp_get_thread_num(); }
static void clear(void) { g = 0; part[0] = 1; }
"""
# the pragma's clauses, the loop's body, what is read behind it
ONE = {
    "plain": ("", "b[i] = a[i];", "b[1]"),
    "a private number": ("private(t)", "t = a[i]; b[i] = t * t;", "b[1]"),
    "a private number, set again": ("private(t)", "t = a[i]; b[i] = t * t;", "(t = 2)"),
    "a private array": ("private(w)", "for (k = 0; k < 4; k++) w[k] = a[i]; b[i] = w[1] + w[2];", "b[1]"),
    "a first value": ("firstprivate(t)", "b[i] = t * a[i];", "t"),
    "the last value": ("lastprivate(t)", "t = a[i];", "t"),
    "a sum": ("reduction(+: t)", "t += a[i];", "t"),
    "many clauses": ("num_threads(4) schedule(dynamic, 2) if(n > 2) default(shared)", "b[i] = a[i];", "b[1]"),
    "the largest": ("reduction(max: t)", "if (a[i] > t) t = a[i];", "t"),
    "a counter set again": ("", "b[i] = a[i];", "(k = 3)"),
    "an atomic update": ("", "\n#pragma omp atomic\n g++;\n", "g"),
    "the time": ("", "b[i] = omp_get_wtime();", "b[1]"),
}
MANY = {
    "read behind": ("private(t)", "t = a[i]; b[i] = t;", "t", "read after the loop"),
    "an array read behind": ("private(w)", "for (k = 0; k < 4; k++) w[k] = a[i];", "w[1]", "read after the loop"),
    "a first value changed": ("firstprivate(t)", "t += a[i]; b[i] = t;", "t", "read after the loop"),
    "a global": ("private(g)", "g = a[i]; b[i] = g;", "b[1]", "known everywhere"),
    "a number of a thread": ("", "b[i] = omp_get_thread_num();", "b[1]", "how many threads"),
    "one in a function": ("", "b[i] = mine();", "b[1]", "how many threads"),
    "threadprivate": ("", "part[1] = a[i];", "b[1]", "threadprivate"),
    "threadprivate in a function": ("", "clear();", "b[1]", "threadprivate"),
    "ordered": ("ordered", "\n#pragma omp ordered\n g = a[i];\n", "g", "not known"),
    "cancellation": ("", "if (a[i] > 3) {\n#pragma omp cancel for\n} b[i] = a[i];", "b[1]", "belongs to"),
    "a sum set to another value": ("reduction(+: t)", "if (i == 7) t = 5; t += a[i];", "t", "in that way"),
    "a maximum that starts anew": ("reduction(max: t)", "t = -1; if (a[i] > t) t = a[i];", "t", "in that way"),
    "a product called a sum": ("reduction(+: t)", "t *= a[i];", "t", "in that way"),
    "a call in a clause": ("num_threads(mine())", "b[i] = a[i];", "b[1]", "may do something"),
    "a step in a clause": ("if(k++ > 2)", "b[i] = a[i];", "b[1]", "may do something"),
    "an assignment in a clause": ("schedule(static, k = 2)", "b[i] = a[i];", "b[1]", "may do something"),
    "linear": ("linear(t)", "t++; b[i] = t;", "b[1]", "not known"),
}


def _reason(clauses: str, body: str, read: str, words: str = "parallel for") -> str:
    text = f"""{HEAD}
double f(int n, double *restrict a, double *restrict b)
{{
    double t = 1, w[4];
    int k;
#pragma omp {words} {clauses}
    for (int i = 0; i < n; i++) {{ {body} }}
    return {read};
}}
"""
    program = program_of(text)
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    (loop, *_) = (loop for loop, _ in loops(function.body))
    region = shared_loop(function, loop)
    assert region is not None
    why = loop_in_the_way(Facts.about(program, PolyOptions()), function, region)
    return "" if why is None else why.text


@pytest.mark.parametrize("title", ONE)
def test_one_thread_leaves_what_many_leave(title: str) -> None:
    assert _reason(*ONE[title]) == ""


@pytest.mark.parametrize("title", MANY)
def test_what_only_threads_do_stays(title: str) -> None:
    clauses, body, read, why = MANY[title]
    assert why in _reason(clauses, body, read)


def test_other_constructs_are_no_such_loops() -> None:
    with pytest.raises(AssertionError):
        _reason("", "b[i] = a[i];", "b[1]", words="target teams distribute parallel for")
    with pytest.raises(AssertionError):
        _reason("", "b[i] = a[i];", "b[1]", words="simd")


def test_the_counter_is_each_threads_own() -> None:
    def reason(head: str, loop: str, clauses: str = "", read: str = "i") -> str:
        pragma = f"#pragma omp parallel for {clauses}"
        text = f"{HEAD} double f(int n, double *restrict a) {{ {head}\n{pragma}\n{loop} return {read}; }}"
        program = program_of(text)
        function = next(f for _, f in program.functions() if f.symbol.name == "f")
        region = shared_loop(function, next(loop for loop, _ in loops(function.body)))
        assert region is not None
        why = loop_in_the_way(Facts.about(program, PolyOptions()), function, region)
        return "" if why is None else why.text

    plain = "for (i = 0; i < n; i++) a[i] = 1;"
    assert "read after the loop" in reason("int i = 42;", plain)
    assert reason("int i = 42;", plain, read="a[0]") == "" and reason("int i = 42;", plain, "lastprivate(i)") == ""
    assert reason("int i = 42;", plain.replace("(i = 0", "(int i = 0")) == ""
    nest = "for (int i = 0; i < n; i++) for (j = 0; j < 4; j++) a[i * 4 + j] = 1;"
    assert "read after the loop" in reason("int j = 42;", nest, "collapse(2)", "j")
    assert reason("int j = 42;", nest, "", "j") == ""
