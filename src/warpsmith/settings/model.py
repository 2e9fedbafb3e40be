"""The nouns of the configuration.

Settings       = the value of each key, its origin, and the three tables below
KernelSettings = pattern block grid args assume        [kernels."transpose*"]
Origin         = a flag, a variable, a file, or the default
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources

from msgspec import Struct, field

from warpsmith.base.findings import Finding

__all__ = ["KernelSettings", "Key", "Setting", "Settings", "load_keys"]

Setting = str | int | float | tuple[str, ...]


class Key(Struct, frozen=True):
    """One key: its type, the words that it may be, its default, its environment variable; `off`: 0 turns it off."""

    name: str
    type: str
    default: Setting
    help: str
    words: tuple[str, ...] = ()
    variable: str = ""
    off: bool = False


@cache
def load_keys() -> Mapping[str, Key]:
    """Return every key by its name."""
    table = tomllib.loads(resources.files("warpsmith.settings").joinpath("keys.toml").read_text("utf-8"))
    return {name: _key(name, row) for name, row in table.items()}


def _key(name: str, row: Mapping[str, object]) -> Key:
    default, words = row["default"], row.get("words", ())
    value: Setting
    match default:
        case list():
            value = tuple(map(str, default))
        case str() | int():
            value = default
        case _:
            raise ValueError(f"keys.toml: {name} has no default of a known type")
    named = tuple(map(str, words)) if isinstance(words, list) else ()
    return Key(
        name, str(row["type"]), value, str(row["help"]), named, str(row.get("variable", "")), bool(row.get("off"))
    )


class KernelSettings(Struct, frozen=True):
    """How kernels whose names match `pattern` are launched."""

    pattern: str
    block: tuple[int, int, int] | None = None
    grid: tuple[int, int, int] | None = None
    args: Mapping[str, int] = field(default_factory=dict)
    assume: tuple[str, ...] = ()


class Settings(Struct, frozen=True):
    """All that is set. `origins` says for each key where its value came from; `root` is the folder of the nearest
    file, which patterns of files are relative to; `findings` tells what made no sense."""

    values: Mapping[str, Setting]
    origins: Mapping[str, str]
    root: str
    severity: Mapping[str, str] = field(default_factory=dict)
    kernels: tuple[KernelSettings, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def text(self, key: str) -> str:
        """Return a key that is one word."""
        return str(self.values[key])

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a key that is a list."""
        value = self.values[key]
        return value if isinstance(value, tuple) else (str(value),)

    def number(self, key: str) -> int:
        """Return a key that is a number."""
        return int(str(self.values[key]))

    def seconds(self, key: str) -> float:
        """Return a key that is a time."""
        return float(str(self.values[key]))

    def of_kernel(self, name: str) -> KernelSettings:
        """Return what is set for a kernel; of several patterns that match, the later one wins key by key."""
        found = KernelSettings(name)
        for one in self.kernels:
            if fnmatchcase(name, one.pattern):
                found = KernelSettings(
                    name, one.block or found.block, one.grid or found.grid, {**found.args, **one.args},
                    (*found.assume, *one.assume),
                )  # fmt: skip
        return found
