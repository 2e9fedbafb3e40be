"""What a generated function runs."""

from __future__ import annotations

from msgspec.structs import replace

from tests.emit.examples import lu
from warpsmith.emit.host.cuda import outlined_program
from warpsmith.emit.host.host import CudaWords
from warpsmith.emit.host.outline.model import GuardTest
from warpsmith.emit.host.outline.text import definition
from warpsmith.emit.words import choose_support
from warpsmith.tree.nodes import Literal, Update
from warpsmith.tree.types import INT


def test_the_kernels_and_loops_of_a_function() -> None:
    made = lu()
    begins, runs, ends = outlined_program(made.original, made.ported).functions[0]
    assert (runs.kernels, runs.regions) == (("ws_lu_k1",), ("lu/k/i",))
    assert not begins.kernels and not ends.kernels
    assert begins.begins is not None and runs.takes == ends.takes == (begins.begins,)


def test_what_runs_where_a_guard_fails_stands_below_each_guard() -> None:
    made = lu()
    (_, runs, ends) = outlined_program(made.original, made.ported).functions[0]
    unit, words = made.original.units[0], CudaWords(choose_support(made.original), {})
    zero, one = (Literal(span=runs.place, type=INT, text=text, value=int(text)) for text in "01")
    update = Update(span=runs.place, variable=None, address=None, bytes=None, cause=runs.place, to_device=False)
    guards = (GuardTest(None, "the device"), GuardTest(zero, "zero"), GuardTest(one, "one"))
    function = replace(ends, guards=guards, otherwise=(update,), answers=True, lead=1)
    first, *rest = function.in_order()
    assert first is ends.statements[0] and rest == [update, update, *ends.statements[1:]]
    text = definition(function, unit, words)
    assert text.index("ws_update_host_all") < text.index("// only where one") < text.rindex("ws_update_host_all")
