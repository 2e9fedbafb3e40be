"""The uses of a host function's variables in its loops, by what is said of their copies."""

from __future__ import annotations

from pathlib import Path

from tests.front.conftest import device_dump

HEAD = """#include <cuda_runtime.h>
struct S { int n; float *p; };
void reads(const float *); void refers(float *&); int count(int);
"""
COPY = "cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);"
# the body of a loop: whether its copy is said to be repeated for nothing
CASES = {
    COPY: True,
    f"if (i == 3) continue; {COPY}": False,  # some iterations do not come to it
    f"{COPY} if (i == 3) continue;": True,
    f"{COPY} if (i == 3) break;": True,
    f"i > 2 && (s += 1); {COPY}": True,
    f"auto l = [&] {{ h[0] = 1; }}; {COPY}": False,
    f"float *&r = h; r = h + 1; {COPY}": False,
    f"float **q = &h; *q = h + 1; {COPY}": False,
    f"refers(h); {COPY}": False,
    f"h++; {COPY}": False,
    f"h[i]++; {COPY}": False,
    f"s += h[i] + sizeof(h[n++]); {COPY}": True,
    f"n += 1; {COPY}": False,
    f"int m = n; m = 3; {COPY}": True,
    f"for (int j = 0; j < 2; j++) {{ {COPY} }} h[0] = 1;": True,  # the inner loop alone repeats it
    "cudaMemcpy(d, h, count(n), cudaMemcpyHostToDevice);": False,
    "cudaMemcpy(d, h + i, n, cudaMemcpyHostToDevice);": False,
    "cudaMemcpy(d, k.p, k.n, cudaMemcpyHostToDevice); k.n = i;": False,
}


def test_which_copies_are_the_same_in_every_iteration(tmp_path: Path) -> None:
    text = HEAD
    for number, body in enumerate(CASES):
        text += (
            f"void f{number}(float *h, int n, S k) {{ float *d; float s = 0; cudaMalloc(&d, n);\n"
            f"for (int i = 0; i < 9; i++) {{ {body} }} }}\n"
        )
    dump = device_dump(tmp_path, text)
    starts = [text.index(f"void f{number}(") for number in range(len(CASES))]
    told = {list(CASES)[sum(begin <= row[5] for begin in starts) - 1] for row in dump.transfers}
    assert {body: body in told for body in CASES} == CASES
