"""C texts, planned and explained."""

from __future__ import annotations

import tempfile
from pathlib import Path

from warpsmith.flows.accesses import explain_accesses
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions
from warpsmith.offload.plan import Plan
from warpsmith.report.accesses.model import AccessReport

__all__ = ["PRODUCT", "access_report", "nest_plan"]

PRODUCT = """void mm(int n, double A[n][n], double B[n][n], double C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
}
"""


def nest_plan(text: str) -> Plan:
    """Return the plan of a C text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.c"
        path.write_text(text)
        plan = port([str(path)], PortOptions(verify=False)).plan
    assert plan is not None
    return plan


def access_report(text: str, subject: str) -> AccessReport:
    """Return the access patterns of a loop, by its address."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.c"
        path.write_text(text)
        return explain_accesses(str(path), subject, FrontOptions())
