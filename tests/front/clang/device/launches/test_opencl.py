"""What `clEnqueueNDRangeKernel` gets: handles, sizes of the whole and of groups, as far as they can be followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.clang.device.launches.opencl_hosts import HEAD, LAUNCH, MAKE, launches, sites

PLAIN = [("add", (4, 1, 1), (64, 1, 1))]
SOME: list[tuple[str, tuple[int | None, ...], tuple[int | None, ...]]] = [("add", (None, 1, 1), (None, 1, 1))]


@pytest.mark.parametrize("name", ["host.c", "host.cpp"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{MAKE} size_t g = 256, l = 64; {LAUNCH}", PLAIN),
        (f"{MAKE} size_t g, l; l = 64; g = l * 4; {LAUNCH}", PLAIN),
        (f"{MAKE} size_t g = 256, l = 64; clSetKernelArg(k, 0, sizeof l, &l); {LAUNCH}", PLAIN),
        (f"{MAKE} size_t g = 256, l = 64; if (clFinish(q) != CL_SUCCESS) exit(1); {LAUNCH}", PLAIN),
        (f'cl_kernel k; k = clCreateKernel(p, ("add"), NULL); size_t g = 256, l = 64; {LAUNCH}', PLAIN),
        (f"{MAKE} size_t g[1] = {{256}}, l[1] = {{64}}; {LAUNCH.replace('&', '')}", PLAIN),
        (
            f"{MAKE} size_t g[2] = {{64, 32}}, l[2]; l[0] = 16; l[1] = 8;"
            f"{LAUNCH.replace('&', '').replace('k, 1', 'k, 2')}",
            [("add", (4, 4, 1), (16, 8, 1))],
        ),
        (
            f"struct device d; d.add = clCreateKernel(p, \"add\", NULL); d.local[0] = 64; size_t g = 256;"
            f"{LAUNCH.replace('k,', 'd.add,').replace('&l', 'd.local')}",
            PLAIN,
        ),
        # the run time chooses the block
        (f"{MAKE} size_t g = 256; {LAUNCH.replace('&l', 'NULL')}", SOME),
        # a group that is not whole
        (f"{MAKE} size_t g = 250, l = 64; {LAUNCH}", [("add", (None, 1, 1), (64, 1, 1))]),
        (f"{MAKE} size_t g = n, l = 64; {LAUNCH}", [("add", (None, 1, 1), (64, 1, 1))]),
        (f"{MAKE} size_t g = 256, l = n; {LAUNCH}", SOME),
        (f"{MAKE} size_t g = 256, l[1] = {{64}}; fill(l); {LAUNCH.replace('&l', 'l')}", SOME),
        (f"{MAKE} size_t g = 256, l = 64; fill(&l); {LAUNCH}", SOME),
        (f"{MAKE} size_t g = 256, l = 64; look(&l); {LAUNCH}", SOME),
        (f"{MAKE} size_t g = 256, l = 64; clGetDeviceInfo(0, 0, sizeof l, &l, NULL); {LAUNCH}", SOME),
        (f"{MAKE} size_t g = 256, *l = malloc(8); {LAUNCH.replace('&l', 'l')}", SOME),
        # which kernel, nobody knows
        (f"cl_kernel k = (cl_kernel)n; size_t g = 256, l = 64; {LAUNCH}", [("", (4, 1, 1), (64, 1, 1))]),
        (f"cl_kernel k = file_kernel; size_t g = 256, l = 64; {LAUNCH}", []),
        (
            f'cl_kernel k = clCreateKernel(p, n ? "add" : "mul", NULL); size_t g = 256, l = 64; {LAUNCH}',
            [("", (4, 1, 1), (64, 1, 1))],
        ),
        (
            f'{MAKE} if (n) k = clCreateKernel(p, "mul", NULL); size_t g = 256, l = 64; {LAUNCH}',
            [("add", (4, 1, 1), (64, 1, 1)), ("mul", (4, 1, 1), (64, 1, 1))],
        ),
        (f"{MAKE} again: n--; size_t g = 1, l = 1; {LAUNCH} if (n) goto again;", [("", (None,) * 3, (None,) * 3)]),
    ],
)  # fmt: skip
def test_what_a_function_launches(
    body: str,
    expected: list[tuple[str, tuple[int | None, ...], tuple[int | None, ...]]],
    name: str,
    tmp_path: Path,
) -> None:
    assert launches(tmp_path, body, name) == expected


def test_a_handle_and_sizes_through_a_function(tmp_path: Path) -> None:
    text = (
        f"{HEAD}static void run(cl_kernel k, int groups) {{ size_t l = WG, g = groups * WG; {LAUNCH} }}\n"
        'int main(void) { file_kernel = clCreateKernel(p, "mul", NULL); run(file_kernel, 5); return 0; }'
    )
    (site,) = sites(tmp_path, text)
    assert (site.kernel, site.grid, site.block) == ("mul", (5, 1, 1), (192, 1, 1))
