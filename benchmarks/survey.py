"""How long a survey of a large project takes: 100,000 lines that this program writes itself, then one edit.

    python benchmarks/survey.py [LINES [JOBS]]

The files are of the kinds that numerical programs have: headers with structs and inline functions, solvers with loop
nests, tables, parsers, drivers that call functions of other files; one loop to about twenty lines. The peer is
`gcc -fsyntax-only` over the same files, one after another. A busy machine disturbs `cpu`, user and system time with all
that was started, less than `wall`. `peak` is the resident memory of the largest process: there is one for each job, and
one above them. Byte code is kept from run to run, as it is where warpsmith is installed. Nothing is left behind.
"""

from __future__ import annotations

import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

# files that share a header: that of a whole project would make its text grow with the square of its lines
PART = 250
PLAIN = """\
/* {name}: reads one setting; {comment} */
static int {name}_setting(const struct config *config, const char *key, int fallback)
{{
    int value = fallback;

    if (config == NULL || key == NULL)
        return fallback;
    if (key[0] == '{letter}')
        value = config->level + {number};
    else if (key[0] == 'z')
        value = config->width;
    switch (value % 4) {{
    case 0:
        value += 1;
        break;
    case 1:
        value -= 1;
        break;
    default:
        break;
    }}
    return value < 0 ? fallback : value;
}}

int {name}_check(struct config *config)
{{
    int errors = 0;

    errors += {name}_setting(config, "{letter}depth", {number}) > {number};
    errors += {name}_setting(config, "zone", 3) == 17;
    if (config->width <= 0) {{
        fprintf(stderr, "{name}: width %d is not positive\\n", config->width);
        errors++;
    }}
    if (config->level > {number}) {{
        fprintf(stderr, "{name}: level %d is above %d\\n", config->level, {number});
        errors++;
    }}
    return errors;
}}
"""

KINDS = (
    """\
void {name}_relax(int n, const double *restrict from, double *restrict to)
{{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            to[i * n + j] = 0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j]
                                    + from[i * n + j - 1] + from[i * n + j + 1]);
}}
""",
    """\
double {name}_norm(int n, const double *values)
{{
    double sum = 0.0;

    for (int i = 0; i < n; i++)
        sum += values[i] * values[i];
    return sum > 0.0 ? sum / n : {number}.0;
}}
""",
    """\
void {name}_move(struct particles *all, double step)
{{
    int n = all->count;
    double *x = all->x, *v = all->v;

    for (int i = 0; i < n; i++) {{
        x[i] += step * v[i];
        if (x[i] > {number}.0)
            v[i] = -v[i];
    }}
}}
""",
    """\
struct node *{name}_find(struct node *first, int key)
{{
    struct node *at = first;

    while (at != NULL && at->key != key)
        at = at->next;
    return at;
}}
""",
    """\
void {name}_apply(int rows, const int *start, const int *column, const double *value, const double *x, double *y)
{{
    for (int i = 0; i < rows; i++) {{
        double sum = 0.0;

        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }}
}}
""",
    """\
void {name}_report(int n, const double *values)
{{
    printf("{name}: %d values\\n", n);
    for (int i = 0; i < n; i++) {{
        if (values[i] > {number}.0)
            printf("%d %g\\n", i, values[i]);
    }}
}}
""",
    """\
void {name}_histogram(int n, const int *values, int *counts)
{{
    for (int b = 0; b < 64; b++)
        counts[b] = 0;
    for (int i = 0; i < n; i++)
        counts[values[i] & 63]++;
}}
""",
    """\
void {name}_sweep(double *u, const double *f, int n)
{{
    for (int i = 1; i < n; i++)
        u[i] = 0.5 * (u[i - 1] + f[i]);
}}
""",
    """\
int {name}_parse(const char *text, int *numbers, int most)
{{
    int found = 0;
    const char *at = text;

    while (*at != '\\0' && found < most) {{
        if (*at >= '0' && *at <= '9')
            numbers[found++] = *at - '0';
        at++;
    }}
    return found;
}}
""",
    """\
void {name}_step(struct particles *all, struct config *config, double *work)
{{
    for (int t = 0; t < config->level; t++) {{
        {other}_move(all, 0.5);
        if ({other}_norm(all->count, all->x) < 1e-9)
            break;
    }}
    {other}_sweep(work, all->x, config->width);
}}
""",
    """\
void {name}_push(struct particles *all, double step)
{{
    for (int i = 0; i < all->count; i++)
        all->x[i] += step * all->v[i] + {number}.0;
}}
""",
    """\
void {name}_rows(int n, double **to, double **from)
{{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < {number}; j++)
            to[i][j] = 0.5 * from[i][j];
}}
""",
    """\
static double {name}_table[{number}][32];

void {name}_fill(int shift)
{{
    for (int i = 0; i < {number}; i++)
        for (int j = 0; j < 32; j++)
            {name}_table[i][j] = scaled(i + j, shift);
}}
""",
)

