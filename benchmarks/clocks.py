"""How many warp instructions a second the machine with clocks executes: python -m benchmarks.clocks

Programs of examples/mask and one of plain arithmetic, on `example` (4 waves) and on 16 waves with caches; without a
history and with one; the reference beside the compiled machine. Seconds are those of the processor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from warpsmith.base.source import SourceFile
from warpsmith.machine.simt.parameters import named_machine
from warpsmith.simt.clocks.fast import run_compiled
from warpsmith.simt.clocks.model import ClockLaunch, ClockRun
from warpsmith.simt.clocks.reference import run_reference
from warpsmith.simt.mask.assembler import assemble
from warpsmith.simt.mask.resources import image, words_of
from warpsmith.simt.mask.run import Groups

EXAMPLES = Path(__file__).parent.parent / "examples" / "mask"
GATHER = """
    mul.u32 r0.x, thread_id, u(4)
    mov r3.x, u(200)
    push_mask DONE
NEXT:
    mask_nz r3.x
    sub.u32 r3.x, r3.x, u(1)
    ld r1.x, t0, r0.x
    mad.u32 r2.x, r1.x, u(3), r2.x
    add.u32 r0.x, r0.x, u(4096)
    and r0.x, r0.x, u(0xffff)
    jmp NEXT
DONE:
    ret
"""


def launches() -> list[tuple[str, ClockLaunch]]:
    few = named_machine("example")
    many = replace(few, waves=16, registers=1024, title="16 waves and caches")
    loop = assemble(SourceFile.read(str(EXAMPLES / "collatz.mask")))
    gather = assemble(SourceFile("gather.mask", GATHER))
    out, words = words_of(np.zeros(65536, np.uint32)), words_of(np.arange(65536, dtype=np.uint32))
    blend = assemble(SourceFile.read(str(EXAMPLES / "blend_branches.mask")))
    pictures = image(np.random.default_rng(0).integers(0, 256, (32, 32, 4)))
    rays = assemble(SourceFile.read(str(EXAMPLES / "sphere.mask")))
    views = {("t", n): pictures for n in range(3)} | {("u", 0): image(np.zeros((1 << 15, 32, 4)))}
    found = []
    for machine in (few, many):
        name = f"{machine.waves} waves"
        found.append((f"collatz, {name}", ClockLaunch(loop, machine, {("u", 0): out}, Groups(65536))))
        found.append((f"gather, {name}", ClockLaunch(gather, machine, {("t", 0): words}, Groups(8192))))
        found.append((f"sphere, {name}", ClockLaunch(rays, machine, {("u", 0): views["u", 0]}, Groups(1 << 20))))
        found.append((f"blend_branches, {name}", ClockLaunch(blend, machine, views, Groups(1 << 20))))  # type: ignore[arg-type]
    return found


def rate(run: Callable[[ClockLaunch], ClockRun], launch: ClockLaunch, times: int = 3) -> float:
    """Return millions of warp instructions a second, of the best of some runs."""
    best = 0.0
    for _ in range(times):
        began = time.process_time()
        done = run(launch)
        best = max(best, done.totals.instructions / (time.process_time() - began) / 1e6)
        assert done.fault is None, done.fault
    return best


def main() -> None:
    """Print a table."""
    print(f"{'program':28}{'compiled':>10}{'recorded':>10}{'reference':>11}   million warp instructions a second")
    for name, launch in launches():
        launch = replace(launch, most=1 << 40)
        small = replace(launch, groups=Groups(256), recorded=False)
        bare = rate(run_compiled, replace(launch, recorded=False))
        print(f"{name:28}{bare:10.2f}{rate(run_compiled, launch, 1):10.2f}{rate(run_reference, small, 1):11.4f}")


if __name__ == "__main__":
    main()
