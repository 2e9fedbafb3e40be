"""CUDA text to C++ text: lines stay, strings and comments stay, launches and variables are found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpsmith.run.native.cuda_text import has_cuda_syntax, rewrite_cuda


def _launch(kernel: str, arguments: str, name: str = "") -> str:
    return f'::ws::launch({arguments}).of("{name or kernel}", [=](auto... ws_x) {{ {kernel}(ws_x...); }})'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k<<<1, 2>>>(a, b);", _launch("k", "1, 2") + "(a, b);"),
        ("if (x) k<<<g, b, f(1, 2), s>>>();", "if (x) " + _launch("k", "g, b, f(1, 2), s") + "();"),
        ("k<T><<<g, b>>>(a);", _launch("k < T >", "g, b", "k<T>") + "(a);"),
        ("n::k<A<B>, 3><<<g, b>>>(NULL);", _launch("n :: k < A < B > , 3 >", "g, b", "n::k<A<B>,3>") + "(nullptr);"),
        ("k<A<B<C>>><<<g, b>>>(a);", _launch("k < A < B < C >>>", "g, b", "k<A<B<C>>>") + "(a);"),
        ("(*f)<<<g, b>>>(a);", _launch("( * f )", "g, b", "(*f)") + "(a);"),
        ("k$a<<<g, b>>>(a);", _launch("k$a", "g, b") + "(a);"),
        ("gr\xc3\xbcn<<<g, b>>>(a);", _launch("gr\xc3\xbcn", "g, b") + "(a);"),
        ("k\\u00e4<<<g, b>>>(a);", _launch("k\\u00e4", "g, b", "k\\\\u00e4") + "(a);"),
        ("k\\\n2<<<g, b>>>(a);", "\\\n" + _launch("k2", "g, b") + "(a);"),
        ("k<A<B>><<<g, b>>>(a);", _launch("k < A < B >>", "g, b", "k<A<B>>") + "(a);"),
        ("table<:i:><<<g, b>>>(a);", _launch("table [ i ]", "g, b", "table[i]") + "(a);"),
        ("table[i]<<<g, b>>>(a);", _launch("table [ i ]", "g, b", "table[i]") + "(a);"),
        ("static __shared__ int x;", " __shared__ int x;"),
        (
            "extern __shared__ __align__(16) float s[];",
            "float (&s)[ ] = *reinterpret_cast<float (*)[ ]>(ws_dynamic_shared());",
        ),
        ("__noinline__ int f();", "__attribute__((noinline)) int f();"),
        ("cudaLaunchKernel((void *)k, g, b, a);", "cudaLaunchKernel(k, g, b, a);"),
    ],
)
def test_each_form(text: str, expected: str) -> None:
    assert rewrite_cuda(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        'const char *s = "k<<<1, 2>>>(a)";',
        "// k<<<1, 2>>>(a)\n/* <<< >>> */ int x;",
        'auto r = R"x(k<<<1,1>>>())x"; // __device__',
        "char c = '<'; int y = 1'000'000; // <<<",
        "__device__ int f(int x) { return x; }",
        "__global__ void k(int *a);  // __device__",
        "struct S { __device__ S() {} __device__ int operator()(int) const; };",
        "extern __device__ int elsewhere;",
        "#define D __device__ int",
        "/* a\n */ # define D __device__ int",
        "#define D /* a\n */ __device__ int",
        'R"x(a)y" __device__ int b;',
    ],
)
def test_what_stays_as_it_is(text: str) -> None:
    assert rewrite_cuda(text) == text


@pytest.mark.parametrize(
    ("text", "names", "kind"),
    [
        ("__device__ int a, b[3] = {1, 2, 3};", ["a", "b"], "device"),
        ("__constant__ float w[3][4];", ["w"], "constant"),
        ("static __device__ __managed__ double m{1.0};", ["m"], "managed"),
        ("namespace n { __device__ Pair<int, long> p; }", ["p"], "device"),
        ("const __constant__ unsigned table[] = {f(1), 2};", ["table"], "constant"),
        ("__device__ __align__(8) float2 v;", ["v"], "device"),
        ("__device__ struct T t;", [], "device"),
        ("__device__ int n$1, gr\xc3\xbcn;", ["n$1", "gr\xc3\xbcn"], "device"),
        ("// a\r__device__ int a;", ["a"], "device"),
        ("/* a\n */ int x; # define D __device__ int b;", ["b"], "device"),
    ],
)
def test_device_variables_are_registered(text: str, names: list[str], kind: str) -> None:
    done = rewrite_cuda(text)
    assert [n for n in names if f'ws_variable_{n}({n}, "{n}", ::ws::{kind}_variable)' in done] == names
    assert done.count("ws_variable_") == len(names)


@given(
    st.lists(
        st.sampled_from(
            ["k<<<1,\n2>>>(a,\nb);\n", "extern __shared__\nfloat s[\n2];\n", '"a\\\n<<<"\n', "/* <<<\n*/",
             "// x \\\n<<<\n", "\\ \n", "/*\\\n*/", "#define L(k, ...) \\\n k<<<1, 1>>>(__VA_ARGS__)\n",
             "__device__ int\n q = {\n1};\n",
             "{", "}", ";\n", "<<<", ">>>", "'", '"', "\r\n"]
        )
    ).map("".join)
)  # fmt: skip
def test_line_numbers_never_change(text: str) -> None:
    done = rewrite_cuda(text)
    assert done.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('int main(void) { puts(">>>> result <<<<"); return 0; } // k<<<1, 1>>>()', False),
        ("/* __shared__ */ char c = '<'; int x = 1 << 2;", False),
        ('void f() { puts("<<<<"); k<<<1, 1>>>(); }', True),
        ("#define TILE __shared__ float", True),
    ],
)
def test_words_in_texts_and_comments_are_no_cuda_syntax(text: str, expected: bool) -> None:
    assert has_cuda_syntax(text) == expected
