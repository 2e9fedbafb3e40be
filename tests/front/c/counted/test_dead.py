"""Arms that no run takes do nothing, keep their text on the host, and are absent from kernels."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.c.counted.dead import truth
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Empty, If
from warpsmith.tree.walk import walk

_HEAD = """
#include <stdio.h>
#include <stdlib.h>
#define VERBOSE 0
#define LEVEL (2 - 1)
static const int debug = 0;
static const int low = -1;
static const unsigned mask = 0xffffffffu;
static const unsigned long long wide = -1;
enum { UPPER = 0x80000000u, LOWER = 1 };
enum signs { MINUS = -3, PLUS = 3 };
static double a[200], b[200];
"""


def ported(folder: Path, text: str) -> PortResult:
    path = folder / "a.c"
    path.write_text(_HEAD + text)
    return port([str(path)], PortOptions())


def test_what_no_run_does_keeps_no_loop_on_the_host(tmp_path: Path) -> None:
    result = ported(
        tmp_path,
        """
        int main(void)
        {
            double last = 0;
            for (int i = 0; i < 200; i++) {
                if (VERBOSE)
                    printf("%d %g\\n", i, last);
                if (LEVEL > 1 && i % 10 == 0) {
                    exit(i);
                } else
                    a[i] = 2.0 * i;
                if (debug) last = a[i];
                if (!debug)
                    b[i] = a[i] + 1;
                else
                    abort();
            }
            printf("%g %g %g\\n", a[5], b[6], last);
            return 0;
        }
        """,
    )
    assert result.verification is not None and result.verification.status == "pass"
    assert result.plan is not None and len(result.plan.fragments) == 1
    (kernel,) = (file.text for file in result.files if file.path.endswith(".cu"))
    text = kernel[kernel.index("__global__") : kernel.index('extern "C" void ws_main_k1')]
    assert (
        not {"printf", "exit", "last", "abort", "rand("} & set(text.replace("(", "( ").split()) and "abort" not in text
    )


def test_text_beside_kernels_stays_as_it_was(tmp_path: Path) -> None:
    result = ported(
        tmp_path,
        """
        int main(void)
        {
            double last = 0;
            for (int t = 0; t < 3; t++) {
                // here the loops change places: t is not where it was
                if (VERBOSE) printf("step %d: %g\\n", t, last);
                for (int i = 0; i < 200; i++)
                    a[i] += 2.0 * i;
            }
            printf("%g\\n", a[5]);
            if (VERBOSE) printf("done: %g\\n", last);
            return 0;
        }
        """,
    )
    assert result.verification is not None and result.verification.status == "pass"
    (host,) = (file.text for file in result.files if file.path == "a.c")
    assert 'if (VERBOSE) printf("done: %g\\n", last);' in host and "step" not in host


@pytest.mark.parametrize(
    "arm",
    [
        "if (VERBOSE) { again: a[i] += 1; } else if (a[i] < 1) { a[i] += 2; goto again; }",
        "switch (i % 2) { case 0: if (VERBOSE) { case 1: a[i] = i; } }",
    ],
    ids=["label", "case"],
)
def test_an_arm_that_is_entered_another_way_is_alive(arm: str, tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(f"{_HEAD}void f(void) {{ for (int i = 0; i < 200; i++) {{ {arm} }} }}")
    (function,) = (f for _, f in load_program([str(path)], FrontOptions()).program.functions())
    assert not any(isinstance(part, Empty) and part.dead for part in walk(function.body))


def test_truth_is_what_the_compiler_computes(tmp_path: Path) -> None:
    """Random conditions over constants and `x`, which is anything: what is said of them holds for x = 0 and x = 7."""
    random = Random(5)
    leaves = ["0", "1", "3u", "-2", "x", "VERBOSE", "LEVEL", "debug", "(int)2.5", "2147483647", "low", "mask", "UPPER"]
    leaves += [
        "LOWER",
        "MINUS",
        "PLUS",
        "sizeof(int)",
        "-1",
        "wide",
        "(unsigned char)255",
        "'\\xff'",
        "-1L",
        "4294967295",
    ]

    def condition(depth: int) -> str:
        if depth == 0:
            return random.choice(leaves)
        left, right = condition(depth - 1), condition(depth - 1)
        op = random.choice(["&&", "||", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "!"])
        return f"(!{left})" if op == "!" else f"({left} {op} {right})"

    conditions = [condition(random.randrange(1, 4)) for _ in range(900)]
    lines = [f'if ({one}) printf("1"); else printf("0");' for one in conditions]
    path = tmp_path / "a.c"
    path.write_text(f"{_HEAD}void f(int x) {{ {' '.join(lines)} }}\nint main(int n, char **v) {{ f(atoi(v[1])); }}")
    subprocess.run(["cc", "-w", "-fwrapv", "-o", str(tmp_path / "a"), str(path)], check=True)
    runs = [subprocess.run([tmp_path / "a", x], capture_output=True, check=True, text=True).stdout for x in ("0", "7")]
    # as it was before dead arms went: the arms have labels
    labeled = [f'if ({one}) {{ l{n}: printf("1"); }} else printf("0");' for n, one in enumerate(conditions)]
    path.write_text(f"{_HEAD}void f(int x) {{ {' '.join(labeled)} }}\nint main(int n, char **v) {{ f(atoi(v[1])); }}")
    function = next(f for _, f in load_program([str(path)], FrontOptions()).program.functions() if f.symbol.name == "f")
    said = [truth(part.condition) for part in walk(function.body) if isinstance(part, If)]
    assert len(said) == len(conditions)
    wrong = [
        (conditions[n], value, [run[n] for run in runs])
        for n, value in enumerate(said)
        if value is not None and any(run[n] != str(int(value)) for run in runs)
    ]
    assert not wrong
    assert sum(value is not None for value in said) > 60 and {True, False} <= set(said)
