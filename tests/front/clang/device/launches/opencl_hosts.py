"""Files of OpenCL's host code, and what is said of their launches."""

from __future__ import annotations

from pathlib import Path

from warpsmith.front.enqueues import load_enqueues
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import LaunchSite
from warpsmith.front.load import FrontOptions

__all__ = ["HEAD", "LAUNCH", "MAKE", "launches", "sites"]

HEAD = """#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#define WG 192
static cl_program p;
static cl_command_queue q;
static cl_kernel file_kernel;
struct device { cl_kernel add; size_t local[2]; };
void fill(size_t *sizes);
void look(const size_t *sizes);
"""
LAUNCH = "clEnqueueNDRangeKernel(q, k, 1, NULL, &g, &l, 0, NULL, NULL);"
MAKE = 'cl_kernel k = clCreateKernel(p, "add", NULL);'


def sites(folder: Path, text: str, name: str = "host.c") -> tuple[LaunchSite, ...]:
    """Return the launches of a file."""
    (folder / name).write_text(text)
    found = load_enqueues(Source(str(folder / name)), FrontOptions())
    assert found is not None
    return found


def launches(
    folder: Path, body: str, name: str = "host.c"
) -> list[tuple[str, tuple[int | None, ...], tuple[int | None, ...]]]:
    """Return kernel, grid and block of the launches of a function."""
    return [(site.kernel, site.grid, site.block) for site in sites(folder, f"{HEAD}void f(int n) {{ {body} }}", name)]
