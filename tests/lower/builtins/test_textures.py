"""Fetches depend on the texture and on the place alone."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import lowered as lowered_cuda
from tests.lower.pocl import lowered
from warpsmith.ssa.nodes import Text
from warpsmith.ssa.text import print_function
from warpsmith.ssa.verify import faults

TEXT = """
constant sampler_t nearest = CLK_FILTER_NEAREST | CLK_NORMALIZED_COORDS_FALSE;
kernel void k(read_only image2d_t img, write_only image2d_t out, global float4 *o, global int *w, sampler_t s) {
  int g = get_global_id(0);
  o[0] = read_imagef(img, s, (int2)(g, 2));
  w[0] = get_image_width(img) + read_imagei(img, s, (float2)(1, g)).x;
  write_imagef(out, (int2)(g, 1), o[1]);
}
"""


def test_images(tmp_path: Path) -> None:
    made = lowered(TEXT, tmp_path, "-cl-std=CL1.2")
    assert not made.findings
    kernel = made.module.function("k")
    assert kernel is not None and faults(kernel) == ()
    text = print_function(kernel)
    reads = [line for line in text.splitlines() if "read_image" in line]
    assert [line.count(":f32 ") + line.count(":i32 ") >= 4 for line in reads] == [True, True]
    assert "['get_image_width']" in text and "write_image" not in text


FETCHES = """
__global__ void k(cudaTextureObject_t t, float *o, float4 *v) {
  int i = threadIdx.x;
  o[0] = tex1Dfetch<float>(t, i);
  v[0] = tex2D<float4>(t, i, 2.0f);
  tex3D(&v[1], t, i, 2.0f, 3.0f);
}
"""


def test_fetches_of_cuda(tmp_path: Path) -> None:
    made = lowered_cuda(FETCHES, tmp_path)
    kernel = made.module.function("k")
    assert kernel is not None and faults(kernel) == () and not made.findings
    fetches = [i for _, i in kernel.instructions() if i.op == "lanewise"]
    assert [(i.detail.text, len(i.operands), len(i.results)) for i in fetches if isinstance(i.detail, Text)] == [
        ("tex1Dfetch", 2, 1), ("tex2D", 3, 4), ("tex3D", 4, 4),
    ]  # fmt: skip
    assert [str(operand.type) for operand in fetches[1].operands] == ["i64", "i32", "f32"]
    assert [str(value.type) for i in fetches for value in i.results] == ["f32"] * 9
