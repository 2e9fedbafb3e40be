"""C integer expressions as polynomials: exact where the machine's arithmetic is, and asking for what it needs."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping

import pytest
from msgspec import Struct, field

from tests.poly.expressions import expressions
from tests.poly.isl.evaluation import holds
from warpsmith.poly.isl.affine import AffineReader, compare
from warpsmith.poly.isl.formula import TRUE, both, negate
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.poly.isl.space import make_set
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.tree.nodes import Expr, Name
from warpsmith.tree.types import LONG, UNSIGNED, Scalar

PARAMETERS = "int n, int m, int i, unsigned u, unsigned v, unsigned char c, long w, unsigned long z, double x, int *a"
UNKNOWN = "m"


class Oracle(Struct):
    """`m` is not known, nor is memory; i is a counter, the others are parameters. What is required is noted."""

    vocabulary: AtomVocabulary
    granting: bool
    asked: list[Polynomial] = field(default_factory=list)

    def scalar(self, name: Name) -> Polynomial | None:
        if name.symbol.name == UNKNOWN or not isinstance(name.type, Scalar):
            return None
        if name.symbol.name == "i":
            return atom(self.vocabulary.counter(name.symbol, "loop", None))
        return atom(self.vocabulary.parameter(name.symbol, name.symbol.name, name, name.type))

    def load_parameter(self, expr: Expr) -> Polynomial | None:
        return None

    def require(self, nonnegative: tuple[Polynomial, ...], what: Expr) -> bool:
        self.asked += nonnegative
        return self.granting


def reader(*, granting: bool = True) -> tuple[AffineReader, Oracle]:
    oracle = Oracle(AtomVocabulary(), granting)
    return AffineReader(oracle.vocabulary, oracle), oracle


@functools.cache
def _all() -> dict[str, Expr]:
    texts = [text for table in (VALUES, UNSIGNED_SUMS, CONDITIONS) for text, _ in table]
    texts += [
        *DIVISIONS,
        "n",
        "z",
        "i * (w + 1)",
        "w * (w + 1)",
        "n == 0 ? i * w : i * w - w",
        "n == 0 ? i * w : i * i",
    ]
    return dict(zip(texts, expressions(PARAMETERS, *texts), strict=True))


def read(text: str) -> Expr:
    """Return an expression of this file: all are parsed at once."""
    return _all()[text]


def shown(text: str, *, granting: bool = True) -> str | None:
    """Return the exact value of an expression in the user's names."""
    affine, _ = reader(granting=granting)
    value = affine.exact(read(text))
    return None if value is None else affine.vocabulary.text(value)


VALUES: list[tuple[str, str | None]] = [
    ("n + 3 - 2 * n", "-n + 3"),
    ("-n", "-n"),
    ("~n", "-n - 1"),
    ("+n << 3", "8*n"),
    ("n << 32", None),
    ("n << -1", None),
    ("n * (n + 1)", "n*n + n"),
    ("sizeof(long) * 2", "16"),
    ("c + 1", "c + 1"),
    ("(long)n + w", "n + w"),
    ("m + 1", None),
    ("n / n", None),
    ("n / 0", None),
    ("n % 0", None),
    ("n / -2", None),
    ("n >> 32", None),
    ("n ^ 1", None),
    ("n & 6", None),
    ("n | 1", None),
    ("(int)x", None),
    ("x", None),
    ("(_Bool)n", None),
    ("n / 1", "n"),
    ("n > 2 ? n : m", None),
]


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_values(text: str, expected: str | None) -> None:
    assert shown(text) == expected


UNSIGNED_SUMS: list[tuple[str, list[str] | None]] = [
    ("u + 1", ["u + 1", "-u + 4294967294"]),
    ("u - v", ["u - v", "-u + v + 4294967295"]),
    # modulo 2^32 the middle of a sum needs no range, only its end does
    ("u - v + v", []),
    ("(unsigned char)n", ["n", "-n + 255"]),
    ("n + u", []),
    ("w + c", []),
    ("z - 1", ["z - 1", "-z + 18446744073709551616"]),
    ("(int)u", ["u + 2147483648", "-u + 2147483647"]),
    ("5u - 6u", None),
]


@pytest.mark.parametrize(("text", "asked"), UNSIGNED_SUMS)
def test_what_unsigned_arithmetic_asks_for(text: str, asked: list[str] | None) -> None:
    expr = read(text)
    affine, oracle = reader()
    value = affine.exact(expr)
    missing = [p for p in oracle.asked if not _is_in_its_type(affine.vocabulary, p)]
    if asked is None:
        assert value is None, "a number out of its range is no value"
        return
    assert value is not None
    if not asked:
        return
    assert [affine.vocabulary.text(p) for p in missing] == asked
    refused, _ = reader(granting=False)
    assert refused.exact(expr) is None


