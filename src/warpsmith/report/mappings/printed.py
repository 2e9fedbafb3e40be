"""What the printed tables say of the kernels of a port that they have mapped, and where their entries are wrong.

tables
  ws_f_k1  0.5 lines a thread; the table is wrong of B[j]: 1 by t32, 0.0625 is right
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpsmith.base.source import readable
from warpsmith.offload.plan import CostEstimate
from warpsmith.report.json_parts import Json
from warpsmith.report.model import KernelEntry
from warpsmith.report.table import table_text

__all__ = ["print_json", "printed_text"]


def printed_text(kernels: Sequence[KernelEntry]) -> str:
    """Return the lines about kernels that the tables have mapped, "" where there are none."""
    rows = [*_rows(kernels)]
    return "tables\n" + table_text(rows) if rows else ""


def _rows(kernels: Sequence[KernelEntry]) -> Iterator[tuple[str, str]]:
    for kernel in kernels:
        model = kernel.model
        if model is not None and model.printed is not None:
            said = [f"{model.printed:.3g} lines a thread as printed, {model.lines_per_thread:.3g} by the formula"]
            said += [
                f"wrong of {readable(one.reference)}: {one.lines:.3g} by {one.entry}, {one.right:.3g} is right"
                for one in model.mistakes
            ]
            yield kernel.name, "; ".join(said)


def print_json(model: CostEstimate) -> Json:
    """Return what the tables say of a kernel's mapping, nothing where they have not chosen it."""
    if model.printed is None:
        return {}
    return {
        "printed_lines_per_thread": model.printed,
        "mistakes": [
            {
                "reference": readable(one.reference),
                "entry": one.entry,
                "lines_per_thread": one.lines,
                "right": one.right,
            }
            for one in model.mistakes
        ],
    }
