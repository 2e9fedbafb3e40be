"""Subscripts, bounds and conditions that are read through a pointer to one number, through the whole port: what the
host reads to say how much is moved may be on the device, where a caller has it in a data region."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, port

# Each body is a function of its own, which the program calls in a loop after a kernel has written `idx` and `s`.
BODIES = {
    "deref": "int k = 2, *p = &k; for (int i = 0; i < n; i++) b[*p + i] = a[i];",
    "first": "int k = 2, *p = &k; for (int i = 0; i < n; i++) b[p[0] + i] = a[i];",
    "member": "struct box t = {2, 3}, *p = &t; for (int i = 0; i < n; i++) b[p->m + i] = a[i];",
    "given": "for (int i = 0; i < n; i++) b[*idx + i] = a[i];",
    "given_place": "for (int i = 0; i < n; i++) b[idx[1] + i] = a[i];",
    "given_member": "for (int i = 0; i < n; i++) b[s->k + i] = a[i];",
    "loaded": "int k = 2, *p = &k; for (int i = 0; i < n; i++) b[i] = a[*p + i];",
    "two_names": "int k = 2, *p = &k, *q = p; for (int i = 0; i < n; i++) b[*q + i] = a[i] + *p;",
    "chosen": "int k = 2, m = 3, *p = n > 3 ? &k : &m; for (int i = 0; i < n; i++) b[*p + i] = a[i];",
    "file_scope": "shared = &number; for (int i = 0; i < n; i++) b[*shared + i] = a[i];",
    "bound": "int k = n, *p = &k; for (int i = 0; i < *p; i++) b[i] = a[i];",
    "bound_member": "struct box t = {n, 3}, *p = &t; for (int i = 0; i < p->k; i++) b[i] = a[i];",
    "bound_given": "for (int i = 0; i < *idx; i++) b[i] = a[i];",
    "bound_given_member": "for (int i = 0; i < s->k; i++) b[i] = a[i];",
    "condition": "int k = 2, *p = &k; for (int i = 0; i < n; i++) if (i > *p) b[i] = a[i];",
    "condition_given": "for (int i = 0; i < n; i++) if (i > *idx) b[i] = a[i];",
    "condition_member": "struct box t = {2, 3}, *p = &t; for (int i = 0; i < n; i++) if (i > p->m) b[i] = a[i];",
    "nest": "int k = 2, *p = &k; for (int j = 0; j < *p; j++) for (int i = 0; i < n; i++) b[*p + i] += a[i];",
    # the number changes between two kernels, by its own name, by the pointer, on the device
    "changed": """int k = 2, *p = &k;
        for (int i = 0; i < n; i++) b[*p + i] = a[i];
        k = 5;
        for (int i = 0; i < n; i++) b[*p + i] = a[i] * 2;""",
    "changed_through": """int k = 2, *p = &k;
        for (int i = 0; i < n; i++) b[*p + i] = a[i];
        *p = 5;
        for (int i = 0; i < n; i++) b[k + i] = a[i] * 2;""",
    "changed_in_time": """int k = 2, *p = &k;
        for (int t = 0; t < 3; t++) {
            for (int i = 0; i < n; i++) b[*p + i] += a[i];
            k = t;
        }""",
    "changed_by_kernel": """int t[8], *p = &t[3];
        for (int i = 0; i < 8; i++) t[i] = i;
        for (int i = 0; i < n; i++) b[*p + i] = a[i];""",
    "bound_changed": """int k = n, *p = &k;
        for (int i = 0; i < *p; i++) b[i] = a[i];
        k = n / 2;
        for (int i = 0; i < *p; i++) b[i] = a[i] * 2;""",
    "bound_changed_by_kernel": """int t[8], *p = &t[3];
        for (int i = 0; i < 8; i++) t[i] = i * 3;
        for (int i = 0; i < *p; i++) b[i] = a[i];""",
    "bound_given_changed_by_kernel": """
        for (int i = 0; i < 4; i++) idx[i] = i + 7;
        for (int i = 0; i < *idx; i++) b[i] = a[i];""",
    "condition_changed_by_kernel": """int t[8], *p = &t[3];
        for (int i = 0; i < 8; i++) t[i] = i * 3;
        for (int i = 0; i < n; i++) if (i > *p) b[i] = a[i];""",
    "member_changed": """struct box t = {2, 3}, *p = &t;
        for (int i = 0; i < n; i++) b[p->k + i] = a[i];
        t.k = 5;
        for (int i = 0; i < n; i++) b[p->k + i] = a[i] * 2;""",
    "struct_changed": """struct box t = {2, 3}, u = {6, 1}, *p = &t;
        for (int i = 0; i < n; i++) b[p->k + i] = a[i];
        t = u;
        for (int i = 0; i < n; i++) b[p->k + i] = a[i] * 2;""",
    "file_scope_changed": """shared = &number;
        for (int i = 0; i < n; i++) b[*shared + i] = a[i];
        number = number % 5 + 1;
        for (int i = 0; i < n; i++) b[*shared + i] = a[i] * 2;""",
    "given_changed_by_kernel": """
        for (int i = 0; i < 4; i++) idx[i] = i + 1;
        for (int i = 0; i < n; i++) b[*idx + i] = a[i];""",
    "summed": """int k = 0, *p = &k;
        for (int i = 0; i < n; i++) k += (int)a[i];
        for (int i = 0; i < n; i++) b[*p % 7 + i] = a[i];""",
}  # fmt: skip

_HEAD = """\
#include <stdio.h>
#include <stdlib.h>
struct box { int k, m; };
static int number = 2, *shared;
"""

_MAIN = """\
int main(int argc, char **argv)
{
    int n = argc + 40, *idx = malloc(4 * sizeof *idx);
    struct box *s = malloc(4 * sizeof *s);
    double *a = malloc(2 * n * sizeof *a), *b = malloc(2 * n * sizeof *b);
    for (int i = 0; i < 2 * n; i++) {
        a[i] = i * 7 % 11;
        b[i] = i % 5;
    }
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < 4; i++) {
            idx[i] = i + t;
            s[i].k = 3 + t;
            s[i].m = 4;
        }
        CALLS
    }
    return 0;
}
"""
_CALL = """\
        NAME(n, a, b, idx, s);
        {
            double h = 0;
            for (int i = 0; i < 2 * n; i++)
                h = h * 0.5 + b[i];
            printf("NAME %.9g\\n", h);
        }