def _is_in_its_type(vocabulary: AtomVocabulary, value: Polynomial) -> bool:
    """Whether one unsigned atom is plainly at least zero."""
    (name,) = value.atoms() if len(value.atoms()) == 1 else ("",)
    low = vocabulary[name].low if name else None
    return low == 0 and value == atom(name)


def test_a_conversion_asks_for_the_range_of_its_target() -> None:
    n, z = read("n"), read("z")
    affine, oracle = reader()
    assert affine.exact(n, LONG) is not None and not oracle.asked, "every int is a long"
    assert affine.exact(n, UNSIGNED) is not None and len(oracle.asked) == 2
    del oracle.asked[:]
    assert affine.exact(z, LONG) is not None
    assert [affine.vocabulary.text(p) for p in oracle.asked][1:] == ["-z + 9223372036854775807"]


DIVISIONS: dict[str, Callable[[int], int]] = {
    "n / 3": lambda n: abs(n) // 3 * (1 if n >= 0 else -1),
    "n % 3": lambda n: (abs(n) % 3) * (1 if n >= 0 else -1),
    "n >> 2": lambda n: n >> 2,
    "n & 7": lambda n: n & 7,
    "7 & n": lambda n: n & 7,
    "(n > 4) + (n == 2)": lambda n: int(n > 4) + int(n == 2),
    "!n": lambda n: int(n == 0),
    "n < 3 ? 2 * n : n - 5": lambda n: 2 * n if n < 3 else n - 5,
    "(n - 1) / 2 * 2 - n": lambda n: int((n - 1) / 2) * 2 - n,
}


@pytest.mark.parametrize("text", DIVISIONS)
def test_what_is_pinned_down_is_the_value_that_c_computes(text: str) -> None:
    affine, oracle = reader()
    value = affine.exact(read(text))
    assert value is not None
    name = next(x for x in oracle.vocabulary.atoms if oracle.vocabulary[x].text == "n")
    for n in range(-9, 10):
        for off in (-1, 0, 1):
            said = compare("==", value, constant(DIVISIONS[text](n) + off))
            here = compare("==", atom(name), constant(n))
            found = make_set(oracle.vocabulary, (), both([here, said]))
            assert found.is_empty() == (off != 0), (n, off)


CONDITIONS: list[tuple[str, bool]] = [
    ("n < 3 && n >= -2", True),
    ("n < 3 || n == 7", True),
    ("!(n <= 3)", True),
    ("n != 2", True),
    ("n", True),
    ("!n || !(n > 1 && n < 5)", True),
    ("n > 3 && m", False),
    ("n > 3 || x > 0", False),
    ("x > 0", False),
    ("m == 3", False),
]


@pytest.mark.parametrize(("text", "exact"), CONDITIONS)
def test_conditions(text: str, exact: bool) -> None:
    affine, oracle = reader()
    expr = read(text)
    (yes, sure), (no, surely) = affine.condition(expr), affine.condition(expr, False)
    assert sure == surely == exact
    names = {x for x in oracle.vocabulary.atoms if oracle.vocabulary[x].text == "n"}
    for n in range(-4, 9):
        values: Mapping[str, int] = dict.fromkeys(names, n)
        python = text.replace("&&", " and ").replace("||", " or ").replace("!(", "not (").replace("!n", "not n")
        results = {bool(eval(python, {"n": n, "m": m, "x": x})) for m, x in itertools.product((0, 3, 1), (-1, 1))}
        assert holds(yes, values) or True not in results, "what may hold is not excluded"
        assert holds(no, values) or False not in results
        assert not exact or holds(yes, values) != holds(no, values)


def test_a_condition_of_which_nothing_is_known_says_nothing() -> None:
    affine, _ = reader()
    assert affine.condition(read("x > 0")) == (TRUE, False)


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons_are_those_of_integers(op: str) -> None:
    formula = compare(op, atom("a"), atom("b"))
    for a, b in itertools.product(range(-2, 3), repeat=2):
        assert holds(formula, {"a": a, "b": b}) == eval(f"{a} {op} {b}")
        assert holds(negate(formula), {"a": a, "b": b}) != holds(formula, {"a": a, "b": b})


def test_strides_beside_a_counter_stay_one_name() -> None:
    """A width that is a sum is one atom beside a counter; `n ? i*w : i*w - w` is i*w - b*w where b is 0 or 1."""
    affine, oracle = reader()
    wide = affine.exact(read("i * (w + 1)"))
    assert wide is not None and len(wide.terms) == 1 and affine.vocabulary.text(wide) in ("i*(w + 1)", "(w + 1)*i")
    plain = affine.exact(read("w * (w + 1)"))
    assert plain is not None and len(plain.terms) == 2, "without a counter it is multiplied out"
    stepped = affine.exact(read("n == 0 ? i * w : i * w - w"))
    assert stepped is not None
    beside = [m for m in stepped.terms if any(oracle.vocabulary[x].text == "w" for x in m)]
    assert len(beside) == 2 and sorted(stepped.terms.values()) == [-1, 1]
    assert affine.exact(read("n == 0 ? i * w : i * i")) is None
