"""Copies of a port as text: a few one by one, many as a row for arrays that are copied alike."""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.base.source import SourceFile, Span
from warpsmith.offload.plan import Transfer
from warpsmith.report.port.copies import FEW, copies_text

_CAUSE = Span(SourceFile("heat.c", "for (;;)\n    step();\n"), 13, 20)


def _copy(variable: str, *, to_device: bool, in_loop: str | None = None, bytes: str = "n * sizeof(float)") -> Transfer:
    return Transfer(variable, to_device, f"{variable}[0:n]", bytes, in_loop, _CAUSE)


def test_a_few_copies_are_told_one_by_one() -> None:
    text = copies_text([_copy(f"a{n}", to_device=True) for n in range(FEW)])
    assert text.count("to the device") == text.count("for line 2") == FEW


def test_many_copies_are_a_row_for_arrays_that_are_copied_alike() -> None:
    guarded = "(n >= 1 && m >= 1 ? n * m - 1 : 0) * sizeof(double)"
    both = [_copy(name, to_device=way, bytes=guarded) for name in ("u", "v") for way in (True, False)]
    once = [_copy(f"a{n}", to_device=True, bytes="(n < 2 ? 0 : n) * sizeof(float)") for n in range(7)]
    inside = [_copy("sum", to_device=False, in_loop="heat/t", bytes="sizeof(float)")]
    head, columns, *rows = copies_text([*both, *once, *inside]).splitlines()
    assert head == "copies  9 to the device, 3 back to the host; --timeline - shows each"
    assert columns.split("  ")[1:2] == ["array"]
    assert [" ".join(row.split()) for row in rows] == [
        "sum - 1 per heat/t sizeof(float)",
        "u, v 1 1 (n * m - 1) * sizeof(double)",
        "a0, a1, a2, a3, a4, a5 and 1 more 1 - (n < 2 ? 0 : n) * sizeof(float)",
    ]


def test_a_copy_that_data_regions_make_needless_is_not_one_in_the_loop() -> None:
    held = [Transfer(f"a{n}", True, "a", "8 * n", "heat/t", _CAUSE, held=True) for n in range(FEW + 1)]
    assert "per heat/t" not in copies_text(held)


def test_what_copies_go_on_beside_and_why_some_do_not() -> None:
    beside = replace(_copy("u", to_device=True), beside=("the kernel of line 1", "host code of line 2"))
    waits = [replace(_copy(f"w{n}", to_device=False), waits="the kernel of line 1 writes it") for n in range(FEW)]
    few = " ".join(copies_text([beside, waits[0]]).split())
    assert "for line 2, beside the kernel of line 1, host code of line 2" in few
    assert "for line 2, beside nothing: the kernel of line 1 writes it" in few
    many = copies_text([beside, *waits])
    assert many.startswith("copies  1 to the device, 8 back to the host; 1 beside other work; --timeline - shows each")
    assert (
        "beside nothing: w0 back, w1 back, w2 back, w3 back, w4 back, w5 back: the kernel of line 1 writes it" in many
    )


def test_what_does_not_fit_is_counted() -> None:
    text = copies_text([_copy(f"a{n}", to_device=True, bytes=f"{n} * n") for n in range(40)])
    assert "… and 28 more that are copied otherwise" in text
    assert len(text.splitlines()) < 20


def test_arrays_that_the_host_may_share_are_named_apart() -> None:
    shared = [replace(_copy(name, to_device=way), unless_shared=True) for name in ("u", "v") for way in (True, False)]
    text = copies_text([*shared, _copy("w", to_device=True)])
    assert text.splitlines()[:2] == [
        "shared  u, v: nothing is copied of what the program's own malloc, calloc or the like gave",
        "copies",
    ]
    assert "w to the device" in text and "u to the device" not in text
    assert copies_text(shared).count("\n") == 0