HEADER = """\
#ifndef {guard}
#define {guard}

#include <stdio.h>
#include <stdlib.h>

struct config {{ int level, width; const char *title; }};
struct particles {{ int count; double *x, *v; }};
struct node {{ int key; struct node *next; }};

static inline double scaled(int value, int shift)
{{
    double result = value;

    for (int i = 0; i < shift; i++)
        result *= 0.5;
    return result;
}}

{prototypes}
#endif
"""


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory(prefix="warpsmith-benchmark-") as folder:
        root = Path(folder)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(root / "bytecode")
        files = written(root / "source", lines)
        total = sum(len(path.read_text().splitlines()) for path in (root / "source").iterdir())
        print(f"command    python benchmarks/survey.py {lines} {jobs}")
        print(
            f"machine    {platform.processor() or platform.machine()}, {os.cpu_count()} processors, load {load():.1f}"
        )
        print(f"date       {time.strftime('%Y-%m-%d')}")
        print(f"sources    {total:,} lines in {len(files)} files, {PART} of them to a header")
        peer = sum((timed(["gcc", "-fsyntax-only", str(path)])[0] for path in files), Time(0.0, 0.0, 0.0))
        print(f"gcc        {peer}   gcc -fsyntax-only, one file after another")
        first, said = surveyed(files, root / "cache", jobs)
        print(f"first      {first}   survey -j{jobs}: {first.cpu / peer.cpu:.1f} times the cpu of gcc; {said}")
        again, said = surveyed(files, root / "cache", jobs)
        print(f"again      {again}   nothing changed; {said}")
        edited = files[len(files) // 2]
        edited.write_text(edited.read_text().replace("0.25 *", "0.125 *").replace("0.5 *", "0.25 *"))
        once, said = surveyed(files, root / "cache", jobs)
        print(f"one edit   {once}   {said}")
        print(f"load       {load():.1f} at the end")


def load() -> float:
    """Return how many processes wanted to run lately."""
    return os.getloadavg()[0]


def written(folder: Path, lines: int) -> list[Path]:
    """Write about so many lines of C and return the files."""
    folder.mkdir()
    chance = random.Random(4)
    count = max(2, lines // 400)
    for first in range(0, count, PART):
        numbers = range(first, min(first + PART, count))
        prototypes = [line for number in numbers for line in _prototypes(f"m{number}")]
        header = HEADER.format(guard=f"PART_{first // PART}_H", prototypes="\n".join(prototypes))
        (folder / f"part{first // PART}.h").write_text(header)
    files = []
    for number in range(count):
        end = min((number // PART + 1) * PART, count)
        text = f'#include "part{number // PART}.h"\n\n' + "\n".join(_functions(chance, number, end))
        path = folder / f"m{number}.c"
        path.write_text(text)
        files.append(path)
    driver = "int main(void)\n{\n    struct config config = {3, 4, 0};\n\n    return m0_check(&config);\n}\n"
    files[0].write_text(files[0].read_text() + "\n" + driver)
    return files


def _prototypes(name: str) -> Iterator[str]:
    """Yield what other files call."""
    yield f"void {name}_move(struct particles *all, double step);"
    yield f"double {name}_norm(int n, const double *values);"
    yield f"void {name}_sweep(double *u, const double *f, int n);"
    yield f"int {name}_check(struct config *config);"


def _functions(chance: random.Random, number: int, end: int) -> Iterator[str]:
    """Yield the functions of one file, about 400 lines; each kind at least once. They call those of files before
    number `end`."""
    made, part = 0, 0
    while made < 400:
        for place, kind in enumerate((PLAIN, *KINDS)) if part == 0 else _more(chance):
            name = f"m{number}" if part == 0 else f"m{number}_{part}_{place}"
            text = kind.format(
                name=name,
                other=f"m{chance.randrange(number, end)}",
                number=chance.randrange(2, 90),
                letter=chance.choice("abcdef"),
                comment=chance.choice(("see the manual", "older files have none", "kept for the driver")),
            )
            yield text
            made += text.count("\n") + 1
        part += 1


def _more(chance: random.Random) -> Iterator[tuple[int, str]]:
    """Yield one function with loops to two without."""
    yield from ((0, PLAIN), (1, chance.choice(KINDS)), (2, PLAIN), (3, chance.choice(KINDS)))


class Time(Struct, frozen=True):
    """Seconds: on the clock, and on processors with everything that was started; `peak`: MiB of the largest process."""

    wall: float
    cpu: float
    peak: float

    def __add__(self, other: Time) -> Time:
        return Time(self.wall + other.wall, self.cpu + other.cpu, max(self.peak, other.peak))

    def __str__(self) -> str:
        return f"{self.wall:6.1f} s wall {self.cpu:6.1f} s cpu {self.peak:5.0f} MiB peak"


def timed(command: list[str]) -> tuple[Time, str]:
    """Run a command and return what it took and what it said."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"exit code {process.returncode}: {' '.join(command[:4])} …")
        output.seek(0)
        return Time(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), output.read()


def surveyed(files: list[Path], cache: Path, jobs: int) -> tuple[Time, str]:
    """Return what one survey took, the start of the program included, and its first line."""
    command = [sys.executable, "-m", "warpsmith", "survey", f"-j{jobs}", "--cache-dir", str(cache), *map(str, files)]
    spent, said = timed(command)
    return spent, said.split("\n", 1)[0].partition(": ")[2]


if __name__ == "__main__":
    main()
