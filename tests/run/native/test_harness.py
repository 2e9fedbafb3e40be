"""Functions without a main: what can be called, with what, and what is noticed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.sampling import one_in
from warpsmith.emit.files import OutputFile
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.run.native.harness import add_harness, defines, plan_harness, strip_text
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import HarnessFunction, Sources, Verification, VerifyOptions
from warpsmith.tree.nodes import Binary, Expr, Function, Literal, Unary
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import names, walk

TEXT = """
double factor = 3; int N; double G[40][40]; static float *P;
static double scale(double v) { return v * factor; }
void saxpy(int n, double a, double *x, const double *y)
{ for (int i = 0; i < n; i++) x[i] = scale(a) * x[i] + y[i]; }
int total(int n, int m, int A[n][m])
{ int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += A[i][j]; return (n * m) ? s / n : s; }
void bad(int n, double **p) { p[0][0] = n; }
static void glob(void) { for (int i = 0; i < N; i++) G[i % 40][0] += P[i]; }
int hist(int n, int *idx, unsigned char *c) { for (int i = 0; i < n; i++) c[idx[i]]++; return n * m1(); }
""".replace(" * m1()", "")
QUICK = VerifyOptions(timeout_s=20)


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> tuple[HarnessFunction, ...]:
    path = tmp_path_factory.mktemp("harness") / "h.c"
    path.write_text(TEXT)
    program = load_program([str(path)], FrontOptions()).program
    found = {function.symbol.name: function for _, function in program.functions()}
    by_count = {"saxpy": {"x": "n", "y": "n"}, "glob": {"G": "N", "P": "N"}, "hist": {"idx": "n", "c": "n"}, "bad": {}}
    made = [HarnessFunction(found[name], extents(found[name], wanted)) for name, wanted in by_count.items()]
    whole = found["total"]
    product = next(node for node in walk(whole.body) if isinstance(node, Binary) and node.op == "*")
    return (*made, HarnessFunction(whole, {symbol_of(whole, "A"): product}))


def symbol_of(function: Function, name: str) -> Symbol:
    symbols = [*function.parameters, *(use.symbol for use in names(function.body))]
    return next(symbol for symbol in symbols if symbol.name == name)


def extents(function: Function, wanted: Mapping[str, str]) -> Mapping[Symbol, Expr]:
    uses = {use.symbol.name: use for use in names(function.body)}
    return {symbol_of(function, name): uses[count] for name, count in wanted.items()}


def sources(text: str, *, captured: bool = False) -> Sources:
    return Sources((OutputFile("h.c", text),), captured=captured)


def judge(functions: tuple[HarnessFunction, ...], old: str = "", new: str = "", captured: bool = False) -> Verification:
    assert old in TEXT
    changed = sources(TEXT.replace(old, new) if old else TEXT, captured=captured)
    return verify(sources(TEXT, captured=captured), changed, QUICK, functions)


def test_the_cases_have_all_sizes_and_distinct_ones(functions: tuple[HarnessFunction, ...]) -> None:
    plan = plan_harness(functions, VerifyOptions(special_values=True))
    labels = [case.label for case in plan.cases]
    assert [case.number for case in plan.cases] == list(range(len(labels))) and len(set(labels)) == len(labels)
    assert {"saxpy(n = 0)", "saxpy(n = 1)", "saxpy(n = 67)", "saxpy(n = 33)"} < set(labels)
    assert {"total(n = 67, m = 47)", "total(n = 47, m = 67)", "glob(N = 67)"} < set(labels)
    assert {"saxpy(n = 67, with NaN and infinities)", "saxpy(n = 67, x and y overlap)"} < set(labels)
    ((function, reason),) = plan.skipped
    assert function.function.symbol.name == "bad" and "cannot make an argument of type double **" in reason


def test_the_same_functions_pass(functions: tuple[HarnessFunction, ...]) -> None:
    got = judge(functions)
    assert got.status == "pass" and got.schedules == 3
    assert {row.name for row in got.live_out} >= {"x", "y", "A", "G", "P", "idx", "c", "its return value"}
    assert "bad is not called" in got.reasons[-1].message or any("bad is not called" in r.message for r in got.reasons)
    assert got.inputs.startswith("4 functions, ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "said"),
    one_in(
        3,
        [
            ("* x[i] + y[i]", "* x[i] + y[n - 1 - i]", "x differs after saxpy(n = 67): x[0]"),
            ("s += A[i][j]", "s += A[i][0]", "its return value differs after total(n = 67, m = 67)"),
            ("G[i % 40][0]", "G[i % 39][0]", "G differs after glob(N = 67): G[0]"),
            ("c[idx[i]]++", "c[i]++, idx[n - 1] = 0", "idx differs after hist(n = 67): idx[66] is 0"),
            ("i < n; i++) x[i]", "i <= n; i++) x[i]", "is written in saxpy(n = 0): it lies outside of x"),
            ("{ p[0][0] = n; }", "{ p[0][0] = n; } int main(void) { return 0; }", "the candidate has a main"),
            ("int hist(", "int other(", "it does not define the function hist"),
            ("return n;", "return *(volatile int *)0;", "in hist(n = 0): it crashed"),
            ("v * factor", "v * (factor += 0.5)", "differs after saxpy"),
        ],
    ),
)
def test_a_wrong_function_is_found(functions: tuple[HarnessFunction, ...], old: str, new: str, said: str) -> None:
    got = judge(functions, old, new)
    assert got.status == "fail"
    assert any(said in reason.message for reason in got.reasons), got.reasons


@pytest.mark.slow
def test_overlapping_arguments_count_for_our_ports_only(functions: tuple[HarnessFunction, ...]) -> None:
    old = "{ for (int i = 0; i < n; i++) x[i] = scale(a) * x[i] + y[i]; }"
    new = old.replace("int i = 0; i < n; i++", "int i = n - 1; i >= 0; i--")
    assert judge(functions, old, new, captured=True).status == "fail"
    foreign = judge(functions, old, new)
    assert foreign.status == "pass" and "VER025" in {reason.rule for reason in foreign.reasons}


def test_a_call_that_the_original_does_not_survive_is_left_out(functions: tuple[HarnessFunction, ...]) -> None:
    text = TEXT.replace("(n * m) ? s / n : s", "s / n")
    got = verify(sources(text), sources(text), QUICK, functions)
    assert got.status == "pass"
    assert any("total(n = 0, m = 0) is left out: the original program itself" in r.message for r in got.reasons)


def test_definitions_are_told_from_calls_and_prototypes() -> None:
    text = strip_text('int f(void); /* int g() {} */ char *s = "h() {"; int k(int (*p)(int), int q)\n{ return f(); }')
    assert defines(text, "k")
    assert not any(defines(text, name) for name in ("f", "g", "h", "p"))


@pytest.mark.parametrize(
    "text",
    [
        "int a = 1'000; int f(void) { } int b = 2'000;",
        '// a \\\n " \nint f(void) { } // "',
        "// a\rint f(void) { }",
        'const char *s = R"(")"; int f(void) { } char t = \'"\';',
        "int \\\nf\\ \n(void) { }",
        "#include <a/*b>\nint f(void) { } /* */",
    ],
)
def test_definitions_are_found_beside_anything(text: str) -> None:
    assert defines(strip_text(text), "f")
    assert not defines(strip_text(text.replace("f(", "g$f(").replace("\nf", "\ng$f")), "f")


def test_the_file_keeps_its_lines(functions: tuple[HarnessFunction, ...], tmp_path: Path) -> None:
    options = VerifyOptions(keep_dir=str(tmp_path), timeout_s=20)
    verify(sources(TEXT), sources(TEXT), options, functions)
    (placed,) = tmp_path.glob("verify-*/original/build_base/h.c")
    assert placed.read_text().startswith(TEXT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int main(void) { }", True),
        ("int main() try { } catch (...) { }", True),
        ("int main() tries { }", False),
        ("int main(argc, argv)\nint argc;\nchar *argv[];\n{ }", True),
        ("int main(void); int other; struct s { int a; };", False),
        ("int f(void) { return main(1); } int x[2] = { 1 };", False),
    ],
)
def test_a_definition_is_told_from_a_prototype_and_a_call(text: str, expected: bool) -> None:
    assert defines(text, "main") is expected


def test_sizes_that_are_given_by_their_address(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("void add_(const int *n, double *u) { for (int i = 0; i < *n; i++) u[i] += 1; }\n")
    program = load_program([str(path)], FrontOptions()).program
    (function,) = (function for _, function in program.functions())
    count = next(node for node in walk(function.body) if isinstance(node, Unary))
    one = Literal(span=count.span, type=INT, text="1", value=1)
    given = HarnessFunction(function, {symbol_of(function, "n"): one, symbol_of(function, "u"): count})
    plan = plan_harness((given,), VerifyOptions())
    assert {"add_(n = 0)", "add_(n = 67)"} <= {case.label for case in plan.cases}
    whole = add_harness(Sources((OutputFile("f.c", path.read_text()),)), plan, None)
    assert not isinstance(whole, str)
    text = "".join(file.text for file in whole.files)
    assert "int ws_of_n = (int)67; int *n = &ws_of_n; (void)n;" in text
    assert 'ws_harness_count("u", (long long)(*n), 8)' in text
    assert "*(int *)ws_at_n = *n;" in text
