"""Functions that a whole program never calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.flows.port import PortOptions, port
from warpsmith.offload.uncalled import never_called

_F = "int a[64];\nvoid f(void) { for (int i = 0; i < 64; i++) a[i] = i; }\n"
_REST = "void g(void) { for (int i = 0; i < 64; i++) a[i] += 1; }\n"


@pytest.mark.parametrize(
    ("rest", "dead"),
    [
        ("int main(void) { return a[1]; }", True),
        ("int main(void) { f(); return a[1]; }", False),
        # who calls it is called from nowhere either
        ("void h(void) { f(); } int main(void) { return a[1]; }", True),
        ("void h(void) { f(); } int main(void) { h(); return a[1]; }", False),
        # its address is at hand
        ("void (*p)(void) = f; int main(void) { p(); return a[1]; }", False),
        ("struct t { void (*p)(void); } list[] = {{f}}; int main(void) { list[0].p(); return a[1]; }", False),
        ("int main(void) { void (*p)(void) = &f; p(); return a[1]; }", False),
        ("#define CALL f()\nint main(void) { CALL; return a[1]; }", False),
        # the loader calls what is marked
        ("void f(void) __attribute__((constructor)); int main(void) { return a[1]; }", False),
        # no whole program: who links it may call it
        ("void h(void) { }", False),
    ],
)
def test_what_main_may_lead_to_is_called(rest: str, dead: bool, tmp_path: Path) -> None:
    program = load(_F + rest + "\n", tmp_path)
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    assert (never_called(program, function) is not None) == dead


def _ported(tmp_path: Path, loops: tuple[str, ...] = ()) -> set[str]:
    path = tmp_path / "input.c"
    path.write_text(_F + _REST + "int main(void) { g(); return a[3]; }\n")
    done = port([str(path)], PortOptions(loops=loops, verify=False))
    assert done.plan is not None
    return {fragment.function.symbol.name for fragment in done.plan.fragments}


def test_loops_that_never_run_stay(tmp_path: Path) -> None:
    assert _ported(tmp_path) == {"g"}


def test_such_a_loop_goes_where_it_is_asked_for(tmp_path: Path) -> None:
    assert _ported(tmp_path, ("f/i",)) == {"f"}


def test_in_cxx_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "input.cpp"
    path.write_text(_F + _REST + "int main() { g(); return a[3]; }\n")
    done = port([str(path)], PortOptions(verify=False))
    assert done.plan is not None
    assert {fragment.function.symbol.name for fragment in done.plan.fragments} == {"f", "g"}
