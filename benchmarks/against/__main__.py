"""Ports of PolyBench beside what PPCG makes of the same programs, in the same counters.

python -m benchmarks.against FOLDER [--set SMALL] [PROGRAM...]

FOLDER/NAME has what `ppcg --target=cuda` writes for benchmarks/polybench/NAME.c with the macros of the data set:
NAME_host.cu, NAME_kernel.cu, NAME_kernel.hu (`python -m benchmarks.against --make PPCG FOLDER [--set SMALL]` asks
it for them). The host parts of both are run without a device, and their launches recorded; the SIMT machine runs
different launches; both are predicted by the same model. Counters are in thousands, times in microseconds.
"""

from __future__ import annotations

import argparse
import math
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.against.counters import COUNTED, PREDICTED, Sums, count
from benchmarks.against.launches import record
from benchmarks.inner_loops import ARCH, compile_loops, kernels_alone
from benchmarks.polybench import suite
from msgspec import Struct

from warpsmith.machine.devices import Device, device

NEAR: Final = 1.1
"""Two figures that differ by less are near each other."""
_INCLUDE: Final = re.compile(r'^#include "(\w[^"]*_kernel\.hu|cuda\.h)"\n', re.M)
_LEAST_OR_MOST: Final = re.compile(r"#define ppcg_(min|max)\(x,y\) +\(\{.*")
"""PPCG writes both with statement expressions, which kernels of NVRTC and ours may not have."""
_FIXED: Final = ("-DSUITE_FIXED_ARRAYS", "-DSUITE_FIXED_BOUNDS")
"""Both see sizes as constants: C++ has no arrays with other extents, and PPCG's host programs are C++."""


class How(Struct, frozen=True):
    """What is compared: `sizes`, a data set; for which GPU; whether launches are run as well."""

    sizes: str
    gpu: Device
    run: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """What there is a column for."""
        return COUNTED if self.run else PREDICTED


def main() -> int:
    """Print a row a program."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", metavar="PPCG")
    parser.add_argument("--set", default="SMALL", choices=suite.SETS)
    parser.add_argument("--predict", action="store_true", help="launches and predicted times alone: nothing is run")
    parser.add_argument("--registers", action="store_true", help="registers, spills, instructions of loops")
    parser.add_argument("--device", default="h100")
    parser.add_argument("programs", nargs="*")
    given = parser.parse_args()
    paths = [path for path in suite.programs() if not given.programs or path.stem in given.programs]
    if given.make is not None:
        for path in paths:
            _make(given.make, path, given.folder / path.stem, given.set)
        return 0
    if given.registers:
        return _print_registers(paths, given.folder, given.set)
    how = How(given.set, device(given.device), not given.predict)
    made = f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}"
    print(f"ports and PPCG's, {how.sizes}, {how.gpu.title}, {made}")
    print(f"{'':18}" + "".join(f"{name:>28}" for name in how.columns))
    print(f"{'program':18}" + f"{'ours':>11}{'theirs':>11}{'':6}" * len(how.columns))
    found: dict[str, list[float]] = {name: [] for name in how.columns}
    for path in paths:
        _print_row(path, given.folder / path.stem, how, found)
    for name, ratios in found.items():
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
        less, near = sum(ratio > NEAR for ratio in ratios), sum(1 / NEAR <= ratio <= NEAR for ratio in ratios)
        print(f"{name}: of {len(ratios)}, less in {less}, within 10 % in {near}; "
              f"theirs / ours {mean:.2f} (geometric mean)")  # fmt: skip
    return 0


def _print_row(path: Path, folder: Path, how: How, found: dict[str, list[float]]) -> None:
    ours, theirs = _of_ours(path, how), _of_theirs(path, folder, how)
    if isinstance(ours, str) or isinstance(theirs, str):
        words = [f"{who}: {one}" for who, one in (("ours", ours), ("theirs", theirs)) if isinstance(one, str)]
        print(f"{path.stem:18}{'; '.join(words)}", flush=True)
        return
    row = f"{path.stem:18}"
    for name in how.columns:
        one, other = ours.values[name], theirs.values[name]
        timed = name in PREDICTED and name != "launches"
        lacks = timed and name != "copies" and bool(ours.unpredicted or theirs.unpredicted)
        scale = 1e6 if timed else 1.0 if name == "launches" else 1e-3
        if one and other and not lacks:
            found[name].append(other / one)
        ratio = "    -" if not one or not other or lacks else f"{min(999.0, other / one):5.2f}"
        row += f"{one * scale:11.1f}{other * scale:11.1f} {ratio}"
    notes = [f"{who} {one.unpredicted}" for who, one in (("ours", ours), ("theirs", theirs)) if one.unpredicted]
    print("  ".join((row, *notes)), flush=True)


def port_texts(path: Path, data_set: str, folder: Path, macros: Sequence[str] = ()) -> tuple[dict[str, str], str] | str:
    """Return the files of a program's port by their names, and its kernels, with indices of 32 bits; else why there
    are none. Headers are written to `folder`."""
    command = [sys.executable, "-m", "warpsmith", "port", "--verify", "off", "--all", f"-D{data_set}_DATASET", *macros]
    port = folder / "port"
    done = subprocess.run([*command, "-o", str(port), str(path)], check=False, capture_output=True, text=True)
    kernels = [*port.glob("*_kernels.cu")]
    if not kernels:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no kernel"
    text = suite.in_32_bits(kernels[0].read_text())
    host = next(port.glob("*.c"))
    for header in port.glob("*.h"):
        (folder / header.name).write_text(header.read_text())
    return {host.name: host.read_text(), kernels[0].name: text}, text


def _of_ours(path: Path, how: How) -> Sums | str:
    """Return the counters of our port; why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        made = port_texts(path, how.sizes, Path(folder), _FIXED)
        return made if isinstance(made, str) else _counted(*made, Path(folder), how)


