"""The cost of counting loops: programs run as they are and with counters, turn and turn about.

    python benchmarks/profile.py [REPEATS]

The programs are written here: each is one kind of loop that is hard on counters. Times are user and system time of one
process, the least of the repeats; `ratio` is with counters over without. Nothing is left behind.
"""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from warpsmith.project.profile.instrument import instrument, runtime_header

PROGRAMS = {
    "dense product, three deep": """
static double a[500][500], b[500][500], c[500][500];
int main(void) {
    for (int i = 0; i < 500; i++) for (int j = 0; j < 500; j++) { a[i][j] = i * j % 7; b[i][j] = i - j; }
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < 500; i++) for (int k = 0; k < 500; k++) for (int j = 0; j < 500; j++)
            c[i][j] += a[i][k] * b[k][j];
    return c[3][4] > 1e300;
}""",
    "stencil, time loop": """
static double u[1000][1000], v[1000][1000];
int main(void) {
    for (int t = 0; t < 200; t++) {
        for (int i = 1; i < 999; i++) for (int j = 1; j < 999; j++)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        for (int i = 1; i < 999; i++) for (int j = 1; j < 999; j++) u[i][j] = v[i][j] + t;
    }
    return u[3][4] > 1e300;
}""",
    "sparse rows of 27": """
static double x[100000], y[100000], w[2700000]; static int at[2700000];
int main(void) {
    for (int k = 0; k < 2700000; k++) { at[k] = (k * 7919L) % 100000; w[k] = k % 5; }
    for (int t = 0; t < 40; t++)
        for (int i = 0; i < 100000; i++) {
            double s = 0;
            for (int k = 27 * i; k < 27 * i + 27; k++) s += w[k] * x[at[k]];
            y[i] = s + t;
        }
    return y[3] > 1e300;
}""",
    "loops of two iterations, 50 million times": """
int main(void) {
    long n = 0;
    for (long i = 0; i < 50000000; i++)
        for (volatile int j = 0; j < (i & 3); j++) n += j;
    return n == 7;
}""",
}


def cpu_seconds(program: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(program)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def built(folder: Path, text: str, name: str) -> Path:
    source, program = folder / f"{name}.c", folder / name
    source.write_text(text)
    subprocess.run(["gcc", "-O2", str(source), "-o", str(program)], check=True)
    return program


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, least of {repeats} runs\n")
    print(f"{'program':44} {'loops':>5} {'plain (s)':>10} {'counted (s)':>12} {'ratio':>6}")
    for title, text in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            made = instrument(text, str(folder / "h.h"), 0)
            (folder / "h.h").write_text(runtime_header(name, len(made.loops)))
            plain, counted = built(folder, text, "plain"), built(folder, made.text, "counted")
            runs = [(cpu_seconds(plain), cpu_seconds(counted)) for _ in range(repeats)]
        one, two = min(run[0] for run in runs), min(run[1] for run in runs)
        print(f"{title:44} {len(made.loops):5} {one:10.3f} {two:12.3f} {two / one:6.2f}")


if __name__ == "__main__":
    main()
