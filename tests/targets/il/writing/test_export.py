"""Kernels of examples: those that are written leave the same memory, the others are refused at a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.targets.il.writing.agree import agree, written
from tests.targets.il.writing.examples import corpus, why_refused
from tests.targets.llvm.examples import case_of, kernel_module
from tests.targets.mask.kernel_text import kernel_of
from warpsmith.base.errors import InputError
from warpsmith.ssa.nodes import Module
from warpsmith.targets.il.writing.export import write_il

RACES = ("counter_begins",)
"""Which thread comes first decides what is stored."""
PICKED = ("halve", "paths", "sum", "tiled")


@pytest.mark.slow
def test_the_corpus_is_written_or_refused() -> None:
    kernels = corpus()
    kept = [one for one in kernels if not why_refused(*one)]
    assert len(kernels) >= 250 and len(kept) >= 200
    cases = [case_of(*one) for one in kept if one[1] not in RACES]
    ran = [case for case in cases if case is not None]
    assert len(ran) >= 150
    for case in ran:
        assert agree(case) == ""


@pytest.mark.parametrize("name", PICKED)
def test_a_kernel_of_the_manual_leaves_the_same_memory(name: str) -> None:
    path, _ = next(one for one in corpus() if one[1] == name and "examples" in one[0])
    case = case_of(path, name)
    assert case is not None and agree(case, letter=True) == ""


def test_lines_are_the_users(tmp_path: Path) -> None:
    function = kernel_of(tmp_path, "if (i < n)\n b[i] = a[i + 1];")
    lines = {span.line: line for line, span in write_il(Module(()), function).lines() if span is not None}
    assert lines[3].strip() in ("ilt r0.x___, vAbsTid.x, cb0[0].x", "if_logicalnz r0.x", "endif")
    assert lines[4].strip().startswith("uav_raw_store_id(1) mem0.x___,")


def test_arguments_are_views_and_words_of_the_launch(tmp_path: Path) -> None:
    made = write_il(Module(()), kernel_of(tmp_path, "if (i < n) b[i] = a[i + 1];"))
    assert dict(made.views) == {"a": 0, "b": 1}
    assert [word.name for word in made.words] == ["n"]
    assert made.text.startswith("; k\n; uav0: a, uav1: b\n; cb0[0].x: n\nil_cs_2_0\ndcl_max_thread_per_group 1024\n")


def test_a_block_whose_size_is_said_is_declared(tmp_path: Path) -> None:
    path = next(path for path, _ in corpus() if path.endswith("sync/corpus/flags.cu"))
    assert kernel_module(path).module.functions
    text = "a[blockIdx.x * blockDim.x + threadIdx.x + 1] = n;"
    function = kernel_of(tmp_path, text, "int *a, float *b, int n")
    assert "dcl_max_thread_per_group 1024" in write_il(Module(()), function).text


@pytest.mark.parametrize("seed", range(3))
def test_the_same_kernel_gives_the_same_text(seed: int) -> None:
    from tests.targets.mask.random_kernels import exported_case

    assert written(exported_case(seed)).text == written(exported_case(seed)).text


def test_a_trap_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="AMD IL has no trap"):
        write_il(Module(()), kernel_of(tmp_path, "if (n < 0) __trap();\n a[i] = n;"))
