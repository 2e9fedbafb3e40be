"""What a lambda has captured is touched by whoever calls it, in a function that has no name for it."""

from __future__ import annotations

from pathlib import Path

from warpsmith.base.verdict import Unknown
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.captured import find_captured
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped.judge import judge_mapped
from warpsmith.tree.program import Program

TEXT = """
#include <cstdio>
#include <cstdlib>
template <typename F> void run(int n, F f)
{
    #pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        int k = i;
        if (k < n)
            f(k);
    }
}
template <typename T> void outer(T *b, int n)
{
    auto add = [=](int i) { T *q = b + i; q[0] += 3; };
    run(n, add);
}
int main()
{
    int n = 100;
    double *b = (double *)malloc(n * sizeof(double)), s = 0;
    for (int i = 0; i < n; i++)
        b[i] = 0;
    #pragma omp target data map(to: b[0:n])
    outer(b, n);
    for (int i = 0; i < n; i++)
        s += b[i];
    std::printf("%f\\n", s);
    free(b);
}
"""


def program_of(folder: Path) -> Program:
    path = folder / "case.cpp"
    path.write_text(TEXT)
    return load_program([str(path)], FrontOptions()).program


def test_they_are_found(tmp_path: Path) -> None:
    program = program_of(tmp_path)
    functions = {function.symbol.name: function for _, function in program.functions()}
    run = next(function for name, function in functions.items() if name.startswith("run"))
    assert [symbol.name for symbol in find_captured(program, run, run.body, None)] == ["b"]
    assert find_captured(program, functions["main"], functions["main"].body, None) == []


def test_directives_around_such_a_call_are_not_proved(tmp_path: Path) -> None:
    """The device's sums are never copied back."""
    (found,) = judge_mapped(Facts.about(program_of(tmp_path), PolyOptions()))
    assert isinstance(found.verdict, Unknown)


def test_a_loop_that_changes_nothing_else_says_what_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "case.cpp"
    path.write_text(TEXT.replace(" target teams distribute", "").replace("#pragma omp target data map(to: b[0:n])", ""))
    result = port([str(path)], PortOptions(verify=False))
    assert result.plan is not None
    (refused,) = (refusal for refusal in result.plan.refusals if refusal.loop.startswith("run"))
    assert refused.reason.text == "a lambda that it calls has captured b, a variable of another function"
