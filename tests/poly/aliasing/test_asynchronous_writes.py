"""Memory that others write while a loop runs: receives without their end, and threads."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.poly.analysis import program_of
from tests.poly.programs import function, loop
from warpsmith.base.verdict import Reason
from warpsmith.poly.aliasing.asynchronous_writes import find_asynchronous_writes
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.outside import Outside


def asked(text: str, address: str) -> Reason | None:
    program = program_of(text)
    return find_asynchronous_writes(
        Origin.of(program, function(program, address.split("/")[0])), loop(program, address)
    )


RECEIVE, WAIT = "MPI_Irecv(u, n, 0, 0, 0, 0, &r);", "MPI_Wait(&r, 0);"
LISTED = RECEIVE.replace("&r", "&list[0]")
CLEAR = "for (int i = 1; i < n; i++) u[i] = 0;"
MPI = (
    "int MPI_Irecv(void *, int, int, int, int, int, int *); int MPI_Wait(int *, int *);\n"
    "int MPI_Waitall(int, int *, int *);\n"
    "static void fill(int n, double *u) { for (int i = 0; i < n; i++) u[i] = 0; }\n"
)


@pytest.mark.parametrize(
    ("body", "address", "free"),
    [
        (f"{RECEIVE} {CLEAR} {WAIT}", "f/i", False),
        (f"{RECEIVE} {WAIT} {CLEAR}", "f/i", True),
        (f"{RECEIVE} MPI_Wait(&other, 0); {CLEAR}", "f/i", False),
        (f"{LISTED} MPI_Waitall(2, list, 0); {CLEAR}", "f/i", True),
        (f"{LISTED} MPI_Wait(&list[1], 0); {CLEAR}", "f/i", False),
        (f"{LISTED} MPI_Wait(&list[0], 0); {CLEAR}", "f/i", True),
        (f"{LISTED} MPI_Waitall(2, more, 0); {CLEAR}", "f/i", False),
        (f"{RECEIVE} if (n) {WAIT} {CLEAR}", "f/i", False),
        (f"{CLEAR} {RECEIVE} {WAIT}", "f/i", True),
        (f"for (int t = 0; t < 9; t++) {{ {CLEAR} {RECEIVE} }}", "f/t/i", False),
        (f"{RECEIVE} fill(n, u); {WAIT}", "fill/i", False),
        (f"{RECEIVE} {WAIT} fill(n, u);", "fill/i", True),
    ],
)  # fmt: skip
def test_what_is_received_later(body: str, address: str, free: bool) -> None:
    found = asked(f"{MPI}void f(int n, double *u) {{ int r, other, list[2], more[2]; {body} }}", address)
    assert (found is None) == free
    assert found is None or (found.rule == "POR006" and "may still arrive" in found.text)


def test_threads_change_memory_meanwhile() -> None:
    text = (
        "#include <pthread.h>\nstatic void *work(void *p) { return p; }\n"
        "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 0; }\n"
        "int main(void) { pthread_t t; double a[9]; pthread_create(&t, 0, work, a); f(9, a); return 0; }\n"
    )
    found = asked(text, "f/i")
    assert found is not None and "pthread_create" in found.text
    assert asked(text.replace("pthread_create(&t, 0, work, a);", ""), "f/i") is None


STARTS = (
    f"{MPI}static void begin(double *u, int n, int *r) {{ MPI_Irecv(u, n, 0, 0, 0, 0, r); }}\n"
    "static void whole(double *u, int n) { int r; MPI_Irecv(u, n, 0, 0, 0, 0, &r); MPI_Wait(&r, 0); }\n"
)


@pytest.mark.parametrize(
    ("body", "free"),
    [
        # a call of a function that leaves the receive open may write anything until the end
        (f"begin(u, n, &r); {CLEAR}", False),
        (f"begin(u, n, &r); {WAIT} {CLEAR}", True),
        (f"whole(u, n); {CLEAR}", True),
        # what the loop does not write may arrive
        (f"{RECEIVE} for (int i = 0; i < n; i++) s += u[i]; {WAIT}", True),
        (f"{RECEIVE} for (int i = 0; i < n; i++) v[i] = 0; {WAIT}", True),
        (f"{RECEIVE} int rc = MPI_Wait(&r, 0); {CLEAR}", False),
        (f"{RECEIVE} s = MPI_Wait(&r, 0); {CLEAR}", True),
        (f"{RECEIVE.replace('&r', '&list[n]')} MPI_Wait(&list[n], 0); {CLEAR}", False),
        (f"if (n) {{ {RECEIVE} }} {WAIT} {CLEAR}", True),
        (f"{{ {RECEIVE} }} {CLEAR} {WAIT}", False),
    ],
)
def test_ends_of_receives(body: str, free: bool) -> None:
    text = f"{STARTS}void f(int n, double *restrict u, double *restrict v) {{ int r, list[2]; double s = 0; {body} }}"
    found = asked(text, "f/i")
    assert (found is None) == free, found


def test_what_another_file_receives() -> None:
    """No function of the program names the call, but one of another file does: it may still be open."""
    program = program_of("void f(int n, double *u, double s) { for (int i = 0; i < n; i++) u[i] = 0; }")
    one = function(program, "f")
    for mentioned, free in ((frozenset({"MPI_Irecv"}), False), (frozenset({"MPI_Wait", "printf"}), True)):
        known = replace(program, outside=Outside(mentioned=mentioned))
        found = find_asynchronous_writes(Origin.of(known, one), loop(known, "f/i"))
        assert (found is None) == free
        assert found is None or "another file receives with MPI_Irecv" in found.text
