"""Which allocations give memory that host and device share, what keeps a program from it, and what is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.emit.host.cuda import emit_cuda
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.offload.memory.given import (
    no_managed_memory,
    ordinary_findings,
    possible_data,
    program_with,
    resident_alone,
)
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.memory.given import MANAGED as SHARED
from warpsmith.tree.memory.given import PINNED, is_managed
from warpsmith.tree.nodes import Name
from warpsmith.tree.walk import walk

MANAGED = OffloadOptions(data="managed")
TEXT = """#include <stdlib.h>
#define NEW(n) malloc((n) * sizeof(double))
typedef struct { double *x; int n; } S;
static double table[9];
void *alloc(size_t n) { void *r = 0; return posix_memalign(&r, 4096, n) ? 0 : r; }
double *f(int n, void *(*give)(size_t))
{
    double *a = malloc(8 * n), *b = NEW(n), *c;
    double local[4] = {0};
    c = (double *)calloc(n, 8);
    S s = { aligned_alloc(64, 640), n };
    if (!(c = realloc(c, 100)))
        return give(n);
    give = malloc;
    free(b);
    return local[0] + table[0] > 0 ? a : s.x;
}
"""


def test_calls_in_the_text_give_shared_memory(tmp_path: Path) -> None:
    program = analyzed(TEXT, tmp_path).program
    changed = program_with(program, SHARED)
    names = {p.symbol.name for _, f in changed.functions() for p in walk(f) if is_managed(p) and isinstance(p, Name)}
    assert names == {f"ws_managed_{name}" for name in SHARED}
    text = next(file.text for file in emit_cuda(program, changed) if file.path.endswith(".c"))
    kept = TEXT
    for word in ("posix_memalign(&r", "malloc(8", "calloc(n", "aligned_alloc(64", "realloc(c"):
        kept = kept.replace(word, f"ws_managed_{word}")
    assert text.replace('#include "input_kernels.h"\n', "") == kept, "not a byte more is changed"


def test_what_is_copied_all_the_same_is_told(tmp_path: Path) -> None:
    found = analyzed(TEXT, tmp_path)
    function = found.function()
    names = ("a", "local", "table", "local")
    hosts = [(function, found.symbol(name)) for name in names]
    told = [finding.message for finding in ordinary_findings(program_with(found.program, SHARED), hosts, shared=True)]
    assert [text.split(":")[0] for text in told] == [
        "'local' is copied", "'table' is copied", "what this malloc gives is copied",
    ]  # fmt: skip
    assert "an array on the stack" in told[0] and "a static array" in told[1] and "in a macro" in told[2]


def test_what_is_not_page_locked_is_told(tmp_path: Path) -> None:
    found = analyzed(TEXT, tmp_path)
    hosts = [(found.function(), found.symbol(name)) for name in ("a", "local", "table")]
    told = [one.message for one in ordinary_findings(program_with(found.program, PINNED), hosts, shared=False)]
    assert told == [
        "'local' is not page-locked: it is an array on the stack, and only static memory and the heap's is",
        "what this malloc gives is not page-locked: the call stands in a macro, or in another file's text",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#include <unistd.h>\nint f(void) { return fork(); }", "fork starts a process"),
        ("#include <malloc.h>\nunsigned long f(void *p) { return malloc_usable_size(p); }", "malloc_usable_size looks"),
        ("void *malloc(unsigned long n) { return (void *)n; }\nvoid f(void) {}", "has a 'malloc' of its own"),
        ("void *ws_managed_malloc(unsigned long n);\nvoid f(void) { ws_managed_malloc(3); }", "already"),
    ],
)
def test_programs_that_can_share_nothing(text: str, said: str, tmp_path: Path) -> None:
    program = analyzed(text, tmp_path).program
    summaries = Summaries.of(program)
    reason = no_managed_memory(program, summaries)
    assert reason is not None and said in reason.text
    options, (finding,) = possible_data(program, summaries, MANAGED)
    assert options.data == "resident" and finding.rule == "POR020" and finding.severity == "warning"
    assert said in finding.message
    assert possible_data(program, summaries, OffloadOptions()) == (OffloadOptions(), ())
    pinned, _ = possible_data(program, summaries, OffloadOptions(pinned=True, overlap=True))
    assert not pinned.pinned and not pinned.overlap


def test_a_function_of_that_name_is_none_of_the_librarys(tmp_path: Path) -> None:
    program = analyzed("static int fork(void) { return 3; }\nint f(void) { return fork(); }", tmp_path).program
    assert no_managed_memory(program, Summaries.of(program)) is None


def test_all_data_are_entered(tmp_path: Path) -> None:
    found = analyzed(TEXT, tmp_path)
    summaries = Summaries.of(found.program)
    resident = resident_alone(found.function(), summaries, MANAGED)
    assert resident is not None and not resident.held and not resident.keeps(found.function(), found.symbol("local"))
    assert resident_alone(found.function(), summaries, OffloadOptions()) is None


def test_names_of_cxx_are_the_same_functions(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    text = "#include <cstdlib>\nint *f(int n) { return (int *)(n ? std::malloc(n) : ::calloc(n, 4)); }\n"
    path.write_text(text)
    program = load_program([str(path)], FrontOptions()).program
    changed = next(file.text for file in emit_cuda(program, program_with(program, SHARED)))
    written = changed.replace('#include "a_kernels.h"\n', "")
    assert written == text.replace("std::malloc", "ws_managed_malloc").replace("::calloc", "ws_managed_calloc")
