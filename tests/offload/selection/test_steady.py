"""Which values decide what a fragment touches, and which of them move in a scope."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.offload.fragments import Draft, HostUse
from warpsmith.offload.selection.steady import deciding, moving
from warpsmith.tree.nodes import For, Stmt

TEXT = """
void f(int n, int m, int off, double s, double *a, double *p, const int *b)
{
    for (int t = 0; t < m; t++) {
        for (int i = 0; i < n; i++) {
            int at = off + i;
            double y = s * a[i];
            a[at] = y + *p;
            while (a[m] > y) y += b[i];
        }
        off = off + 1;
    }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("steady"))


def draft(*statements: Stmt, uses: tuple[HostUse, ...] = ()) -> Draft:
    return Draft("f/t/i", "nest", statements, (), uses, (), (), ())


def shown(symbols: frozenset[object]) -> str:
    return " ".join(sorted(str(getattr(s, "name", "")) for s in symbols))


def test_what_subscripts_and_bounds_are_made_from_decides(program: Analyzed) -> None:
    loop = program.statement("for (int i")
    # y is compared, and made from b; it is no integer, and s is only computed with
    assert shown(deciding(draft(loop))) == "a at b i m n off p"


def test_only_what_changes_otherwise_than_as_a_counter_moves(program: Analyzed) -> None:
    around, inner = program.statement("for (int t"), program.statement("for (int i")
    assert isinstance(around, For)
    changed = frozenset(program.symbol(word) for word in ("off", "i", "at", "n", "s")) | {around.variable}
    assert shown(moving(draft(inner), (around,), changed)) == "n off"
    assert shown(moving(draft(inner), (around,), frozenset())) == ""
    # of a fragment around the loop the counter is its own
    assert shown(moving(draft(around), (around,), changed)) == "n"


def test_a_cell_that_the_fragment_may_leave_as_it_was_is_not_its_own(program: Analyzed) -> None:
    around = program.statement("for (int t")
    off = program.symbol("off")
    uses = (HostUse(off, "cell", True, True),)
    assert shown(moving(draft(around, uses=uses), (around,), frozenset({off}))) == "off"
    certain = (replace(uses[0], covers=True),)
    assert shown(moving(draft(around, uses=certain), (around,), frozenset({off}))) == ""
