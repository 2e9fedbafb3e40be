"""Report entries have no part of the IR in them."""

from __future__ import annotations

from tests.analysis.test_kernel import ROW, told
from warpsmith.report.analysis.model import access_entry, branch_entry, kernel_entry

BODY = """
  %o:i64 = smulwide %x 128:i32
  %p:i64 = add %a %o
  %v:i32 = load [global +0 align 4] %p
  %c:i1 = slt %x 3:i32
  branch %c yes no
yes:
  jump no
no:
  %d:i1 = slt %n 3:i32
  branch %d this that
this:
  jump that
that:
  %e:i1 = slt %b 3:i32
  branch %e last done
last:
  jump done
done:"""


def test_entries_have_what_the_facts_say() -> None:
    facts = told(BODY, ROW)
    kernel = kernel_entry(facts, "k.cu", "k(int)")
    assert (kernel.input, kernel.name, kernel.symbol, kernel.device) == ("k.cu", "k(int)", "k", facts.device.name)
    assert (kernel.block, kernel.grid, kernel.branches, kernel.divergent_branches) == ((256, 1, 1), None, 3, 1)
    (access,) = (access_entry(fact, "k.cu", "k(int)") for fact in facts.accesses)
    assert (access.variable, access.stride_bytes, access.kind, access.kernel) == ("a", 128, "load", "k(int)")
    first, second, _ = (branch_entry(fact, "k.cu", "k(int)") for fact in facts.branches)
    assert (first.warp, second.warp) == ("divergent", "uniform")
    # names of values are put in the user's words
    assert [text for text, _ in first.why][:2] == ["`c`", "`x`"] and second.why == ()
