"""What host code may do that could not be read, by its text, and what is known of launches then."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from warpsmith.front.clang.device.launches.unread import AsRead, find_unread
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import DeviceUnit, load_kernels
from warpsmith.front.load import FrontOptions

READ = AsRead(lambda _: False, lambda _: True)


def _begins(text: str, names: list[str], at: int) -> bool:
    return any(text.startswith(name, at) for name in names)


def changed(text: str, mark: str, lost: str = "", *, read: bool = True) -> set[str]:
    """Return what may be changed by the statement with an error at `mark`; `lost`: variables that were not made;
    `read`: bodies of functions were."""
    is_lost = partial(_begins, text, lost.split())
    found = find_unread(text, [text.index(mark)], AsRead(is_lost, lambda _: read))
    return {name for one in found for name in one.changed}


@pytest.mark.parametrize(
    ("text", "mark", "expected"),
    [
        ("int w = 0; file >> w >> h; int n = w;", "file", "w h"),
        ("x = 1; config.read(n, w + 1); y = 2;", "config", "config n"),
        ("std::cout << n + m << std::setw(x);", "cout", ""),
        ("std::vector<float> h(n);", "vector", "h"),
        ("std::sort(a, a + n); std::swap(n, m);", "sort", ""),
        ("std::swap(n, m);", "swap", "n m"),
        ("std::thread t(go, std::ref(n));", "thread", "t go n"),
        ("Foo x{n, m};", "Foo", "x n m"),
        ("cv::Mat m(rows, 2 * cols);", "cv", "m rows"),
        ("read_sizes(&w, h[3]);", "read", "w h"),
        ("q = foo<int>(n);", "foo", "q n"),
        ("q = a & b; z = c && d;", "a &", "q"),
        ("Foo &r = n;", "Foo", "r n"),
        ("n++; --m; k += x;", "n++", "n"),
        ("a[n] = ctx.x; b->w = ctx.y;", "ctx", "a"),
        ("auto [a, b] = get();", "get", "a b"),
        ("int a[] = {ctx.x, 3}; int b;", "ctx", "a"),
        ("dim3 g(ctx.x, h); int b;", "ctx", "g"),
        # comments, strings and directives are none of it
        ("f(n /* , m) */, \"k)\" // q\n, 'o'); int b;", "f(", "n"),
        ("\n#define F(x) x = 1\ng(n);", "g(n", "n"),
        # blocks of code, of a closure too
        ("for (auto &x : rows.all()) { s += x; k<<<g, b>>>(a, n); } z = 1;", "rows", "rows x s"),
        ("while (ctx.next()) { if (a) { w = 1; } else { v = 2; } } z = 1;", "ctx", "ctx w v"),
        ("if (x) y = ctx->w; else z = 3;", "ctx", "y"),
        ("run([&]() { n = 4; g(k); }, ctx.x); m = 3;", "ctx", "n k ctx"),
        ("run([&]() { n = ctx.x; g(k); }, m); m = 3;", "ctx", "n"),
        ("void f() { int a = 1; b = ctx.x; }", "ctx", "b"),
    ],
)
def test_what_a_statement_may_change(text: str, mark: str, expected: str) -> None:
    assert changed(f"void around() {{ {text} }}", mark) == set(expected.split())


def test_statements_with_a_variable_that_was_not_made_are_as_unread() -> None:
    text = "auto v = config.rows(); w = v[0]; for (int i = 0; i < 3; i++) v.push_back(i); if (v.ok()) { k = 5; } m = q;"
    assert changed(text, "config", "v") == {"config", "v", "w", "k", "i"}
    assert changed(text, "config") == {"config", "v"}


def test_the_body_of_a_function_is_read_whatever_is_wrong_with_its_head() -> None:
    text = "std::vector<int> f(missing::type m, int n) { dim3 b(n); w = 5; k<<<1, b>>>(a); } int q = 3;"
    assert changed(text, "missing") == {"f", "m"}
    assert changed(text, "missing", read=False) == {"f", "m", "b", "w"}


def test_a_text_with_errors_everywhere_is_looked_through_once() -> None:
    text = "{ " + "f(a1, (b2; c3 = d4 { " * 400
    marks = [at for at in range(len(text)) if text.startswith("f(", at)]
    (whole,) = find_unread(text, marks, READ)
    assert whole.changed == {"a1", "c3"} and len(whole.named) == 5 * 400


def test_names_stand_where_they_are_but_in_questions_about_a_kernel() -> None:
    text = "a = 1; cudaFuncSetAttribute((const void *)k, most); go(k, n); b = k;"
    first, second = (next(iter(find_unread(text, [text.index(mark)], READ))).named for mark in ("cudaFunc", "go("))
    assert [name for name, _ in first] == ["cudaFuncSetAttribute"]
    assert second == [(name, text.index(name, 50)) for name in ("go", "k", "n")]


def unit_of(statement: str, folder: Path) -> DeviceUnit:
    path = folder / "k.cu"
    path.write_text(
        "#include <fstream>\n#include <iostream>\n__global__ void k(float *a) { a[threadIdx.x] = 1; }\n"
        f"int main(int argc, char **argv) {{ float *a = 0; int n = 64; {statement} k<<<1, n>>>(a); }}\n"
    )
    unit = load_kernels(Source(str(path)), FrontOptions())
    assert isinstance(unit, DeviceUnit)
    return unit


@pytest.mark.parametrize(
    ("statement", "blocks"),
    [
        ("", [64]),
        ("std::cout << n << std::endl;", [64]),
        ("missing::vector<float> v; std::cerr << v.size() + n;", [64]),
        ("std::ifstream file(argv[1]); file >> n;", [None]),
        ("std::cin >> n;", [None]),
        ("config.read(n);", [None]),
        ("auto v = config.get(); n = v[0];", [None]),
        ("missing::vector<int> v = get(); n = v[0];", [None]),
        ("for (auto x : rows.all()) { k<<<9, 32>>>(a); }", [64, None]),
        ("rows.each([&] { n = 32; });", [None]),
        ("if (argc > missing) n = 32;", [None]),
        (
            "} missing::type f(missing::type n) { float *a; k<<<2, 96>>>(a); } void g() { float *a; int n = 32;",
            [96, 32],
        ),
    ],
)
def test_what_is_known_of_a_launch(statement: str, blocks: list[int | None], tmp_path: Path) -> None:
    assert [launch.block[0] for launch in unit_of(statement, tmp_path).launches] == blocks
