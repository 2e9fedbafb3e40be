"""Which elements the threads of a kernel keep in variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from tests.offload.hand import build_all
from warpsmith.base.verdict import Proved
from warpsmith.offload.mapping import registers
from warpsmith.tree.printing.printer import print_stmt

HEAD = (
    "void f(int n, int m, double C[restrict n][m], double A[restrict n][m], double *restrict s,"
    " const int *restrict p)\n"
)


def bodies(text: str, folder: Path, head: str = HEAD) -> list[str]:
    """Return the text of each kernel's body."""
    program = analyzed(f"{head}{{\n{text}\n}}\n", folder)
    built = build_all(program.request(), program.choice())
    return [" ".join(print_stmt(one.fragment.kernel.body).split()) for one in built.values()]


def test_a_product_is_summed_up_in_a_register(tmp_path: Path) -> None:
    (body,) = bodies(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"
        " C[i][j] = 0; for (int k = 0; k < m; k++) C[i][j] += A[i][k] * s[p[k]]; }",
        tmp_path,
    )
    assert "double C_value = 0; for (" in body and "C_value += " in body
    assert body.count("C_gpu[") == 1 and body.endswith("= C_value; }")


def test_a_loop_that_may_do_nothing_is_guarded(tmp_path: Path) -> None:
    (body,) = bodies("for (int i = 0; i < n; i++) for (int k = p[i]; k < p[i + 1]; k++) C[i][0] += s[k];", tmp_path)
    assert body.startswith("if (p_gpu[i] < p_gpu[i + 1]) { double C_value = C_gpu[")


def test_guards_of_the_launch_tell_names_apart(tmp_path: Path) -> None:
    head = "void f(int n, int m, double *C, double *A, double *B)\n"
    text = "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) C[i] += A[k] * B[i];"
    (body,) = bodies(text, tmp_path, head)
    assert "double C_value = C_gpu[i];" in body


def test_what_threads_update_together_stays(tmp_path: Path) -> None:
    (body,) = bodies("for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) s[p[i]] += A[i][k];", tmp_path)
    assert "atomicAdd(&s_gpu[p_gpu[i]]" in body and "_value" not in body


def test_another_reference_to_it_keeps_it_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) C[i][0] += C[i][k];"
    assert "_value" not in bodies(text, tmp_path)[0]
    # nothing else keeps it there
    monkeypatch.setattr(registers, "is_alone", lambda *_: Proved())
    assert "_value" in bodies(text, tmp_path)[0]


def test_two_kernels_may_have_one_name(tmp_path: Path) -> None:
    loop = "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) s[i] += A[i][k];"
    found = bodies(f"{loop} {loop}", tmp_path)
    assert len(found) == 2 and all("double s_value = s_gpu[i];" in body for body in found)


@pytest.mark.parametrize("taken", ["C_value", "C_value = 0, C_value2"])
def test_names_of_the_user_are_not_taken(taken: str, tmp_path: Path) -> None:
    text = f"int {taken}; for (int i = 0; i < n; i++) {{ for (int k = 0; k < m; k++) C[i][0] += s[k]; }}"
    (body,) = bodies(text, tmp_path)
    assert f"double C_value{2 if '2' not in taken else 3} = C_gpu" in body
