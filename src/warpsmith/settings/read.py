"""From files, variables and flags to Settings.

    flag > WARPSMITH_* > nearest warpsmith.toml > [tool.warpsmith] of the nearest pyproject.toml > user's file > default

Each key is taken from the first of these that has it; the tables (`kernels`, `per-file-ignores`, `rules.severity`) are
put together, entry by entry. "Nearest": in the folder where the program runs, or the closest one above it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.settings.model import KernelSettings, Key, Setting, Settings, load_keys

__all__ = ["Wanted", "read_settings"]

FILE = "warpsmith.toml"
_TABLES = ("rules", "kernels", "per-file-ignores")
_KERNEL_KEYS = ("block", "grid", "args", "assume")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line says of the configuration. `flags`: keys that options set; `file`: --config; `files`: look
    for files; `environment`: heed variables."""

    flags: Mapping[str, Setting] = field(default_factory=dict)
    file: str | None = None
    files: bool = True
    environment: bool = True
    folder: str = "."


def read_settings(wanted: Wanted) -> Settings:
    """Return the settings; what makes no sense in a file is a finding there, and the key keeps its next value.

    Raises UsageError where a file that was named cannot be read.
    """
    reader = _Reader()
    layers = list(_files(wanted, reader))
    values: dict[str, Setting] = {}
    origins: dict[str, str] = {}
    for name, key in load_keys().items():
        values[name], origins[name] = key.default, "default"
        for layer in reversed(layers):
            if name in layer.values:
                values[name], origins[name] = layer.values[name], layer.path
        if wanted.environment and key.variable and os.environ.get(key.variable, "") != "":
            found = _from_text(key, os.environ[key.variable], reader)
            if found is not None:
                values[name], origins[name] = found, key.variable
        if name in wanted.flags:
            values[name], origins[name] = wanted.flags[name], "command line"
    return Settings(
        values,
        origins,
        str(Path(layers[0].path).parent) if layers else str(Path(wanted.folder).resolve()),
        severity={code: word for layer in reversed(layers) for code, word in layer.severity.items()},
        kernels=tuple(one for layer in reversed(layers) for one in layer.kernels),
        per_file_ignores={glob: codes for layer in reversed(layers) for glob, codes in layer.ignores.items()},
        findings=tuple(reader.findings),
    )


@dataclass(slots=True)
class _Layer:
    """What one file says."""

    path: str
    values: dict[str, Setting] = field(default_factory=dict)
    severity: dict[str, str] = field(default_factory=dict)
    kernels: list[KernelSettings] = field(default_factory=list)
    ignores: dict[str, tuple[str, ...]] = field(default_factory=dict)


# --- which files


def _files(wanted: Wanted, reader: _Reader) -> Iterator[_Layer]:
    """Yield what the files say, the strongest first."""
    named = wanted.file or (os.environ.get("WARPSMITH_CONFIG") if wanted.environment and wanted.files else None)
    if named:
        if not Path(named).is_file():
            raise UsageError(Finding("INP001", "error", f"--config: {named} does not exist", help=("check the path",)))
        yield reader.layer(Path(named))
        return
    if not wanted.files:
        return
    folders = [Path(wanted.folder).resolve(), *Path(wanted.folder).resolve().parents]
    for name in (FILE, "pyproject.toml"):
        for folder in folders:
            path = folder / name
            if path.is_file() and (name == FILE or "[tool.warpsmith" in path.read_text("utf-8", "replace")):
                yield reader.layer(path)
                break
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    if wanted.environment and (path := Path(home) / "warpsmith" / FILE).is_file():
        yield reader.layer(path)


