"""New names collide with nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.offload.names import Names, is_reserved


def test_a_fresh_name_is_new_to_the_text_and_to_what_was_given(tmp_path: Path) -> None:
    names = Names(load("/* B_gpu */ int A_gpu; void f(void) { }", tmp_path))
    assert [names.fresh("A_gpu"), names.fresh("A_gpu"), names.fresh("B_gpu")] == ["A_gpu2", "A_gpu3", "B_gpu2"]
    assert [names.fresh("ws_f_k1"), names.fresh("ws_f_k1")] == ["ws_f_k1", "ws_f_k1_2"]


def test_scopes_do_not_see_each_other_but_what_was_reserved(tmp_path: Path) -> None:
    names = Names(load("void f(void) { }", tmp_path))
    assert names.scope().fresh("A_gpu") == names.scope().fresh("A_gpu") == "A_gpu"
    names.reserve(["A_gpu"])
    assert names.scope().fresh("A_gpu") == "A_gpu2"


@pytest.mark.parametrize("name", ["class", "new", "threadIdx", "warpSize", "cudaMalloc", "__x", "min", "restrict"])
def test_words_of_cuda_are_reserved(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("name", ["n", "A", "i", "piv", "classes"])
def test_the_users_own_are_not(name: str) -> None:
    assert not is_reserved(name)


@pytest.mark.parametrize(
    ("wanted", "given"),
    [("__x_gpu", "x_gpu"), ("____", "name"), ("cudaData_gpu", "my_cudaData_gpu"), ("cu_x", "my_cu_x"),
     ("__3", "my_3"), ("__cuda", "my_cuda"), ("class", "class2"), ("_x", "_x"), ("<>", "name")],
)  # fmt: skip
def test_a_reserved_beginning_is_left_out_and_never_tried_for_ever(wanted: str, given: str, tmp_path: Path) -> None:
    names = Names(load("void f(void) { }", tmp_path))
    assert names.fresh(wanted) == given
    assert not is_reserved(given)
