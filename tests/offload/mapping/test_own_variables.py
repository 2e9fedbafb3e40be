"""Names of a kernel's own variables."""

from __future__ import annotations

from pathlib import Path

from tests.offload.analyzed import analyzed
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.tree.types import INT


def test_names_differ_from_the_users_and_from_each_other(tmp_path: Path) -> None:
    request = analyzed("void f(int n, double *a) { int row = 0; a[row] = n; }", tmp_path).request()
    own = OwnVariables(request, "ws_f_k1")
    made = [own.make(name, INT, None) for name in ("row", "row", "threadIdx", "cuda_at")]
    assert [one.name for one in made] == ["row2", "row3", "threadIdx2", "my_cuda_at"]
    # another kernel may have them as well
    assert OwnVariables(request, "ws_f_k2").make("row", INT, None) != made[0]
