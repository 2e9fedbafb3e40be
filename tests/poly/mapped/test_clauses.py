"""Data clauses of both families in one form."""

from __future__ import annotations

import pytest

from warpsmith.front.pragmas import read_directive
from warpsmith.poly.mapped.clauses import construct_of, is_mapping, mappings, unread
from warpsmith.tree.text.directives import Directive


def directive(text: str) -> Directive:
    found = read_directive(f"#pragma {text}", {})
    assert found is not None
    return found


KINDS = {
    "omp target data map(to: a)": "data", "omp target enter data map(to: a)": "enter", "omp target": "compute",
    "omp target exit data map(from: a)": "exit", "omp target update to(a)": "update", "omp taskwait": "wait",
    "omp target teams distribute parallel for": "compute", "omp parallel for": "", "omp declare target": "",
    "acc parallel loop": "compute", "acc loop": "", "acc data copy(a)": "data", "acc enter data create(a)": "enter",
    "acc update host(a)": "update", "acc wait": "wait", "acc kernels": "compute",
}  # fmt: skip


@pytest.mark.parametrize("text", KINDS)
def test_kinds_of_directives(text: str) -> None:
    assert construct_of(directive(text)) == KINDS[text]


MAPS = {
    "omp target map(to: a[0:n], b) map(from: c)": "a>  b>  c<",
    "omp target map(a) map(alloc: b) map(always, tofrom: c)": "a><  b  c><!",
    "omp target exit data map(delete: a) map(release: b)": "a-  b",
    "omp target update to(a) from(b)": "a>!  b<!",
    "acc parallel loop copyin(a) copyout(b) copy(c)": "a>  b<  c><",
    "acc data create(a) present_or_copyin(b) pcopyout(c) present(d)": "a  b>  c<  d?",
    "acc update device(a) self(b)": "a>!  b<!",
}


@pytest.mark.parametrize("text", MAPS)
def test_what_clauses_copy(text: str) -> None:
    found = (
        one.item.name + ">" * one.to + "<" * one.back + "!" * one.always + "-" * one.gone + "?" * one.needed
        for one in mappings(directive(text))
    )
    assert "  ".join(found) == MAPS[text]


@pytest.mark.parametrize(
    "clause", ["if(n > 3)", "has_device_addr(p)", "map(mapper(x), to: a)", "strange(3)", "use_device_ptr(p)"]
)
def test_what_is_not_modelled_is_said(clause: str) -> None:
    assert list(unread(directive(f"omp target teams {clause}")))
    assert not list(unread(directive("omp target teams num_teams(3) map(to: a)")))


def test_clauses_of_data_are_told_from_those_of_threads() -> None:
    one = directive("omp target teams map(to: a) num_teams(4)")
    assert [is_mapping(one, clause) for clause in one.clauses] == [True, False]
