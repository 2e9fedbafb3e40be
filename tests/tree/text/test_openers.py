"""Private members that are named from outside: where what opens them stands, and that C++ takes it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import Edit, SourceFile, Span
from warpsmith.tree.text.openers import Opener, opener_insertions

CLASS = "class Box { public: explicit Box(int n) : n_(n) {} private: int n_; };\n"
USER = """\
#include <cstdio>
namespace a { namespace {
%s} }
namespace a {
template <typename T>
T read(const Box &box)
{
    return T(HERE);
}
struct Reader { int read(const Box *box) { { return HERE; } } };
}
int main()
{
    a::Box box(7);
    a::Reader reader;
    std::printf("%%d %%d", a::read<int>(box), reader.read(&box));
}
"""


def _opened(text: str, opener: Opener) -> str:
    """Return the text with the private member in place of every HERE."""
    file = SourceFile("case.cpp", text)
    edits: list[Edit] = []
    position = text.find("HERE")
    while position >= 0:
        arrow = bool(edits)
        reached = opener.reach_member("box", arrow=arrow)
        edits.append(Edit(Span(file, position, position + 4), reached))
        position = text.find("HERE", position + 4)
    for place, lines in [*opener_insertions(file, edits, [opener])]:
        edits.append(Edit(Span(file, place, place), "".join(f"{line}\n" for line in lines)))
    for edit in sorted(edits, key=lambda e: -e.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def _output(text: str, folder: Path) -> str:
    source = folder / "case.cpp"
    source.write_text(text)
    command = ["g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", str(source), "-o", str(folder / "case")]
    subprocess.run(command, check=True, capture_output=True)
    return subprocess.run([str(folder / "case")], check=True, capture_output=True, text=True).stdout


def test_the_compiler_lets_it_through(tmp_path: Path) -> None:
    opener = Opener("a::Box", "int (a::Box::*type)", "n_")
    made = _opened(USER % CLASS, opener)
    assert made.count(f"struct {opener.name} ") == 1, "both users are in one namespace"
    assert _output(made, tmp_path) == "7 7"
    with pytest.raises(subprocess.CalledProcessError):
        _output((USER % CLASS).replace("HERE", "box.n_", 1).replace("HERE", "box->n_"), tmp_path)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("int a;\nint f()\n{ return HERE; }\n", "int f()"),
        ("int a; // it\ntemplate <typename T>\nT f()\n{ return HERE; }\n", "template"),
        ("#include <vector>\nint f() { return HERE; }\n", "int f"),
        ("namespace n {\nstruct S {\n  int f() { return HERE; }\n};\n}\n", "struct S"),
        ("struct S {\n  S() : a{1}\n  { a = HERE; }\n  int a;\n};\n", "struct S"),
        ("int g = 1;\nS::S() : a{1}\n{ a = HERE; }\n", "S::S"),
        ("int g = 1;\nint f(V v = {})\n{ return HERE; }\n", "int f"),
    ],
)
def test_it_stands_before_the_function(text: str, before: str) -> None:
    file = SourceFile("case.cpp", text)
    at = text.index("HERE")
    opener = Opener("Box", "int (Box::*type)", "n_")
    ((place, _),) = opener_insertions(
        file, [Edit(Span(file, at, at + 4), opener.reach_member("b", arrow=False))], [opener]
    )
    assert text[place:].startswith(before)


@pytest.mark.parametrize("text", ["int a; int f() { return HERE; }\n", "namespace n { int f() { return HERE; } }\n"])
def test_without_a_line_it_is_refused(text: str) -> None:
    file = SourceFile("case.cpp", text)
    at = text.index("HERE")
    opener = Opener("Box", "int (Box::*type)", "n_")
    with pytest.raises(RefusedError):
        list(opener_insertions(file, [Edit(Span(file, at, at + 4), opener.reach_member("b", arrow=False))], [opener]))


def test_a_class_that_comes_later_is_refused() -> None:
    text = f"int f() {{ return HERE; }}\n{CLASS}"
    file = SourceFile("case.cpp", text)
    at, start = text.index("HERE"), text.index("class")
    opener = Opener("Box", "int (Box::*type)", "n_", Span(file, start, len(text)))
    with pytest.raises(RefusedError):
        list(opener_insertions(file, [Edit(Span(file, at, at + 4), opener.reach_member("b", arrow=False))], [opener]))
