"""What a program of IL must hold as a whole."""

from __future__ import annotations

import pytest

from tests.front.il.test_read import HEAD, wrong

RESOURCE = "dcl_resource_id(0)_type(1d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
END = "endmain\nend\n"
COMPUTE = "il_cs_2_0\ndcl_num_thread_per_group 64\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEAD + "dcl_output_generic o0\nmov o0, v0.x\n", 4, "o0 is declared twice"),
        (HEAD + "mov o1, v0.x\n", 4, "o1 is not declared"),
        (HEAD + "mov o0, l0\n", 4, "l0 is not declared: there is none"),
        (HEAD + "mov x0[1], v0.x\n", 4, "x0 is not declared"),
        (HEAD + "dcl_indexed_temp_array x0[2]\nmov o0, x0[2]\n", 5, "x0[2] is beyond the end: it has 2 registers"),
        (HEAD + "mov o0, cb0[0]\n", 4, "cb0 is not declared"),
        (HEAD + "dcl_cb cb0[2]\nmov o0, cb0[2]\n", 5, "cb0[2] is beyond the end: it has 2 registers"),
        (HEAD + "sample_resource(0)_sampler(0) o0, v0.x\n", 4, "resource 0 is not declared"),
        (HEAD + "mov o0, v0.z\n", 4, "v0.z is not declared"),
        (HEAD + "mov o0, v1.x\n", 4, "v1 is not declared"),
        (HEAD + "mov g[0], v0.x\n", 4, "a pixel shader has no g"),
        (HEAD + "mov o0, vAbsTid.x\n", 4, "a pixel shader has no vAbsTid"),
        (HEAD + "dcl_num_thread_per_group 4\nmov o0, v0.x\n", 4, "a pixel shader has no groups of threads"),
        (COMPUTE + "dcl_output_generic o0\nmov o0, r0\n", 3, "a compute shader has no o0"),
        ("il_cs_2_0\nmov g[0], vAbsTid\n", 2, "nothing says how many threads a group has"),
        (HEAD + "dcl_raw_uav_id(0)\nmov o0, v0.x\n", 4, "a pixel shader has no unordered access views"),
        (COMPUTE + "uav_raw_load_id(2) r0, r1.x\n", 3, "uav 2 is not declared"),
        (COMPUTE + "dcl_raw_uav_id(0)\ndcl_raw_uav_id(0)\n", 4, "uav 0 is declared twice"),
        (COMPUTE + "dcl_max_thread_per_group 64\n", 3, "the size of a group is declared twice"),
        (COMPUTE + "lds_store_id(1) r0.x, r1.x\n", 3, "lds 1 is not declared"),
        (COMPUTE + "lds_read_add_id(1) r2.x, r0.x, r1.x\n", 3, "lds 1 is not declared"),
        (HEAD + "else\n", 4, "else closes nothing that is open"),
        (HEAD + "if_logicalnz v0.x\nendloop\nendif\n", 5, "endloop closes the if_logicalnz that is open"),
        (HEAD + "if_logicalnz v0.x\nelse\nelse\nendif\n", 6, "else closes the if_logicalnz that is open"),
        (HEAD + "whileloop\n", 4, "whileloop is not closed"),
        (HEAD + "if_logicalnz v0.x\nbreak\nendif\n", 5, "break stands in no loop"),
        (HEAD + "continue_logicalz v0.x\n", 4, "continue_logicalz stands in no loop"),
    ],
)
def test_what_does_not_fit_together_is_told_with_its_line(text: str, line: int, message: str) -> None:
    assert (line, message) in [(one[0], one[2]) for one in wrong(text + END)]


def test_only_components_that_count_must_be_declared() -> None:
    from tests.front.il.running import parse

    assert parse(HEAD + RESOURCE + "mov o0.xy__, v0\nsample_resource(0)_sampler(0) r0, v0\n" + END)
    assert parse(HEAD + "if_logicalnz v0.x\nwhileloop\nbreak\nendloop\nelse\nendif\n" + END)
