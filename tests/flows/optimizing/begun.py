"""A small program, its default port, and a search that has not begun: what the tests of this room start from."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tests.flows.porting.test_gain import ported
from warpsmith.flows.optimizing.budget import Budget
from warpsmith.flows.optimizing.kept import KeptOutcomes
from warpsmith.flows.optimizing.record import SearchRecord
from warpsmith.flows.optimizing.search import Search
from warpsmith.flows.optimizing.setting import Setting
from warpsmith.flows.optimizing.shared import SearchEffort, Shared
from warpsmith.flows.optimizing.structures import Structure, start
from warpsmith.flows.optimizing.times import KernelTimes
from warpsmith.flows.port import PortResult
from warpsmith.flows.porting.predicted import gpu_of
from warpsmith.offload.plan import GainOptions, OffloadOptions
from warpsmith.recipes.placement import placing_steps

ALL = GainOptions(everything=True)
OPTIONS = OffloadOptions(gain=ALL)
USUAL = SearchEffort()

# the loop over j reads columns: another order of axes, and a tile, are worth a try; scale is a kernel of its own
PAIR = """
static float A[2400][2000], B[2000][2400];
static double x[4000], y[4000];
void turn(void) {
    for (int i = 0; i < 2400; i++)
        for (int j = 0; j < 2000; j++)
            A[i][j] = 0.5f * B[j][i];
}
void scale(void) {
    for (int i = 0; i < 4000; i++)
        y[i] = 0.5 * x[i];
    for (int i = 0; i < 4000; i++)
        x[i] = y[i] + 1.0;
}
"""
# blocks of 256 are few: smaller ones are faster, and quickly counted
ROWS = """
static double A[40][40][16], y[40][40];
void rows(void) {
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            for (int r = 0; r < 64; r++)
                for (int k = 0; k < 16; k++)
                    y[i][j] = 0.5 * y[i][j] + A[i][j][k];
}
"""
PRODUCT = """
static double A[256][192], B[192][256], C[256][256];
void product(void) {
    for (int i = 0; i < 256; i++)
        for (int j = 0; j < 256; j++)
            for (int k = 0; k < 192; k++)
                C[i][j] += A[i][k] * B[k][j];
}
"""


class Begun(Struct, frozen=True):
    """A default port, and what a search from it has."""

    made: PortResult
    root: Structure
    shared: Shared

    def search(self) -> Search:
        """Return a search that has not begun."""
        return Search(self.shared)


def begin(text: str, folder: Path, effort: SearchEffort = USUAL, options: OffloadOptions = OPTIONS) -> Begun:
    """Return a program ported as it is by default, all loops."""
    made = ported(text, folder, options.gain, sizes=options.sizes)
    assert made.plan is not None
    setting = Setting(None, options, options)
    times = KernelTimes(made.prepared.original.program, gpu_of(options))
    root = start(setting, made.prepared, placing_steps(made.plan))
    return Begun(made, root, Shared(setting, times, KeptOutcomes(None), SearchRecord(), Budget(600), effort))


def again(begun: Begun, effort: SearchEffort) -> Begun:
    """Return the same start for another search, which knows nothing of the first."""
    times = KernelTimes(begun.made.prepared.original.program, gpu_of(OPTIONS))
    shared = replace(
        begun.shared, times=times, answers=KeptOutcomes(None), record=SearchRecord(), budget=Budget(600), effort=effort
    )
    return replace(begun, shared=shared)
