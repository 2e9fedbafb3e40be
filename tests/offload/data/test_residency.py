"""Where data live: how large an offload region is, where a buffer starts, and what has no offload region."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.offload.data import residency
from warpsmith.offload.data.residency import Placement, place
from warpsmith.offload.fragments import OffloadRegion, OffloadRequest
from warpsmith.offload.names import Names
from warpsmith.offload.plan import DeviceBuffer, OffloadOptions
from warpsmith.offload.selection.choice import choose
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions, statement_spans
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import names


class Placed(Struct, frozen=True):
    request: OffloadRequest
    placement: Placement

    @property
    def offload_region(self) -> OffloadRegion:
        (offload_region,) = self.placement.offload_regions
        return offload_region

    def buffer(self, name: str) -> DeviceBuffer:
        return next(b for h in self.placement.offload_regions for b in h.buffers if b.host.name == name)

    @property
    def reasons(self) -> list[str]:
        return [reason.text for _, reason in self.placement.failures]


def placed(text: str, directory: Path, options: OffloadOptions | None = None) -> Placed:
    path = directory / "input.c"
    path.write_text("#include <stdlib.h>\n#include <stdio.h>\n" + text)
    program = load_program([str(path)], FrontOptions()).program
    facts = analyze(program, PolyOptions())
    function = next(f for f in facts.functions if f.function.symbol.name == "f")
    request = OffloadRequest(program, function, options or OffloadOptions(), PolyOptions(), Names(program).scope())
    return Placed(request, place(request, choose(request, {}).drafts))


def lines(statements: object) -> str:
    assert isinstance(statements, tuple)
    return statement_spans(statements).text


def section(buffer: DeviceBuffer) -> str:
    return f"{print_expr(buffer.lower)} .. {print_expr(buffer.upper)}"


def test_a_region_reaches_from_the_first_to_the_last_fragment(tmp_path: Path) -> None:
    text = """void f(double *restrict a, double *restrict b) {
        int n = 100;
        for (int i = 0; i < 100; i++) a[i] = i;
        printf("between\\n");
        for (int i = 0; i < 100; i++) b[i] = a[i];
        printf("%d", n);
    }"""
    found = placed(text, tmp_path)
    assert lines(found.offload_region.scope).startswith("for (int i = 0; i < 100; i++) a[i]")
    assert lines(found.offload_region.scope).endswith("b[i] = a[i];")
    assert section(found.buffer("a")) == "0 .. 100"
    assert lines(found.buffer("b").scope).startswith("for (int i = 0; i < 100; i++) b[i]")


def test_buffers_have_free_names(tmp_path: Path) -> None:
    found = placed("void f(double *a) { int a_gpu = 1; for (int i = 0; i < 9; i++) a[i] = a_gpu; }", tmp_path)
    assert found.buffer("a").symbol.name not in ("a", "a_gpu")
    assert found.buffer("a").symbol.storage == "device"


def test_an_array_declared_inside_is_born_behind_its_declaration(tmp_path: Path) -> None:
    text = """void f(int n, double *restrict a) {
        for (int i = 0; i < n; i++) a[i] = i;
        double t[n];
        for (int i = 0; i < n; i++) t[i] = 2 * a[i];
        for (int i = 0; i < n; i++) a[i] = t[n - 1 - i];
    }"""
    found = placed(text, tmp_path)
    assert len(found.offload_region.drafts) == 3
    assert lines(found.buffer("t").scope).startswith("for (int i = 0; i < n; i++) t[i]")
    assert lines(found.buffer("a").scope).startswith("for (int i = 0; i < n; i++) a[i] = i")


def test_what_a_region_declares_is_not_used_behind_it(tmp_path: Path) -> None:
    text = """void f(int n, double *restrict a) {
        for (int i = 0; i < n; i++) a[i] = i;
        double s = a[0];
        for (int i = 0; i < n; i++) a[i] += 1;
        printf("%g", s);
        printf("end");
    }"""
    found = placed(text, tmp_path)
    assert lines(found.offload_region.scope).endswith('printf("%g", s);')


def test_a_size_that_changes_makes_two_regions(tmp_path: Path) -> None:
    text = """void f(int n, double *a) {
        for (int i = 0; i < n; i++) a[i] = i;
        n = n / 2;
        for (int i = 0; i < n; i++) a[i] += 1;
    }"""
    found = placed(text, tmp_path)
    assert [len(h.drafts) for h in found.placement.offload_regions] == [1, 1]


def test_swapped_pointers_keep_their_data_for_one_kernel_only(tmp_path: Path) -> None:
    text = """void f(int n, int t, double *a, double *b) {
        for (int k = 0; k < t; k++) {
            for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
            double *x = a; a = b; b = x;
        }
    }"""
    found = placed(text, tmp_path)
    assert lines(found.offload_region.scope).startswith("for (int i = 1")
    assert [g.text for g in found.offload_region.guards if g.kind == "guarded"]


def test_two_pointers_need_one_guard(tmp_path: Path) -> None:
    found = placed("void f(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }", tmp_path)
    (guard,) = found.offload_region.guards
    assert guard.condition is not None
    assert "a" in guard.text
    assert "b" in guard.text


def test_distinct_objects_need_no_guard(tmp_path: Path) -> None:
    text = """void f(int n) {
        double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
        for (int i = 0; i < n; i++) a[i] = i;
        for (int i = 0; i < n; i++) b[i] = a[i];
        printf("%g", b[0]);
        free(a); free(b);
    }"""
    assert placed(text, tmp_path).offload_region.guards == ()


@pytest.mark.parametrize("jump", ["if (a[0] > 3) goto out;", 'if (a[0] > 3) { asm goto ("" : : : : out); }'])
def test_no_region_holds_a_jump(jump: str, tmp_path: Path) -> None:
    text = f"""void f(double *a) {{
        for (int i = 0; i < 100; i++) a[i] = i;
        {jump}
        for (int i = 0; i < 100; i++) a[i] += 1;
        out: printf("end");
    }}"""
    found = placed(text, tmp_path)
    assert [len(h.drafts) for h in found.placement.offload_regions] == [1, 1]


def test_a_fragment_in_a_case_without_braces_is_refused(tmp_path: Path) -> None:
    text = """void f(int c, double *a) {
        switch (c) {
        case 1: for (int i = 0; i < 100; i++) a[i] = i; break;
        default: { for (int i = 0; i < 100; i++) a[i] = 2 * i; c = 0; a = 0; }
        }
        a = 0;
    }"""
    found = placed(text, tmp_path)
    assert all("case" in reason or "elsewhere" in reason for reason in found.reasons)


def test_a_loop_that_covers_an_object_is_known_to(tmp_path: Path) -> None:
    found = placed("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = i; }", tmp_path)
    assert {s.name for _, s in found.offload_region.covers} == {"a"}
    text = "double a[9]; void f(int n, int *b) { for (int i = 0; i < n; i++) if (b[i]) a[i] = i; }"
    assert placed(text, tmp_path).offload_region.covers == frozenset()


def test_a_row_a_time_does_not_cover_the_matrix(tmp_path: Path) -> None:
    text = """void f(int m, int n, double *a) {
        for (int k = 0; k < m; k++) {
            printf("%g", a[0]);
            for (int i = 0; i < n; i++) a[k * n + i] = i;
        }
    }"""
    assert placed(text, tmp_path).offload_region.covers == frozenset()


def test_a_size_that_the_device_changes_is_not_trusted(tmp_path: Path) -> None:
    text = """void f(int n, double *a, int *restrict next) {
        for (int i = 0; i < n; i++) a[i] = i;
        for (int k = 0; k < 10; k++) {
            n = next[n];
            for (int i = 0; i < n; i++) a[i] += 1;
        }
    }"""
    found = placed(text, tmp_path)
    for offload_region in found.placement.offload_regions:
        written = {u.symbol for d in offload_region.drafts for u in d.uses if u.kind == "cell" and u.written}
        for buffer in offload_region.buffers:
            assert not written & {n.symbol for bound in (buffer.lower, buffer.upper) for n in names(bound)}
            assert "2147483648" not in section(buffer)


def test_an_index_that_walks_on_has_no_section_but_its_array(tmp_path: Path) -> None:
    text = """void f(int n, double *restrict a, double *restrict b) {
        int at = 0;
        for (int k = 0; k < n; k++) {
            for (int i = 0; i < n; i++) b[i] += a[at + i];
            at = at + 3;
        }
    }"""
    for offload_region in placed(text, tmp_path).placement.offload_regions:
        assert all("2147483648" not in section(buffer) for buffer in offload_region.buffers)


LOOPS = 40


def _many(change: int) -> str:
    """Return loops over what `p` points to, which points elsewhere from the loop `change` on."""
    parts = [f"    for (int i = 0; i < n; i++) p[i] += {k};" for k in range(LOOPS)]
    parts.insert(change, "    p = q;")
    return "void f(double *p, double *q, int n) {\n" + "\n".join(parts) + "\n}"


@pytest.mark.parametrize("change", [1, 13, LOOPS - 1])
def test_as_many_fragments_as_go_together_are_found_in_few_attempts(
    change: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    real = vars(residency)["_Search"].offload_region

    def counted(search: object, scope: object, drafts: tuple[object, ...]) -> object:
        tried.append(len(drafts))
        return real(search, scope, drafts)

    monkeypatch.setattr(vars(residency)["_Search"], "offload_region", counted)
    offload_regions = placed(_many(change), tmp_path).placement.offload_regions
    assert [len(offload_region.drafts) for offload_region in offload_regions] == [change, LOOPS - change]
    assert len(tried) <= 16


def test_questions_that_spend_their_budget_leave_the_rest_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    real = vars(residency)["_Search"].offload_region

    def spent(search: object, scope: object, drafts: tuple[object, ...]) -> object:
        tried.append(len(drafts))
        if len(drafts) > 1:
            vars(search)["finder"].given_up += 1
            return vars(residency)["_report_given_up"](vars(search)["request"].facts.function.body)
        return real(search, scope, drafts)

    monkeypatch.setattr(vars(residency)["_Search"], "offload_region", spent)
    offload_regions = placed(_many(13), tmp_path).placement.offload_regions
    assert [len(offload_region.drafts) for offload_region in offload_regions] == [1] * LOOPS
    most = vars(residency)["_MOST_GIVEN_UP"]
    assert most <= sum(count > 1 for count in tried) <= 2 * most


def test_fragments_that_are_too_much_to_read_are_not_tried_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "void f(double *p, int n) {" + "for (int i = 0; i < n; i++) p[i] += 1;\n" * 8 + "}"
    assert [len(r.drafts) for r in placed(text, tmp_path).placement.offload_regions] == [8]
    assert not placed(text, tmp_path).placement.cut
    monkeypatch.setattr(residency, "_MOST_READ", 60)
    placement = placed(text, tmp_path).placement
    counts = [len(r.drafts) for r in placement.offload_regions]
    assert placement.cut and sum(counts) == 8 and len(counts) > 1 and not placement.failures


_STAGES = """void f(int n, int k, double *restrict a, double *restrict b) {
    for (int t = 0; t < 9; t++) {
        for (int i = 0; i < n; i++) b[i] = a[i];
        for (int i = 0; i < n; i++) a[i] = b[i] + 1;
    }
    switch (k) {
    case 1:
        for (int i = 0; i < n; i++) a[i] = 0;
        for (int i = 0; i < n; i++) b[i] = 0;
        break;
    }
}"""


def test_per_call_each_fragment_has_a_region_of_its_own(tmp_path: Path) -> None:
    found = placed(_STAGES, tmp_path, OffloadOptions(data="per-call"))
    assert len(found.placement.offload_regions) == 4 and not found.placement.cut
    assert all(
        len(one.drafts) == 1 and one.scope == one.drafts[0].statements for one in found.placement.offload_regions
    )
    assert len(placed(_STAGES, tmp_path).placement.offload_regions) < 4


def test_per_call_a_pointer_that_a_loop_declares_is_in_reach(tmp_path: Path) -> None:
    text = """void f(int n, double *restrict a) {
    for (int t = 0; t < 3; t++) {
        double *b = a + t;
        for (int i = 0; i < n; i++) b[i] = 1;
        for (int i = 0; i < n; i++) b[i] += 2;
    }
}"""
    found = placed(text, tmp_path, OffloadOptions(data="per-call"))
    assert [len(one.drafts) for one in found.placement.offload_regions] == [1, 1] and not found.reasons