def _of_theirs(path: Path, folder: Path, how: How) -> Sums | str:
    """Return the counters of what PPCG wrote; why there are none."""
    found = _their_texts(path, folder)
    if found is None:
        return "nothing was written"
    whole, text = found
    with tempfile.TemporaryDirectory() as made:
        return _counted({"host.cu": text + whole}, text, Path(made), how)


def _their_texts(path: Path, folder: Path) -> tuple[str, str] | None:
    """Return the host program that PPCG wrote, and its kernels, without lines that include its own files."""
    host, kernels = folder / f"{path.stem}_host.cu", folder / f"{path.stem}_kernel.cu"
    if not host.exists() or not kernels.exists():
        return None
    declared = _INCLUDE.sub("", (folder / f"{path.stem}_kernel.hu").read_text())
    whole = _INCLUDE.sub("", host.read_text())
    # types of the program's own are declared there
    declared = "".join(found.group() for found in re.finditer(r"^typedef [^{}]*;\n", whole, re.M)) + declared
    text = declared + _LEAST_OR_MOST.sub(r"#define ppcg_\1(x,y) \1(x,y)", _INCLUDE.sub("", kernels.read_text()))
    return whole, text


def _print_registers(paths: Sequence[Path], folder: Path, data_set: str) -> int:
    """Print a row a kernel: its innermost loop and registers, as ptxas makes them."""
    tool = shutil.which("nvdisasm")
    if tool is None or shutil.which("ptxas") is None:
        print("nvdisasm and ptxas must be on PATH", file=sys.stderr)
        return 1
    print(f"{ARCH}, {data_set}: instructions, multiply-adds, global loads and stores of the innermost loop,")
    print("instructions a multiply-add; registers, bytes spilled")
    for path in paths:
        with tempfile.TemporaryDirectory() as made:
            own, their = port_texts(path, data_set, Path(made), _FIXED), _their_texts(path, folder / path.stem)
            texts = {"ours": "" if isinstance(own, str) else own[1], "theirs": "" if their is None else their[1]}
            for who, text in texts.items():
                kernels = kernels_alone(text)
                for name, loop in (compile_loops(kernels, Path(made), tool) if kernels else {}).items():
                    shown = name.removeprefix("ws_").removesuffix("_kernel")
                    print(f"{path.stem:16} {who:7} {shown:28} {loop.text}", flush=True)
    return 0


def _counted(texts: dict[str, str], kernels: str, folder: Path, how: How) -> Sums | str:
    try:
        recorded = record(texts, folder, (suite.FOLDER,), _macros(how.sizes))
        if not recorded.launches:
            return "no launch"
        return count(kernels, recorded, how.gpu, run=how.run)
    except (RuntimeError, subprocess.CalledProcessError) as problem:
        return str(problem)[:1500]


def _macros(data_set: str) -> tuple[str, ...]:
    return (f"-D{data_set}_DATASET", *_FIXED)


def _make(ppcg: str, path: Path, folder: Path, data_set: str) -> None:
    """Let PPCG translate a program, in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [ppcg, "--target=cuda", *_macros(data_set), f"-I{suite.FOLDER}", str(path.absolute())]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    written = (folder / f"{path.stem}_host.cu").exists()
    print(
        f"{path.stem:18}{'written' if written else 'nothing'} {done.returncode} {done.stderr.strip()[-300:]}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
