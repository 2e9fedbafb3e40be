"""A file of OpenCL's host code is read as far as it can be: headers and names may be missing."""

from __future__ import annotations

from pathlib import Path

from tests.front.clang.device.launches.opencl_hosts import LAUNCH, MAKE, sites
from warpsmith.front.enqueues import load_enqueues
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions


def test_functions_that_no_header_declares_and_constants_that_are_missing(tmp_path: Path) -> None:
    text = (
        '#include <CL/opencl.h>\n#include "gone.h"\nvoid f(void) { cl_program p = build(GONE); open_all(&p);'
        f"{MAKE} cl_command_queue q = 0; size_t g = 256, l = 64; {LAUNCH} }}"
    )
    assert [(site.kernel, site.block) for site in sites(tmp_path, text)] == [("add", (64, 1, 1))]


def test_a_file_that_is_none(tmp_path: Path) -> None:
    assert load_enqueues(Source(str(tmp_path / "gone.c")), FrontOptions()) is None
