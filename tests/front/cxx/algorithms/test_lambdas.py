"""Calls of lambdas with several statements: in place of them stands what they do, or they are left as they are."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, port
from warpsmith.front.cxx.algorithms import lambdas
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.offload.plan import GainOptions, OffloadOptions
from warpsmith.report.port.build import loop_entries
from warpsmith.tree.nodes import Function, Verbatim, VerbatimExpr
from warpsmith.tree.printing.printer import Printer, nothing, print_stmt
from warpsmith.tree.types import INT
from warpsmith.tree.walk import walk

HEAD = """#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>
typedef std::vector<double> D;
static double get(const double *p, int i) { return p[i]; }
"""
FUNCTION = """static double f%d(int n, double *a, double *b, D &v, double f)
{ double t = 0; int m = 0; %s for (int q = 0; q < n; q++) t += a[q] + b[q] + v[q];
  return t + m; }
"""
SUM = "double s = 0; for (int k = 0; k < 3; k++) s += x * k;"
EACH = "for (int i = 0; i < n; i++)"
PLACED = (
    f"auto g = [&](double x) {{ {SUM} return s * f; }}; f = 7; {EACH} b[i] = g(a[i]);",
    f"auto g = [f](double x) {{ {SUM} return s * f; }}; {EACH} b[i] = 1 - g(a[i]) * g(b[i]);",
    f"auto g = [&](double x) {{ {SUM} return s * f; }}; {EACH} {{ const double z = g(a[i]) + 1; b[i] = z * z; }}",
    f"auto g = [&](double x) {{ {SUM} return s * f; }}; {EACH} if (g(a[i]) > 9) b[i] = 1; else b[i] = g(b[i]);",
    f"auto g = [&](double x) {{ {SUM} return s * f; }}; return g(a[2]);",
    f"auto g = [&](double x) {{ {SUM} return s * f; }}; {EACH} t += g(a[i]);",
    f"auto g = [&](unsigned char x, float y) -> float {{ {SUM} return s + y; }}; {EACH} b[i] = g(i * 99, a[i] / 3);",
    "auto g = [&](double x) { if (x > 4) return f; if (x < 2) { double w = std::sqrt(x); return w; } else x *= 2;"
    f" {SUM} return s; }}; {EACH} b[i] = g(a[i]);",
    "auto g = [&](double x) { int c = 0; while (x > 1 && c < 9) { x = x * 0.5; c++; } return x + c; };"
    f"{EACH} b[i] = g(a[i]);",
    "auto g = [&](double x) { double r = x; for (int k = 0; k < 5; k++) { if (x < k) { r = k; break; }"
    f" if (k == 2) continue; r += 0.5; }} return r; }}; {EACH} b[i] = g(a[i]);",
    "auto g = [&](int i, double x) { b[i] = x; if (x > 2) { v[i] = f; return; } double w[2][2];"
    f" for (int k = 0; k < 2; k++) w[1][k] = x * k; v[i] = w[1][1]; }}; {EACH} g(i, a[i]);",
    f"auto g = [&](int i, double x) {{ a[i] = 5; {SUM} b[i] = s; }}; {EACH} g(i, a[i]);",
    f"auto g = [&](double x) {{ {SUM} t = t * 0.5 + s; }}; {EACH} g(a[i]);",
    f"int i; auto g = [&](double x) {{ {SUM} b[i] = s; if (x > 3) i++; }}; for (i = 0; i < n - 1; i++) g(a[i]);",
    f"auto g = [&](double &x, double &y) {{ double s = x; if (s > y) {{ x = y; y = s; }} }}; {EACH} g(v[i], v[0]);",
    f"auto g = [&](const D &w, int i) {{ double x = w[i]; {SUM} b[i] = s; }}; {EACH} g(v, i);",
    f"auto h = [&](double x) {{ return x * f; }}; auto g = [&](double x) {{ {SUM} return h(s); }}; {EACH} "
    "b[i] = g(a[i]);",
)
LEFT = (
    f"auto g = [f](double x) {{ {SUM} return s * f; }}; f = 7; {EACH} b[i] = g(a[i]);",
    f"auto g = [=](double x) {{ {SUM} return s * f; }}; f = 7; {EACH} b[i] = g(a[i]);",
    f"auto g = [f](double x) mutable {{ {SUM} f += 0.5; return s * f; }}; {EACH} b[i] = g(a[i]);",
    f"auto g = [&](double x) {{ static int c = 0; c++; {SUM} return s * c; }}; {EACH} b[i] = g(a[i]);",
    f"auto g = [&](auto x) {{ {SUM} return s; }}; {EACH} b[i] = g(a[i]) + g(i);",
    f"auto g = [&](double x) {{ {SUM} return s * f; }}; {EACH} {{ double f = 3; b[i] = g(a[i]) + f; }}",
    f"auto g = [&](double x) {{ {SUM} return s * f; }}; {EACH} b[i] = a[i] > 3 ? g(a[i]) : 1;",
    f"auto g = [&](double x) {{ {SUM} m++; return s * f; }}; {EACH} b[i] = g(a[i]);",
    f"auto g = [&](double x) {{ {SUM} return s * f; }}; auto h = g; {EACH} b[i] = g(a[i]) + h(a[i]);",
    f"auto g = [&](const double &x, int i) {{ a[i] = 5; {SUM} b[i] = s; }}; {EACH} g(i % 2 ? a[i] : b[i], i);",
    f"int j = 0; auto g = [&](double &x) {{ {SUM} j++; x = j; }}; {EACH} {{ j = i; g(b[j]); }}",
    f"auto g = [&](int i) {{ double x = a[i]; {SUM} v.push_back(s); }}; {EACH} g(i);",
    f"auto g = [&](double x) {{ for (int k = 0; k < 5; k++) if (x < k) return k * 2.0; return x; }};"
    f"{EACH} b[i] = g(a[i]);",
    f"auto g = [&](double x, double w = 2) {{ {SUM} return s * w; }}; {EACH} b[i] = g(a[i]);",
    f"std::function<double(double)> g = [](double x) {{ return x; }}; g = [](double x) {{ return -x; }};"
    f"{EACH} b[i] = g(a[i]);",
)
MAIN = """int main() {
    for (int n = 1; n < 7; n++) {
        double a[9] = {3, -4, 2.5, 1, 4, 6, 7, 0, 1}, b[9] = {1, 5, 2, 9, 0, 3, 3, 2, 2}; D v{1.5, 2, 7, 4, 5.25, 7, 8};
        CALLS
        for (int i = 0; i < 9; i++) std::printf("%.17g %.17g ", a[i], b[i]);
        for (double x : v) std::printf("%.17g ", x);
    }
}
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Function]:
    path = tmp_path_factory.mktemp("lambdas") / "lambdas.cpp"
    path.write_text(HEAD + "".join(FUNCTION % pair for pair in enumerate([*PLACED, *LEFT])))
    return _functions(path)


