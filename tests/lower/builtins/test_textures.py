"""Fetches depend on the texture and on the place alone."""

from __future__ import annotations

from pathlib import Path

from tests.lower.pocl import lowered
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
