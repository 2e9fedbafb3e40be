"""Host code against what gcc makes of the same text, and what stops it."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.front.brook.running import read
from warpsmith.base.errors import InputError
from warpsmith.flows.streams.evaluate import HostRunner
from warpsmith.flows.streams.values import HostArray, HostPointer
from warpsmith.front.brook.hosts import read_host

PROGRAM = """
int twice(int x) { return 2 * x; }
float half(float x) { if (x < 0) return -half_of(x); return half_of(x); }
float half_of(float x) { return x / 2; }

void work(int a[], float x[], int n)
{
    int i, j = 7, table[3][4];
    unsigned int u = 4000000000u;
    double d = 0.1;
    float f = 0.1f;
    float list[3] = {1, 2.5f, -3};
    float *p = x + 2;

    for (i = 0; i < 3; i++)
        for (j = 0; j < 4; j++)
            table[i][j] = 10 * i + j;
    a[0] = table[2][3] + table[0][1];
    a[1] = -7 / 2;
    a[2] = -7 % 3;
    a[3] = 7 / -2 + (7 >> 1) + (1 << 4);
    a[4] = u / 3;
    a[5] = (u + u) % 1000;
    a[6] = n > 3 && n / 2 || !n;
    a[7] = n ? twice(n) : 1;
    a[8] = (i = 5, i++ + ++i);
    a[9] = 2147483647 / 2 * 2;
    a[10] = (int)(f * 10) + (int)d;
    a[11] = ~n ^ (n | 8) & 12;
    a[12] = 0;
    while (1) {
        a[12] += 3;
        if (a[12] % 2)
            continue;
        if (a[12] > 20)
            break;
    }
    do
        a[13] = a[13] * 2 + 1;
    while (a[13] < 50);
    a[14] = a[0] == a[1] != 1;
    a[15] = u > -1;
    x[0] = f * 3 + d;
    x[1] = f + d * f - 1;
    *p = half(-5);
    p[1] = list[1] * list[2];
    p++;
    p += 1;
    *p = 1.0f / 3;
    x[5] = pow(2.0f, n) + sqrt(2.0) + fabs(-1.5f);
    x[6] = floor(-0.5) + ceil(0.25f) + fmod(7.5, 2);
    x[7] = n / 4 * 1.5f;
    x[8] = (float)n / 4;
    x[9] = 1e-3f - 5;
    x[9] -= d;
    x[9] *= 3;
    x[9] /= 7;
}
"""


def test_it_computes_what_gcc_computes(tmp_path: Path) -> None:
    source, made = tmp_path / "host.c", tmp_path / "host.so"
    head = "#include <math.h>\nfloat half_of(float);\n"
    source.write_text(head + PROGRAM)
    subprocess.run(["gcc", "-O0", "-w", "-shared", "-fPIC", "-o", made, source, "-lm"], check=True)
    for n in (0, 3, 6, 9):
        a, x = np.zeros(16, "i4"), np.zeros(10, "f4")
        ctypes.CDLL(str(made)).work(ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(x.ctypes.data), n)
        ours = [HostArray("a", np.zeros(16, "i4")), HostArray("x", np.zeros(10, "f4"))]
        host = read_host(read(PROGRAM), "work")
        HostRunner(host, lambda *_: None).run(host.function, [*map(HostPointer, ours), n])
        assert ours[0].data.tolist() == a.tolist()
        assert ours[1].data.tobytes() == x.tobytes()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a[4] = 1;", "a has 4 elements, and number 4 is asked for"),
        ("a[-1] = 1;", "a has 4 elements, and number -1 is asked for"),
        ("int i; a[i] = 1;", "'i' has no value yet"),
        ("a[0] = 1 / (a[1] - a[1]);", "0 has no value"),
        ("for (;;) ;", "host code runs more than"),
        ("float s<0>;", "an extent is a whole number from 1 on, and this is 0"),
        ("float s<2, 2, 2, 2>;", "'s' has 4 axes"),
        ("float s<8>; streamRead(s, x);", "s has 8 numbers, and x 4"),
        ("float s<4>; streamRead(s, a);", "a has numbers of another type than the stream s"),
        ("float s<4>; streamWrite(s, x);", "nothing was written to s before"),
        ("a[0] = log(0);", "log(0) has no value"),
        ("a[0] = &a[1] == &x[1] ? 1 : 0;", "'==' takes numbers"),
        ("int i = 1; a[0] = *(&i);", "the address of a variable is not taken here"),
    ],
)  # fmt: skip
def test_what_c_does_not_allow_stops_the_run_with_its_line(
    body: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpsmith.flows.streams.evaluate._MOST", 1000)
    host = read_host(read(f"void f(int a[], float x[])\n{{\n{body}\n}}\n"), "f")
    arrays = [HostPointer(HostArray("a", np.zeros(4, "i4"))), HostPointer(HostArray("x", np.zeros(4, "f4")))]
    with pytest.raises(InputError) as caught:
        HostRunner(host, lambda *_: None).run(host.function, list(arrays))
    (finding,) = caught.value.findings
    assert message in finding.message and finding.rule == "BRK002"
    assert finding.span is not None and finding.span.line == 3
