"""Which compilations go into a program: its own, through archives, each once."""

from __future__ import annotations

from warpsmith.project.model import CompileCommand, LinkCommand, Project


def test_a_target_takes_its_own_compilations_through_archives() -> None:
    def command(file: str, output: str, *arguments: str) -> CompileCommand:
        return CompileCommand(file, "/p", "gcc", arguments, output, "c")

    one, two = command("/p/a.c", "/p/a1.o", "-DONE"), command("/p/a.c", "/p/a2.o", "-DTWO")
    inside, direct = command("/p/k.c", "/p/k.o"), command("/p/m.c", "/p/second")
    project = Project(
        "/p",
        (one, two, inside, direct),
        (
            LinkCommand("/p/libk.a", ("/p/k.o",), "/p", "ar"),
            LinkCommand("/p/first", ("/p/a1.o", "/p/libk.a"), "/p", "gcc"),
            LinkCommand("/p/second", ("/p/m.c", "/p/a2.o"), "/p", "gcc"),
        ),
    )
    assert list(project.target("/p/first")) == [one, inside]
    assert list(project.target("/p/second")) == [two, direct]


def test_archives_that_hold_each_other_end() -> None:
    a = CompileCommand("/p/a.c", "/p", "gcc", (), "/p/a.o", "c")
    links = (
        LinkCommand("/p/one.a", ("/p/two.a", "/p/a.o"), "/p", "ar"),
        LinkCommand("/p/two.a", ("/p/one.a",), "/p", "ar"),
        LinkCommand("/p/prog", ("/p/two.a",), "/p", "gcc"),
    )
    assert list(Project("/p", (a,), links).target("/p/prog")) == [a]
    assert list(Project("/p", (a,), links).target("/p/other")) == []
    assert list(Project("/p", (a,)).target("/p/a.o")) == [a]
