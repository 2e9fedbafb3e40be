"""Kernels of examples: those that are written leave the same memory, the others are refused at a line."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.targets.il.writing.agree import agree, written
from tests.targets.il.writing.examples import corpus, why_refused
from tests.targets.llvm.examples import case_of
from tests.targets.mask.kernel_text import kernel_of
from tests.targets.mask.random_kernels import exported_case
from warpsmith.base.errors import InputError
from warpsmith.ssa.nodes import Limits, Module
from warpsmith.targets.il.writing.export import write_il

RACES = ("counter_begins",)
"""Which thread comes first decides what is stored."""
EXAMPLES = Path(__file__).parents[4] / "examples"
PICKED = (("manual/halve.cu", "halve"), ("reduction.cu", "sum"), ("transpose.cu", "tiled"))


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


@pytest.mark.parametrize(("file", "name"), PICKED)
def test_a_kernel_of_the_manual_leaves_the_same_memory(file: str, name: str) -> None:
    case = case_of(str(EXAMPLES / file), name)
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
    function = kernel_of(tmp_path, "a[blockIdx.x * blockDim.y + threadIdx.x] = n;")
    assert "dcl_max_thread_per_group 1024" in write_il(Module(()), function).text
    known = replace(function, limits=Limits(exact_block=(16, 4, 1)))
    made = write_il(Module(()), known)
    assert "dcl_num_thread_per_group 16, 4, 1" in made.text and [word.name for word in made.words] == ["n"]
    most = replace(function, limits=Limits(most_threads=128))
    assert "dcl_max_thread_per_group 128" in write_il(Module(()), most).text


@pytest.mark.parametrize("seed", range(3))
def test_the_same_kernel_gives_the_same_text(seed: int) -> None:
    assert written(exported_case(seed)).text == written(exported_case(seed)).text


def test_a_trap_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="AMD IL has no trap"):
        write_il(Module(()), kernel_of(tmp_path, "if (n < 0) __trap();\n a[i] = n;"))
