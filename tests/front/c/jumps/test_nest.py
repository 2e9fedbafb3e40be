"""Gotos as branches compute what the gotos do: both forms are compiled and run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.front.c.jumps.bodies import random_jumps, render_functions
from tests.front.conftest import Load, function
from warpsmith.front.c.jumps import branches, nest
from warpsmith.tree.nodes import Break, For, Verbatim, While
from warpsmith.tree.printing.printer import nothing, print_stmt, print_top
from warpsmith.tree.walk import walk


def _run(text: str, folder: Path, name: str) -> dict[str, str]:
    path = folder / f"{name}.c"
    path.write_text(text)
    subprocess.run(["gcc", "-w", "-O1", "-o", folder / name, path], check=True)
    out = subprocess.run([folder / name], capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in out.splitlines())


def _nested(load: Load, seed: int, count: int, folder: Path) -> tuple[set[str], set[str], set[str]]:
    """Return the structured functions, those that were nested, and those of these that compute something else."""
    bodies = random_jumps(seed, count)
    names = [body.name for body in bodies]
    whole = render_functions([body.text for body in bodies], names)
    unit = load(whole)
    functions = {f.symbol.name: f for _, f in unit.program.functions() if f.symbol.name != "main"}
    nested = {name for name, f in functions.items() if not any(isinstance(p, Verbatim) for p in walk(f.body))}
    kept = [name for name in names if name in nested]
    made = _run(render_functions([print_top(functions[name], nothing) for name in kept], kept), folder, "nested")
    original = _run(whole, folder, "original")
    return {b.name for b in bodies if b.structured}, nested, {name for name in kept if made[name] != original[name]}


@pytest.mark.parametrize(("seed", "count"), [(1, 40), pytest.param(2, 600, marks=pytest.mark.slow)])
def test_branches_compute_what_gotos_do(load: Load, seed: int, count: int, tmp_path: Path) -> None:
    structured, nested, wrong = _nested(load, seed, count, tmp_path)
    assert not wrong
    assert structured <= nested, "what branches say"
    assert len(nested - structured) > count // 10, "what is nested of the rest"
    assert len(nested) < count, "ways that cross"


def _swap_arms(make: object) -> object:
    def write(stmt: object, arms: object, runs: list[object], span: object) -> object:
        return make(stmt, arms, runs[::-1] if len(runs) == 2 else runs, span)  # type: ignore[operator]

    return write


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["arms", "falls", "cross", "scopes"])
def test_a_wrong_branch_is_noticed(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    if bug == "arms":
        monkeypatch.setattr(nest, "write_branch", _swap_arms(branches.write_branch))
    elif bug == "falls":  # as if every arm ended in a goto
        monkeypatch.setattr(nest, "completes", lambda statements, targets: False)
    elif bug == "cross":  # the first arm has what both need
        find = nest._Nesting.find_join
        monkeypatch.setattr(nest._Nesting, "find_join", lambda *given: _apart(*find(*given)))
    else:
        monkeypatch.setattr(nest, "check_scopes", lambda body: None)
    _, _, wrong = _nested(load, 1, 40, tmp_path)
    assert wrong


def _apart(join: int, reached: list[frozenset[int]]) -> tuple[int, list[frozenset[int]]]:
    seen: frozenset[int] = frozenset()
    made = []
    for way in reached:
        made.append(way - seen)
        seen |= way
    return join, made


def _body(load: Load, body: str, more: str = "") -> tuple[str, list[str]]:
    """Return the loop of a function as it is printed from the tree, and the reasons of what is not modelled in it."""
    text = f"{more}void f(int n, double *a, int c) {{ for (int i = 0; i < n; i++) {{ {body} }} end: ; }}"
    made = function(load(text))
    loop = next(part for part in walk(made) if isinstance(part, For | While))
    reasons = [part.reason for part in walk(loop) if isinstance(part, Verbatim) and part.control]
    return " ".join(print_stmt(loop.body, known=nothing).split()), reasons


@pytest.mark.parametrize(
    ("body", "printed"),
    [
        ("if (c) goto A; a[i] = 1; A: ;", "{ if (!c) { a[i] = 1; } ; }"),
        ("if (c) goto A; a[i] = 1; goto B; A: a[i] = 2; B: a[i]++;",
         "{ if (c) { a[i] = 2; } else { a[i] = 1; } a[i]++; }"),
        ("if (c) { goto A; } else goto B; A: a[i] = 1; goto E; B: a[i] = 2; E: ;",
         "{ if (c) { a[i] = 1; } else { a[i] = 2; } ; }"),
        ("switch (c) { case 1: goto A; case 2: goto B; } A: a[i] = 1; goto E; B: a[i] = 2; E: ;",
         "{ switch (c) { case 1: default: a[i] = 1; break; case 2: a[i] = 2; break; } ; }"),
        ("if (c) goto A; int x = i; a[x] = x; A: a[i] += 1;", "{ if (!c) { int x = i; a[x] = x; } a[i] += 1; }"),
    ],
)  # fmt: skip
def test_what_is_made(load: Load, body: str, printed: str) -> None:
    assert _body(load, body) == (printed, [])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("A: a[i]++; if (a[i] < c) goto A;", "goto A, which leads back or into a block"),
        ("if (c) goto A; if (i) { a[i] = 1; A: a[i] = 2; }", "goto A, which leads back or into a block"),
        ("if (c) goto A; a[i] = 1; if (i) goto B; a[i] = 2; A: a[i] = 3; B: ;", "gotos whose ways cross"),
        ("int x; if (c) goto A; int y = i; a[y] = 1; A: y = 2; a[y] = x;", "goto past the declaration of y"),
        ("if (c) { int n = 2; a[n] = 1; goto A; } a[i] = 2; goto B; A: a[i] = n; B: ;",
         "goto past a declaration that hides another n"),
        ("void *to = &&A; if (c) goto *to; a[i] = 1; A: ;", "a computed goto"),
        ("if (c) JUMP; a[i] = 1; if (i) goto A; a[i] = 2; A: ;", "goto"),
        ("if (c) goto A;\n#pragma omp atomic\n a[0] += 1; A: ;", ""),
        ("for (int j = 0; j < n; j++) if (c) goto A; a[i] = 1; A: ;", "goto out of a loop to a place farther on"),
        ("for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) if (c) goto A; A: ;",
         "goto out of two loops, or out of a loop from a switch"),
        ("if (c) goto A;\n#ifdef ODD\n a[i] = 1;\n#endif\n A: ;", "goto around a line of the preprocessor"),
    ],
)  # fmt: skip
def test_what_stays_says_why(load: Load, body: str, reason: str) -> None:
    _, reasons = _body(load, body, "#define JUMP goto A\n")
    assert reason in reasons if reason else not reasons


def test_a_goto_into_a_loop_keeps_its_label(load: Load) -> None:
    made = function(load("void f(int n, int c, double *a) { if (c) goto A; for (int i = 0; i < n; i++) {"
                         " if (i) goto A; a[i] = 1; A: a[i] += 1; } }"))  # fmt: skip
    assert {p.reason for p in walk(made) if isinstance(p, Verbatim)} == {"goto", "goto into a loop"}


def test_a_goto_out_of_a_loop_to_the_label_behind_it_is_a_break(load: Load) -> None:
    text = "int f(int n, int *a) { int i; for (i = 0; i < n; i++) { if (a[i] > 3) goto out; } out: return i; }"
    made = function(load(text))
    assert [p.span.text for p in walk(made) if isinstance(p, Break)] == ["goto out;"]
    assert not any(isinstance(p, Verbatim) for p in walk(made))
    two = text.replace("out: return", "if (i > 3) goto out; a[0]++; out: return")
    assert any(isinstance(p, Verbatim) for p in walk(function(load(two))))
