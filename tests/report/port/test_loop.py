"""One loop explained: every reason with its dependence, what is assumed, an example."""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.base.source import SourceFile, Span
from warpsmith.base.verdict import Dependence, Reason
from warpsmith.report.model import LoopEntry
from warpsmith.report.port.loop import loop_text

FILE = SourceFile("a.c", "for (i)\n    a[i] = a[i - 1];\n")
HEAD, WRITE, READ = Span(FILE, 0, 7), Span(FILE, 12, 16), Span(FILE, 19, 27)
LOOP = LoopEntry("f/i", HEAD, "f", "i", "for i", 2, "sequential", False, None, (), ())


def reason(kind: str = "flow", distance: tuple[int | None, ...] = (1,), carried: str | None = "i") -> Reason:
    pair = Dependence(kind, "a", WRITE, READ, distance, ("<",), carried, "n = 3")  # type: ignore[arg-type]
    return Reason("POR003", "carries a dependence", None, pair, legal_if=("do it",))


def said(*reasons: Reason, **more: object) -> list[str]:
    return loop_text(replace(LOOP, reasons=reasons, **more)).split("\n")


def test_the_head() -> None:
    assert said() == ["a.c:1:1: loop f/i (for i), depth 2: sequential"]


def test_a_reason_without_a_dependence_stands_at_its_place_or_at_the_loop() -> None:
    assert any("a.c:1" in line for line in said(Reason("POR006", "calls g", None))[1:])
    assert any("a.c:2" in line for line in said(Reason("POR006", "calls g", WRITE)))


def test_a_dependence_says_who_comes_first() -> None:
    flow, anti, output = ("\n".join(said(reason(kind))) for kind in ("flow", "anti", "output"))
    assert "read here, in a later iteration" in flow and "written here, in a later iteration" in anti
    assert "written again here, in a later iteration" in output
    assert "   = flow dependence of a: distance (1), direction (<), carried by i" in flow
    assert "   = witness: n = 3" in flow and "do it" in flow
    none = "\n".join(said(reason(distance=(None, 2), carried=None)))
    assert "distance (varies, 2)" in none and "carried by no loop" in none


def test_what_it_rests_on() -> None:
    lines = said(assumptions=(("n > 0", "guarded"), ("m > 0", "granted")), holds_at={"n": 3})
    assert lines[1:] == [
        "   = assumes: n > 0 (tested at run time; the original loop runs where it fails)",
        "   = assumes: m > 0 (you asserted it)",
        "   = holds, for example, for n = 3",
    ]