class _Reader:
    """Reads files and notes what makes no sense in them."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def layer(self, path: Path) -> _Layer:
        layer = _Layer(str(path))
        try:
            file = SourceFile.read(str(path))
            data = tomllib.loads(file.data().decode("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            message = f"{path} cannot be read: {error}"
            raise UsageError(Finding("CFG002", "error", message, help=("correct it, or use --no-config",))) from error
        if path.name == "pyproject.toml":
            data = data.get("tool", {}).get("warpsmith", {})
        for name, value in data.items():
            self.top(layer, file, name, value)
        return layer

    def top(self, layer: _Layer, file: SourceFile, name: str, value: object) -> None:
        match name, value:
            case "rules", dict():
                self.rules(layer, file, value)
            case "kernels", dict():
                for pattern, row in value.items():
                    self.kernel(layer, file, pattern, row)
            case "per-file-ignores", dict():
                for pattern, codes in value.items():
                    layer.ignores[pattern] = tuple(map(str, codes)) if isinstance(codes, list) else (str(codes),)
            case _ if name in load_keys():
                self.key(layer, file, name, value)
            case _:
                known = [key for key in load_keys() if "." not in key]
                self.unknown(file, name, [*known, *_TABLES])

    def rules(self, layer: _Layer, file: SourceFile, table: Mapping[str, object]) -> None:
        for name, value in table.items():
            if name == "severity" and isinstance(value, dict):
                layer.severity |= {str(code): str(word) for code, word in value.items()}
            elif f"rules.{name}" in load_keys():
                self.key(layer, file, f"rules.{name}", value)
            else:
                self.unknown(file, name, ["select", "extend-select", "ignore", "severity"])

    def key(self, layer: _Layer, file: SourceFile, name: str, value: object) -> None:
        found = _checked(load_keys()[name], value)
        if found is None:
            self.wrong(file, name.removeprefix("rules."), _expected(load_keys()[name]))
        else:
            layer.values[name] = found

    def kernel(self, layer: _Layer, file: SourceFile, pattern: str, row: object) -> None:
        if not isinstance(row, dict):
            self.wrong(file, pattern, "a table: block, grid, args, assume")
            return
        for name in row:
            if name not in _KERNEL_KEYS:
                self.unknown(file, name, _KERNEL_KEYS)
        shapes = {name: _dim(row[name]) for name in ("block", "grid") if name in row}
        for name, shape in shapes.items():
            if shape is None:
                self.wrong(file, name, "one to three numbers above 0")
        args = row.get("args", {})
        numbers = {str(k): v for k, v in args.items() if isinstance(v, int)} if isinstance(args, dict) else {}
        if not isinstance(args, dict) or len(numbers) < len(args):
            self.wrong(file, "args", "a table of whole numbers")
        assume = row.get("assume", [])
        texts = tuple(map(str, assume)) if isinstance(assume, list) else (str(assume),)
        layer.kernels.append(KernelSettings(pattern, shapes.get("block"), shapes.get("grid"), numbers, texts))

    def unknown(self, file: SourceFile, name: str, known: Sequence[str]) -> None:
        near = get_close_matches(name, known, n=1)
        help = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}"
        self.findings.append(Finding("CFG001", "warning", f"no key is called '{name}'", _place(file, name), (help,)))

    def wrong(self, file: SourceFile, name: str, expected: str) -> None:
        message = f"'{name}' must be {expected}"
        self.findings.append(Finding("CFG002", "warning", message, _place(file, name), ("the value is not used",)))


def _place(file: SourceFile, name: str) -> Span:
    start = max(0, file.text.find(name))
    return Span(file, start, start + len(name))


# --- values


def _checked(key: Key, value: object) -> Setting | None:
    """Return a value as its key wants it, None where it is of another type."""
    match key.type, value:
        case "texts", list() if all(isinstance(item, str) for item in value):
            return tuple(map(str, value))
        case "texts", str():
            return (value,)
        case "number", int() if not isinstance(value, bool) and value >= 0:
            return value
        case "seconds", int() | float() if not isinstance(value, bool) and value >= 0:
            return value
        case "text", str() if not key.words or value in key.words:
            return value
        case _:
            return None


def _from_text(key: Key, text: str, reader: _Reader) -> Setting | None:
    value: object = text
    if key.type == "texts":
        value = [part.strip() for part in text.split(",")]
    elif key.type == "number":
        value = int(text) if text.strip().isdecimal() else None
    elif key.type == "seconds":
        value = float(text) if text.strip().replace(".", "", 1).isdecimal() else None
    found = _checked(key, value)
    if found is None:
        message = f"{key.variable} must be {_expected(key)}; it is {text!r}"
        reader.findings.append(Finding("CFG002", "warning", message, None, ("the variable is not heeded",)))
    return found


def _expected(key: Key) -> str:
    if key.words:
        return f"one of {', '.join(key.words)}"
    return {"texts": "a list of texts", "number": "a whole number", "seconds": "a number", "text": "a text"}[key.type]


def _dim(value: object) -> tuple[int, int, int] | None:
    numbers = value if isinstance(value, list) else [value]
    if not 1 <= len(numbers) <= 3 or not all(isinstance(n, int) and n > 0 for n in numbers):
        return None
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z
