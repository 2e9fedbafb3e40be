"""What a port says of kernels that the printed tables have mapped."""

from __future__ import annotations

from msgspec.structs import replace

from tests.flows.nests import nest_plan
from warpsmith.offload.plan import CostEstimate, PrintedMistake
from warpsmith.report.mappings.printed import print_json, printed_text
from warpsmith.report.port.build import kernel_entries


def test_a_kernel_has_a_row_where_the_tables_chose_it() -> None:
    plan = nest_plan("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 1; }")
    (plain,) = kernel_entries(plan)
    assert printed_text((plain,)) == "" and plain.model is not None and print_json(plain.model) == {}
    mistake = PrintedMistake("B[j]", "t32", 1.0, 0.0625)
    mapped = replace(plain, model=CostEstimate(6.0, 0.25, (), printed=1.5, mistakes=(mistake,)))
    text = printed_text((plain, mapped))
    assert text.startswith("tables\n") and text.count(mapped.name) == 1
    assert "1.5 lines a thread as printed, 0.25 by the formula" in text
    assert "wrong of B[j]: 1 by t32, 0.0625 is right" in " ".join(text.split())
    assert mapped.model is not None
    assert print_json(mapped.model)["mistakes"] == [
        {"reference": "B[j]", "entry": "t32", "lines_per_thread": 1.0, "right": 0.0625}
    ]
