"""The report on a whole comparison: the tolerance, the switch of a port, the kernels that ran."""

from __future__ import annotations

import pytest

from warpsmith.emit.files import OutputFile
from warpsmith.run.verification import EQUAL, Sources, Verification, is_made_for, joint_tolerance


def test_two_comparisons_together_allowed_what_the_more_generous_one_did() -> None:
    nothing, identical, equal, where_compared = EQUAL
    assert joint_tolerance(nothing, identical) == joint_tolerance(identical, nothing) == identical
    assert joint_tolerance(identical, "") == identical
    assert joint_tolerance(identical, "16 ulp") == joint_tolerance("16 ulp", identical) == "16 ulp"
    assert joint_tolerance(identical, equal) == equal
    assert joint_tolerance(where_compared, equal) == where_compared


@pytest.mark.parametrize(
    ("text", "arguments", "off"),
    [
        ("#ifdef WARPSMITH\n#endif\n", (), True),
        ("# if defined(WARPSMITH)\n#endif\n", ("-DN=3",), True),
        ("#ifdef WARPSMITH\n#endif\n", ("-DWARPSMITH",), False),
        ("#ifdef WARPSMITH\n#endif\n", ("-D", "WARPSMITH=1"), False),
        ("#ifdef WARPSMITH_OFF\n#endif\n", (), False),
        ("/* WARPSMITH */\n", (), False),
    ],
)
def test_a_port_in_the_users_files_is_on_where_its_macro_is_defined(
    text: str, arguments: tuple[str, ...], off: bool
) -> None:
    files = (OutputFile("a.c", text),)
    assert Sources(files, arguments).is_switched_off() == off
    assert Sources(files, own={"a.c": arguments}).is_switched_off() == off


def test_launches_are_those_of_a_kernel_and_of_what_finishes_it() -> None:
    verdict = Verification("pass", launches={"ws_f_k1_kernel": 2, "ws_f_k1_finish": 2, "ws_f_k10_kernel": 5})
    assert [verdict.launches_of(name) for name in ("ws_f_k1", "ws_f_k10", "ws_f_k2")] == [4, 5, 0]
    assert is_made_for("k", "k") and not is_made_for("k", "kk")


def test_a_program_that_calls_openmp_without_its_header_is_compiled_for_it() -> None:
    for text, uses in (
        ("#include <omp.h>\n", True),
        ("int main(void) { return omp_get_num_threads() - 1; }\n", True),
        ("int omp_count; int comp_get_x(int); int main(void) { return comp_get_x(omp_count); }\n", False),
    ):
        assert Sources((OutputFile("a.c", text),)).uses_openmp() == uses
