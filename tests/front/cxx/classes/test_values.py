"""Classes that are nothing but their members, and constructors that know only what they are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.conftest import Load, parsed
from tests.front.cxx.test_swaps import _wrong_objects, _wrong_swaps
from warpsmith.front.cxx import constructions as cxx_constructions
from warpsmith.front.cxx.classes import values as cxx_values
from warpsmith.front.cxx.classes.values import is_value, starts_with_constants
from warpsmith.tree.types import INT, VOID, Pointer, Type


def test_seeded_class_with_code_of_its_own(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cxx_values, "_has_its_own", lambda *_: False)
    assert _wrong_swaps(load) == ["std::swap(m, n)", "std::swap(x, y)", "std::swap(g, h)"]


def test_a_constructor_that_makes_only_its_object(load: Load) -> None:
    assert _wrong_objects(load) == []


def test_seeded_constructor_that_is_not_looked_at(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cxx_constructions, "makes_only_its_object", lambda *_: True)
    assert _wrong_objects(load) == ["Counted c(i)", "Told c(i)"]


CLASSES = """
#include <vector>
#include <array>
int seed();
struct Plain { int k; float *p; std::vector<int> v; };
struct Nested { Plain a; double b[2]; };
struct Copied { int k; Copied(const Copied &); };
struct Moved { int k; Moved &operator=(Moved &&); };
struct Dies { int k; ~Dies(); };
struct Virtual { int k; virtual void f(); };
struct Below : Plain { int more; };
struct Holds { std::vector<Plain> v; };
struct Refers { int &r; };
struct Fixed { volatile int k; };
struct Standard { std::array<int, 3> a; };
union Either { int i; float f; };
struct Equal { int k; bool operator==(const Equal &) const; };
struct Starts { int a = 1; int b{-2}; };
struct Runs { int a = seed(); };
struct Deep { Runs r; };
struct Says {
    double x, y;
    inline Says(const Says &v) : x(v.x), y(v.y) {}
    inline ~Says() {}
    inline Says &operator=(const Says &v) { x = v.x; y = v.y; return (*this); }
};
struct Defaults {
    double x;
    Defaults(const Defaults &) = default;
    Defaults(Defaults &&) noexcept = default;
    Defaults &operator=(Defaults const &other) = default;
    ~Defaults() = default;
};
struct Swaps { double x, y; Swaps(const Swaps &v) : x(v.y), y(v.x) {} };
struct Omits { double x, y; Omits(const Omits &v) : x(v.x) {} };
struct Counts { double x; Counts(const Counts &v) : x(v.x) { seed(); } };
struct Sets { double x, y; Sets &operator=(const Sets &v) { x = v.x; x = v.y; return *this; } };
struct Tells { double x; ~Tells() { seed(); } };
"""
VALUES = {
    "Plain": True, "Nested": False, "Copied": False, "Moved": False, "Dies": False, "Virtual": False, "Below": False,
    "Holds": False, "Refers": False, "Fixed": False, "Standard": False, "Either": False, "Equal": True, "Starts": True,
    "Says": True, "Defaults": True, "Swaps": False, "Omits": False, "Counts": False, "Sets": False, "Tells": False,
}  # fmt: skip


def test_classes_whose_objects_are_their_members(tmp_path: Path) -> None:
    uses = "".join(f"{name} &get{name}();\n" for name in [*VALUES, "Runs", "Deep"])
    context = parsed(tmp_path, CLASSES + uses, name="case.cpp").context
    assert context is not None
    made: dict[str, Type] = {}
    for declared in context.dump.declared:
        if declared[1].startswith("get") and declared[2] >= 0:
            result = context.types.of(context.types.result(declared[2]))
            assert isinstance(result, Pointer)
            made[declared[1].removeprefix("get")] = result.to
    assert {name: is_value(context, made[name]) for name in VALUES} == VALUES
    assert [starts_with_constants(context, made[name]) for name in ("Plain", "Starts", "Runs", "Deep")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert is_value(context, INT) and is_value(context, Pointer(INT)) and not is_value(context, VOID)
    assert not is_value(context, Pointer(INT, reference=True)) and starts_with_constants(context, INT)
