"""Instances of function templates with a text of their own: which can have one, and what it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Function
from warpsmith.tree.program import Unit
from warpsmith.tree.specializations import can_specialize, place_of_specialization, specialization

LOOP = "{ for (int i = 0; i < n; i++) a[i] = i; }"
USE = "void use(float *x, int *y) { f(x, 3); f(y, 4); }"


def instances(folder: Path, text: str, name: str = "case.cpp") -> dict[str, tuple[Unit, Function]]:
    (folder / name).write_text(text)
    program = load_program([str(folder / name)], FrontOptions(arguments=("-std=c++20",))).program
    return {f.symbol.label: (u, f) for u, f in program.functions() if f.symbol.name.endswith("f")}


@pytest.mark.parametrize(
    "text",
    [
        f"template <typename T> void f(T *a, int n) {LOOP} {USE}",
        f"template <typename T> static inline void f(T *a, int n = 3) {LOOP} {USE}",
        f"namespace p {{ namespace {{ template <class T> void f(T *a, int n) {LOOP} }} }} using p::f; {USE}",
        f'extern "C++" {{ template <typename T> void f(T *a, int n) {LOOP} }} {USE}',
        f"template <class T> void f(T *a, int n); struct S {{}}; template <class T> void f(T *a, int n) {LOOP} {USE}",
        f"template <class T> void f(T *a, int n = 2); template <class T> void f(T *a, int n) {LOOP} {USE}",
    ],
)
def test_an_instance_behind_its_template(tmp_path: Path, text: str) -> None:
    found = instances(tmp_path, text)
    assert len(found) == 2 and all(can_specialize(*one) for one in found.values())


@pytest.mark.parametrize(
    "text",
    [
        # an instance would be made in front of its specialization
        f"template <class T> void f(T *a, int n); void first(int *y) {{ f(y, 4); }}"
        f"template <class T> void f(T *a, int n) {LOOP} {USE}",
        # another template of the name
        f"template <class T> void f(T a); template <class T> void f(T *a, int n) {LOOP} {USE}",
        # members
        f"struct S {{ template <class T> static void f(T *a, int n) {LOOP} }};"
        "void use(float *x, int *y) { S::f(x, 3); S::f(y, 4); }",
        # heads that cannot be repeated, or would promise what a launch breaks
        f"template <class T> constexpr void f(T *a, int n) {LOOP} {USE}",
        f"template <class T> void f(T *a, int n) noexcept(sizeof(T) == 4) {LOOP} {USE}",
        f"template <class T> auto f(T *a, int n) -> void {LOOP} {USE}",
        f"template <class T> requires (sizeof(T) == 4) void f(T *a, int n) {LOOP} {USE}",
        f"template <class T> void f(T *a, auto n) {LOOP} {USE}",
        # arguments that text cannot say
        f"template <class... T> void f(float *a, int n, T... t) {LOOP}"
        "void use(float *x) { f(x, 3, 1); f(x, 4, 2.0); }",
    ],
)  # fmt: skip
def test_near_misses(tmp_path: Path, text: str) -> None:
    found = instances(tmp_path, text)
    assert found and not any(can_specialize(*one) for one in found.values())


USE_S = "void use(float *x, int *y) { S<float>().f(x, 3); S<int>().f(y, 4); }"


@pytest.mark.parametrize(
    "text",
    [
        f"template <class T> struct S {{ void f(T *a, int n) {LOOP} }}; {USE_S}",
        f"namespace {{ template <class T> struct S {{ inline void f(T *a, int n = 3) const {LOOP} }}; }}\n{USE_S}",
        f"template <class T> struct S {{ int k[2]; struct R {{}} r; void f(T *a, int n) {LOOP} void g(); }}; {USE_S}",
        f"struct R {{}}; template <class T> struct S : R {{ T t; void f(T *a, int n) {LOOP} }}; {USE_S}",
    ],
)
def test_a_member_behind_its_class(tmp_path: Path, text: str) -> None:
    found = members(tmp_path, text)
    assert len(found) == 2 and all(can_specialize(*one) for one in found)


@pytest.mark.parametrize(
    "text",
    [
        # its result has a name in the class only, or the class's own
        f"template <class T> struct S {{ using V = T; V f(T *a, int n) {{ for (;n;) n--; return *a; }} }}; {USE_S}",
        f"template <class T> struct S {{ S &f(T *a, int n) {{ for (;n;) n--; return *this; }} }}; {USE_S}",
        # a class, or a function, stands between
        f"struct Q {{ template <class T> struct S {{ void f(T *a, int n) {LOOP} }}; }}; using Q::S; {USE_S}".replace(
            "using Q::S;", "template <class T> using S = Q::S<T>;"
        ),
        f"template <class T> struct S {{ virtual void f(T *a, int n) {LOOP} }}; {USE_S}",
        f"template <class T> struct S {{ template <class U> void f(U *a, int n) {LOOP} }}; {USE_S}",
        # a text of its own
        f"template <class T> struct S; template <> struct S<float> {{ void f(float *a, int n) {LOOP} }};"
        f"template <> struct S<int> {{ void f(int *a, int n) {LOOP} }}; {USE_S}",
    ],
)
def test_members_that_stay(tmp_path: Path, text: str) -> None:
    assert not any(can_specialize(*one) for one in members(tmp_path, text))


def members(folder: Path, text: str) -> list[tuple[Unit, Function]]:
    (folder / "case.cpp").write_text(text)
    program = load_program([str(folder / "case.cpp")], FrontOptions(arguments=("-std=c++20",))).program
    return [(u, f) for u, f in program.functions() if f.symbol.name.endswith("::f")]


CLASS = """#include <cstdio>
namespace p {
template <typename T, int N> class S {
public:
    // fills
    T f(const T *a, int n = N) const
    {
        T sum = own;
        for (int i = 0; i < n; i++)
            sum += a[i] * N;
        return sum;
    }
    T own = 1;
};
}
int main()
{
    float x[3] = {1, 2, 3};
    int y[4] = {1, 2, 3, 4};
    std::printf("%g %d\\n", p::S<float, 3>().f(x), p::S<int, 4>().f(y));
}
"""


def test_the_text_of_a_member_compiles_and_does_the_same(tmp_path: Path) -> None:
    found = members(tmp_path, CLASS)
    ends = {place_of_specialization(function) for _, function in found}
    assert len(found) == 2 and len(ends) == 1
    (end,) = ends
    marked = "".join(f"\n{specialization(f, f.body.span.text.replace('= own;', '= own + 100;'))}" for _, f in found)
    assert "template <> float p::S<float, 3>::f(" in marked or "template <> float S<float, 3>::f(" in marked
    for text, printed in ((CLASS, "19 41"), (CLASS[:end] + marked + CLASS[end:], "119 141")):
        path = tmp_path / "out.cpp"
        path.write_text(text)
        subprocess.run(["g++", "-std=c++17", str(path), "-o", str(tmp_path / "out")], check=True)
        done = subprocess.run([str(tmp_path / "out")], check=True, capture_output=True, text=True)
        assert done.stdout.strip() == printed


def test_no_function_of_a_header_and_none_that_is_no_template(tmp_path: Path) -> None:
    (tmp_path / "f.hpp").write_text(f"template <typename T> void f(T *a, int n) {LOOP}\n")
    (tmp_path / "main").mkdir()
    assert not any(can_specialize(*one) for one in instances(tmp_path / "main", f'#include "../f.hpp"\n{USE}').values())
    assert not any(can_specialize(*one) for one in instances(tmp_path, f"void f(int *a, int n) {LOOP}").values())


TEXT = """#include <cstdio>
namespace p {
    // fills
    template <typename T, int N, bool Up, typename Unused = long>
    static void f(T *a, const T &v = T(1), int n = int(sizeof(int[2])))
    {
        for (int i = 0; i < n; i++)
            a[i] = Up ? v + T(N * i) : v - T(N);
    }
}  // namespace p
int main()
{
    float x[8]; unsigned char y[8];
    p::f<float, 2, true>(x, 0.5f, 8);
    p::f<unsigned char, -1, false>(y);
    for (int i = 0; i < 3; i++) std::printf("%g %d\\n", x[i], y[i]);
}
"""


def test_the_text_of_a_specialization(tmp_path: Path) -> None:
    found = instances(tmp_path, TEXT)
    _, function = found["f<float,2,-1,long>"]
    assert specialization(function, function.body.span.text) == (
        "    template <> void f<float, 2, true, long>(float *a, const float &v, int n)\n"
        "    {\n"
        "        using T = float;\n"
        "        constexpr int N = 2;\n"
        "        constexpr bool Up = true;\n"
        "        for (int i = 0; i < n; i++)\n"
        "            a[i] = Up ? v + T(N * i) : v - T(N);\n"
        "    }"
    )


def test_compilers_take_them_and_they_are_what_runs(tmp_path: Path) -> None:
    found = instances(tmp_path, TEXT)
    assert len(found) == 2
    made = [specialization(f, f.body.span.text.replace("v ", "1 + v ")) for _, f in found.values()]
    end = next(iter(found.values()))[1].span.end
    texts = {"plain": TEXT, "own": TEXT[:end] + "\n" + "\n".join(made) + TEXT[end:]}
    printed: dict[str, str] = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.cpp").write_text(text)
        build = ["g++", "-Wall", "-Wextra", "-Werror", f"{name}.cpp", "-o", name]
        subprocess.run(build, cwd=tmp_path, check=True)
        printed[name] = subprocess.run([f"./{name}"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert printed["plain"].splitlines()[:2] == ["0.5 2", "2.5 2"]
    assert printed["own"].splitlines()[:2] == ["1.5 3", "3.5 3"]
