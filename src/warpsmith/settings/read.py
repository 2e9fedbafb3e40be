"""From files, variables and flags to Settings.

    flag > WARPSMITH_* > nearest warpsmith.toml > [tool.warpsmith] of the nearest pyproject.toml > user's file > default

Each key is taken from the first of these that has it; the tables (`kernels`, `per-file-ignores`, `rules.severity`) are
put together, entry by entry. "Nearest": in the folder where the program runs, or the closest one above it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct, field

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding, Severity
from warpsmith.base.source import SourceFile, Span, decode_text
from warpsmith.base.time_limit import MOST_SECONDS
from warpsmith.settings.model import KernelSettings, Key, Setting, Settings, load_keys

__all__ = ["Wanted", "read_settings"]

FILE = "warpsmith.toml"
_TABLES = ("rules", "kernels", "per-file-ignores")
_KERNEL_KEYS = ("block", "grid", "args", "assume")
_SEVERITIES = ("error", "warning", "note")
# variables that set no key: of the command line, and of programs that warpsmith has ported
_VARIABLES = (
    "WARPSMITH_CONFIG", "WARPSMITH_CACHE_DIR", "WARPSMITH_LOG", "WARPSMITH_SANDBOX", "WARPSMITH_OFFLINE_DOCS",
    "WARPSMITH_OFF", "WARPSMITH_DIR", "WARPSMITH_KERNELS", "WARPSMITH_LIBRARY", "WARPSMITH_NVCC", "WARPSMITH_NVCCFLAGS",
    "WARPSMITH_ON", "WARPSMITH_UPDATE",
)  # fmt: skip
_EMULATION = "WARPSMITH_EMULATION_"


class Wanted(Struct, frozen=True):
    """What the command line says of the configuration. `flags`: keys that options set; `file`: --config; `files`: look
    for files; `environment`: heed variables."""

    flags: Mapping[str, Setting] = field(default_factory=dict)
    file: str | None = None
    files: bool = True
    environment: bool = True
    folder: str = "."


def read_settings(wanted: Wanted) -> Settings:
    """Return the settings; `findings` has variables that nobody reads.

    Raises UsageError where a file cannot be read, and where a file or a variable says what makes no sense: one finding
    for each such place.
    """
    reader = _Reader()
    if wanted.environment:
        reader.variables()
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
    if any(finding.severity == "error" for finding in reader.findings):
        raise UsageError(*reader.findings)
    return Settings(
        values,
        origins,
        str(Path(layers[0].path).parent) if layers else str(Path(wanted.folder).resolve()),
        severity={code: word for layer in reversed(layers) for code, word in layer.severity.items()},
        kernels=tuple(one for layer in reversed(layers) for one in layer.kernels),
        per_file_ignores={glob: codes for layer in reversed(layers) for glob, codes in layer.ignores.items()},
        findings=tuple(reader.findings),
    )


class _Layer(Struct):
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
            why = "is no file" if Path(named).exists() else "does not exist"
            raise UsageError(Finding("INP001", "error", f"--config: {named} {why}", help=("check the path",)))
        yield reader.layer(Path(named))
        return
    if not wanted.files:
        return
    folders = [Path(wanted.folder).resolve(), *Path(wanted.folder).resolve().parents]
    for name in (FILE, "pyproject.toml"):
        for folder in folders:
            path = folder / name
            if _says_something(path):
                yield reader.layer(path)
                break
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    if wanted.environment and (path := Path(home) / "warpsmith" / FILE).is_file():
        yield reader.layer(path)


def _says_something(path: Path) -> bool:
    """Whether a file is there, may be read, and has something for us."""
    try:
        return path.is_file() and (path.name == FILE or "[tool.warpsmith" in path.read_text("utf-8", "replace"))
    except OSError:
        return False


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
            case _, _ if name in _TABLES:
                self.wrong(file, name, f"a table: [{name}]")
            case _ if name in load_keys():
                self.key(layer, file, name, value)
            case _:
                known = [key for key in load_keys() if "." not in key]
                self.report_unknown(file, name, [*known, *_TABLES])

    def rules(self, layer: _Layer, file: SourceFile, table: Mapping[str, object]) -> None:
        for name, value in table.items():
            if name == "severity" and isinstance(value, dict):
                self.severities(layer, file, value)
            elif f"rules.{name}" in load_keys():
                self.key(layer, file, f"rules.{name}", value)
            else:
                self.report_unknown(file, name, ["select", "extend-select", "ignore", "severity"])

    def severities(self, layer: _Layer, file: SourceFile, table: Mapping[str, object]) -> None:
        for code, word in table.items():
            if word in _SEVERITIES:
                layer.severity[code] = str(word)
            else:
                self.wrong(file, code, f"one of {', '.join(_SEVERITIES)}", _suggest_word(word, _SEVERITIES))

    def key(self, layer: _Layer, file: SourceFile, name: str, value: object) -> None:
        key = load_keys()[name]
        found = _check_value(key, value)
        if found is None:
            self.wrong(file, name.removeprefix("rules."), _describe_expected(key), _suggest_word(value, key.words))
        elif key.type == "path" and found != "":
            layer.values[name] = os.path.relpath(Path(layer.path).parent / str(found))
        else:
            layer.values[name] = found

    def kernel(self, layer: _Layer, file: SourceFile, pattern: str, row: object) -> None:
        if not isinstance(row, dict):
            self.wrong(file, pattern, "a table: block, grid, args, assume")
            return
        for name in row:
            if name not in _KERNEL_KEYS:
                self.report_unknown(file, name, _KERNEL_KEYS)
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

    def report_unknown(self, file: SourceFile, name: str, known: Sequence[str]) -> None:
        helps = _suggest_word(name, known) or (f"known: {', '.join(known)}",)
        self.findings.append(Finding("CFG001", "error", f"no key is called '{name}'", _place(file, name), helps))

    def wrong(self, file: SourceFile, name: str, expected: str, helps: tuple[str, ...] = ()) -> None:
        message = f"'{name}' must be {expected}"
        self.findings.append(Finding("CFG002", "error", message, _place(file, name), helps))

    def variables(self) -> None:
        """Note the variables of ours that nobody reads: an error where one of another name is meant."""
        known = [*_VARIABLES, *(key.variable for key in load_keys().values() if key.variable)]
        for name in sorted(os.environ):
            if not name.startswith("WARPSMITH_") or name.startswith(_EMULATION) or name in known:
                continue
            meant = _suggest_word(name, known, cutoff=0.85)
            listed = meant or (f"known: {', '.join(sorted(known))}",)
            severity: Severity = "error" if meant else "warning"
            self.findings.append(Finding("CFG001", severity, f"no variable is called {name}", None, listed))


def _suggest_word(value: object, known: Sequence[str], cutoff: float = 0.6) -> tuple[str, ...]:
    """Return the help for a word that is not one of those `known`: the nearest one, if one is near."""
    near = get_close_matches(value.strip(), known, n=1, cutoff=cutoff) if isinstance(value, str) else []
    return tuple(f"did you mean '{one}'?" for one in near)


def _place(file: SourceFile, name: str) -> Span:
    """Return where a key is written: at the start of a line, after a brace, or in the head of a table."""
    word = decode_text(name)
    found = re.search(rf"(?:^|[\[{{,.])[ \t]*[\"']?({re.escape(word)})[\"']?\s*(?:[=.\]]|$)", file.text, re.MULTILINE)
    start = found.start(1) if found else max(0, file.text.find(word))
    return Span(file, start, start + len(word))


# --- values


def _check_value(key: Key, value: object) -> Setting | None:
    """Return a value as its key wants it, None where it is of another type."""
    match key.type, value:
        case "texts", list() if all(isinstance(item, str) for item in value):
            return tuple(map(str, value))
        case "texts", str():
            return (value,)
        case "number", int() if not isinstance(value, bool) and value >= 0:
            return value
        case "seconds", int() | float() if not isinstance(value, bool) and _is_time(key, value):
            return value
        case "path", str():
            return value
        case "text", str() if not key.words or value in key.words:
            return value
        case _:
            return None


def _is_time(key: Key, seconds: float) -> bool:
    """Whether a key may have so many seconds."""
    return 0 < seconds <= MOST_SECONDS or (key.off and seconds == 0)


def _from_text(key: Key, text: str, reader: _Reader) -> Setting | None:
    value: object = text
    if key.type == "texts":
        value = [part.strip() for part in text.split(",")]
    elif key.type == "number":
        value = int(text) if text.strip().isdecimal() else None
    elif key.type == "seconds":
        value = float(text) if text.strip().replace(".", "", 1).isdecimal() else None
    found = _check_value(key, value)
    if found is None:
        message = f"{key.variable} must be {_describe_expected(key)}; it is {text!r}"
        reader.findings.append(Finding("CFG002", "error", message, None, _suggest_word(text, key.words)))
    return found


def _describe_expected(key: Key) -> str:
    if key.words:
        return f"one of {', '.join(key.words)}"
    return {
        "texts": "a list of texts",
        "number": "a whole number",
        "seconds": f"{'a number' if key.off else 'a number above 0'}, at most {MOST_SECONDS:,}",
        "text": "a text",
        "path": "a path",
    }[key.type]


def _dim(value: object) -> tuple[int, int, int] | None:
    numbers = value if isinstance(value, list) else [value]
    if not 1 <= len(numbers) <= 3 or not all(isinstance(n, int) and n > 0 for n in numbers):
        return None
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z
