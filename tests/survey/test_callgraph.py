"""A name may mean several functions: which one a call means, and what the loops inside weigh then."""

from __future__ import annotations

from warpsmith.loops.search.effort import FunctionEffort, LoopEffort
from warpsmith.report.port.ranking import weigh
from warpsmith.survey.callgraph import CallGraph, Key


def _calls(key: str, trips: int, *calls: str) -> FunctionEffort:
    return FunctionEffort(key, 1, (), (LoopEffort(-1, trips, True, 1, calls),))


def _graph(*files: tuple[set[int], list[tuple[FunctionEffort, str]]]) -> dict[str, FunctionEffort]:
    """Return the call graph of files: each its programs, and its functions with the file that their loops stand in."""
    graph = CallGraph([frozenset(programs) for programs, _ in files])
    for number, (_, functions) in enumerate(files):
        for effort, file in functions:
            places: tuple[Key, ...] = tuple((file, n, 0) for n, _ in enumerate(effort.loops))
            graph.add(number, effort, places)
    return {effort.key: effort for effort, _ in graph.functions()}


def test_two_programs_with_a_main_each() -> None:
    # the main of a small tool, met first, is not the other program's
    found = _graph(
        ({0}, [(_calls("main", 3), "gen.c")]),
        ({1}, [(_calls("main", 500, "step"), "run.c")]),
        ({1}, [(_calls("step", 10), "step.c")]),
    )
    assert set(found) == {"main", "main#2", "step"}
    weights = weigh(list(found.values()))
    assert weights.own["step", 0] == 5000
    assert weights.inclusive["main", 0] < weights.inclusive["main#2", 0]


def test_a_call_means_the_function_of_its_own_file_then_of_its_program() -> None:
    found = _graph(
        ({0}, [(_calls("main", 1, "part"), "a.c"), (_calls("part", 7), "a.c")]),
        ({1}, [(_calls("main", 1, "part"), "b.c")]),
        ({1}, [(_calls("part", 9), "part.c")]),
    )
    assert found["main"].loops[0].calls == ("part",)
    assert found["main#2"].loops[0].calls == ("part#2",)
    assert found["part#2"].loops[0].trips == 9


def test_what_a_header_gives_to_many_files_is_one_function() -> None:
    shared = (_calls("zero", 5), "zero.h")
    found = _graph(({0}, [shared, (_calls("f", 2, "zero"), "f.c")]), ({1}, [shared, (_calls("g", 3, "zero"), "g.c")]))
    assert set(found) == {"zero", "f", "g"}
    assert weigh(list(found.values())).own["zero", 0] == 5 * (2 + 3)


def test_one_text_in_two_programs_calls_what_each_of_them_has() -> None:
    main = (_calls("main", 4, "step"), "main.c")
    found = _graph(
        ({0}, [main]), ({0}, [(_calls("step", 5), "a.c")]), ({1}, [main]), ({1}, [(_calls("step", 6), "b.c")])
    )
    assert found["main"].loops[0].calls == ("step", "step#2")
    assert weigh(list(found.values())).own["step#2", 0] == 24


def test_without_programs_some_function_of_the_name_is_meant() -> None:
    found = _graph((set(), [(_calls("f", 1, "g"), "f.c")]), (set(), [(_calls("g", 2), "g.c")]))
    assert found["f"].loops[0].calls == ("g",)