"""


def _program(names: tuple[str, ...]) -> str:
    functions = [
        f"void {name}(int n, double *restrict a, double *restrict b, int *idx, struct box *s)\n{{\n{BODIES[name]}\n}}\n"
        for name in names
    ]
    calls = "".join(_CALL.replace("NAME", name) for name in names)
    return _HEAD + "".join(functions) + _MAIN.replace("CALLS", calls.lstrip())


def _ported(folder: Path, names: tuple[str, ...], *, verify: bool) -> set[str]:
    """Return the functions of which something runs on the device; the referee has passed it where it is asked."""
    path = folder / "numbers.c"
    path.write_text(_program(names))
    result = port([str(path)], PortOptions(verify=verify))
    assert result.plan is not None
    if verify:
        assert result.verification is not None
        assert result.verification.status == "pass", result.verification.reasons
    return {fragment.function.symbol.name for fragment in result.plan.fragments} - {"main"}


@pytest.mark.parametrize("name", ["deref", "given", "member", "changed_by_kernel"])
def test_a_section_that_starts_at_a_number_in_memory_is_planned(name: str, tmp_path: Path) -> None:
    assert _ported(tmp_path, (name,), verify=False) == {name}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_numbers_in_memory_are_read_where_they_are_new(part: int, tmp_path: Path) -> None:
    names = tuple(BODIES)[part::4]
    assert _ported(tmp_path, names, verify=True) == set(names)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["changed", "changed_in_time", "member_changed", "bound_changed"])
def test_a_number_that_changes_between_kernels_is_read_again(name: str, tmp_path: Path) -> None:
    """Nothing of the caller's is on the device: one offload region may hold both kernels."""
    path = tmp_path / "number.c"
    functions, main = _program((name,)).split("int main(", 1)
    # what may end the program keeps the loops of main on the host
    main = main.replace("{", "{ if (argc > 99) abort();")
    path.write_text(f"{functions}int main({main}")
    result = port([str(path)], PortOptions())
    assert result.plan is not None and result.verification is not None
    assert name in {fragment.function.symbol.name for fragment in result.plan.fragments}
    assert result.verification.status == "pass", result.verification.reasons