def _functions(path: Path) -> dict[str, Function]:
    found = [f for _, f in load_program([str(path)], FrontOptions()).program.functions()]
    return {f.symbol.name: f for f in found if f.symbol.name[:1] == "f" and f.symbol.name[1:].isdigit()}


def _has_calls(function: Function) -> bool:
    """Whether a call of a lambda is left in a function."""
    opaque = [part for part in walk(function.body) if isinstance(part, Verbatim | VerbatimExpr)]
    return any("g(" in part.text and "[" not in part.text[:1] for part in opaque)


@pytest.mark.parametrize("number", range(len(PLACED)), ids=PLACED)
def test_a_body_stands_in_place_of_its_call(functions: dict[str, Function], number: int) -> None:
    function = functions[f"f{number}"]
    assert not _has_calls(function)
    assert print_stmt(function.body) == function.body.span.text


@pytest.mark.parametrize("number", range(len(PLACED), len(PLACED) + len(LEFT)), ids=LEFT)
def test_what_is_not_known_is_left(functions: dict[str, Function], number: int) -> None:
    assert _has_calls(functions[f"f{number}"])


def _printed(text: str, path: Path) -> str:
    path.write_text(text)
    program = path.with_suffix("")
    subprocess.run(["g++", "-w", "-O0", "-std=c++17", "-o", str(program), str(path)], check=True, capture_output=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60).stdout


def _is_wrong(folder: Path, bodies: Sequence[str] = PLACED) -> bool:
    """Whether functions written from the tree make a program that prints another thing."""
    calls = "".join(f'std::printf("%.17g\\n", f{n}(n, a, b, v, 0.75)); ' for n in range(len(bodies)))
    text = HEAD + "".join(FUNCTION % pair for pair in enumerate(bodies)) + MAIN.replace("CALLS", calls)
    path = folder / "run.cpp"
    before = _printed(text, path)
    for function in sorted(_functions(path).values(), key=lambda f: -f.span.start):
        text = text[: function.span.start] + Printer(nothing).top(function) + text[function.span.end :]
    assert text.count(" g(") < path.read_text().count(" g(")
    return _printed(text, folder / "written.cpp") != before


def test_the_statements_do_what_the_calls_do(tmp_path: Path) -> None:
    assert not _is_wrong(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("holder", "name", "bug"),
    [
        (lambdas, "_plain", lambda _: INT),
        (lambdas, "captures_stay", lambda context, row, escaped: True),
        (lambdas.CalledLambdas, "_is_hidden", lambda self, row, made: False),
    ],
    ids=["another type", "an old copy", "another variable"],
)
def test_seeded_bugs_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holder: object, name: str, bug: Callable[..., object]
) -> None:
    monkeypatch.setattr(holder, name, bug)
    assert _is_wrong(tmp_path, (*PLACED, *LEFT))


@pytest.mark.slow
def test_what_is_left_does_the_same(tmp_path: Path) -> None:
    assert not _is_wrong(tmp_path, (*PLACED, *LEFT))


PROGRAM = f"""#include <cstdio>
#include <vector>
int main() {{
    int n = 500;
    std::vector<double> a(n, 1.5), b(n), v(n);
    double f = 0.5;
    auto g = [&](double x) {{ if (x > 2) return f; {SUM} return s * f; }};
    auto put = [&](int i, double x) {{ b[i] = x; if (x > 4) {{ v[i] = f; return; }} {SUM} v[i] = s; }};
    for (int i = 0; i < n; i++) {{
        double z = g(a[i]) + i * 0.01;
        put(i, z);
    }}
    std::printf("%.15g %.15g\\n", b[3], v[400]);
}}
"""


def test_a_loop_that_calls_lambdas_is_ported(tmp_path: Path) -> None:
    path = tmp_path / "program.cpp"
    path.write_text(PROGRAM)
    offload = OffloadOptions(gain=GainOptions(everything=True))
    result = port([str(path)], PortOptions(front=FrontOptions(), offload=offload))
    assert "main/i" in {entry.id for entry in loop_entries(result.prepared, result.plan) if entry.ported}
    assert result.verification is not None and result.verification.status == "pass", result.verification
