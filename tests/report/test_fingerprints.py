"""Fingerprints of findings, which stay when lines have moved."""

from __future__ import annotations

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.report.fingerprints import fingerprints


def finding(subject: str, rule: str = "MEM001", message: str = "words") -> KernelFinding:
    return KernelFinding(rule, message, "proven", "k", None, subject)


def test_the_same_subject_has_the_same_print_whatever_is_said_of_it() -> None:
    assert fingerprints("k", [finding("a[i]")]) == fingerprints("k", [finding(" a[i]\n", message="other")])
    assert len(fingerprints("k", [finding("a[i]")])[0]) == 20


def test_rule_kernel_subject_and_number_count() -> None:
    one = fingerprints("k", [finding("a")])
    others = [
        fingerprints("l", [finding("a")]),
        fingerprints("k", [finding("b")]),
        fingerprints("k", [finding("a", "DIV001")]),
    ]
    assert one not in others
    first, second = fingerprints("k", [finding("a"), finding("a")])
    assert first == one[0] != second
    # another finding between does not count
    assert fingerprints("k", [finding("a"), finding("b"), finding("a")])[2] == second


def test_registers_and_labels_of_ptx_do_not_count() -> None:
    assert fingerprints("k", [finding("ld %r12 $L__BB0_2")]) == fingerprints("k", [finding("ld %rd3 $L__BB7")])
    assert fingerprints("k", [finding("ld %r12")]) != fingerprints("k", [finding("st %r12")])


def test_names_that_are_held_as_bytes() -> None:
    assert fingerprints("k", [finding("caf\udcc3")]) != fingerprints("k", [finding("cafe")])
