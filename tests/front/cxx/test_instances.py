"""Arguments that tell an instance of a template from the others."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load
from warpsmith.front.cxx.instances import _arguments, _can_be_said, _instance, _parameters, _Template
from warpsmith.tree.expressions import TemplateArgument
from warpsmith.tree.shared import conditions


def test_instances_say_what_tells_them_apart(load: Load) -> None:
    text = """
    template <typename T, int N = 3> void f(T *a) { for (int i = 0; i < N; i++) a[i] = i; }
    template <class T> struct S { template <class U> void g(U *a, T n) { for (int i = 0; i < n; i++) a[i] = n; } };
    template <class T> struct S<T *> { void g(int *a, int n) { for (int i = 0; i < n; i++) a[i] = n; } };
    struct P { int x; };
    template <typename... T> void h(int *a, T... t) { for (int i = 0; i < 3; i++) a[i] = i; }
    template <bool B> void k(int *a) { for (int i = 0; i < 3; i++) a[i] = B; }
    void use(float *x, unsigned char *y, int *z, P *p)
    {
        f(x); f<unsigned char, 5>(y); S<int> s; s.g(x, 3); S<int *> t; t.g(z, 2); h(z, 1, 2); k<true>(z);
        struct L { int x; L &operator=(int) { return *this; } } l[3]; f(l);
    }
    """
    functions = [f for _, f in load(text, "--std=c++17", name="case.cpp").program.functions()]
    instances = {f.symbol.label or f.symbol.name: f.instance for f in functions if f.symbol.name != "use"}
    told = {f.symbol.label or f.symbol.name: conditions(f) for f in functions if f.symbol.name != "use"}
    assert told["f<float,3>"] == ("std::is_same<T, float>::value", "N == 3")
    assert told["f<unsigned char,5>"] == ("std::is_same<T, unsigned char>::value", "N == 5")
    assert [v for k, v in told.items() if k.startswith("k<")] == [("B",)]
    assert [v for k, v in instances.items() if k.startswith(("S<", "h<"))] == [None] * 3
    assert all(v is None for k, v in instances.items() if k.startswith("f<L"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("template <typename T, int N = 3> void f();", (("T", ""), ("N", "int"))),
        ("template<class T = std::pair<int, int>, const unsigned  long n> f", (("T", ""), ("n", "unsigned long"))),
        ("template <> void f<int>();", None),
        ("template <typename> void f();", None),
        ("template <typename... T> void f();", None),
        ("template <template <class> class C> void f();", None),
        ("void f();", None),
        ("template <int n", None),
    ],
)
def test_parameters_of_a_template(text: str, found: tuple[tuple[str, str], ...] | None) -> None:
    assert _parameters(text) == found


@pytest.mark.parametrize(
    ("name", "type", "value", "said"),
    [
        ("T", "", "unsigned char", "std::is_same<T, unsigned char>::value"),
        ("T", "", "Point", None),
        ("N", "int", "-3", "N == -3"),
        ("N", "unsigned", "-3", None),
        ("N", "unsigned", "3", "N == 3"),
        ("B", "bool", "1", "B"),
        ("B", "bool", "false", "!B"),
        ("B", "bool", "0", "!B"),
        ("E", "Color", "red", None),
    ],
)
def test_what_is_said_of_a_parameter(name: str, type: str, value: str, said: str | None) -> None:
    assert (TemplateArgument(name, type, value).condition if _can_be_said(type, value) else None) == said


def test_arguments_of_a_label() -> None:
    assert list(_arguments("A<x,B<y>>::f<(1, 2)>")) == ["x,B<y>", "(1, 2)"]
    assert list(_arguments("f")) == [] and list(_arguments("f<x")) == []
    outer = _Template("a.cpp", 0, 9, (("T", ""),))
    inner = _Template("a.cpp", 1, 8, (("N", "int"),))
    found = _instance("A<int>::f<2>", [outer, inner])
    assert found == (TemplateArgument("T", "", "int"), TemplateArgument("N", "int", "2"))
    assert _instance("A<int>::f", [outer, inner]) is None and _instance("operator÷<int>", [outer]) is None
    assert _instance("A<int,3>::f", [outer]) is None
