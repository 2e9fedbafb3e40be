"""The op table: the one place that says how many operands an op has, of which types, what it costs and what it may do.

    shape     types of operands → results              T: the op's own type, which its domain limits
    unary     T → T                                    binary   T, T → T            ternary  T, T, T → T
    shift     T, i32 → T    amounts beyond the width shift everything out (PTX), no modulus
    compare   T, T → i1                                test     T → i1              select   i1, T, T → T
    count     T → i32                                  wide     T, T → twice T      carry    T, T[, i1] → T, i1
    extract   T, i32, i32 → T                          insert   T, T, i32, i32 → T  permute  i32, i32, i32[, i32] → i32
    convert   S → T         by its domain: bits of the same size, widening, narrowing, number to number
    query param address     → T                        load     address → T …       store    address, T … →
    atomic    address, T[, T] → T                      vote     i1[, mask] → i1 or i32
    shuffle   T, i32, i32[, mask] → T[, i1]            match    T[, mask] → i32[, i1]
    reduce    i32[, mask] → i32                        barrier fence warp          see Barrier, Fence, Exchange
    free      anything → anything                      calls, and what we do not model

PTX spelling: `ptx`, with {n} for the bits of the type and {r} for how it rounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

__all__ = ["OPS", "Cost", "Domain", "Effect", "Op", "Shape"]

Domain = Literal["integer", "float", "predicate", "bits", "logic", "any"]
"""`bits`: integer or float; `logic`: integer or predicate."""

Effect = Literal["pure", "reads", "writes", "lanes", "synchronizes", "unknown"]
"""`lanes`: what it gives depends on which lanes run it together; `writes` includes atomics, which read as well."""

Cost = Literal[
    "none", "alu", "multiply", "divide", "float", "special", "convert", "memory", "atomic", "exchange", "barrier",
    "call",
]  # fmt: skip

Shape = Literal[
    "unary", "binary", "ternary", "shift", "compare", "test", "select", "count", "wide", "carry", "extract", "insert",
    "permute", "convert", "query", "param", "address", "load", "store", "atomic", "vote", "shuffle", "match", "reduce",
    "barrier", "fence", "warp", "free",
]  # fmt: skip


class Op(Struct, frozen=True):
    """One row. `commutes`: operands 0 and 1 may change places; `c`: its C spelling, `{0}` the first operand."""

    name: str
    shape: Shape
    domain: Domain
    cost: Cost
    effect: Effect = "pure"
    commutes: bool = False
    ptx: str = ""
    c: str = ""

    @property
    def pure(self) -> bool:
        """Whether its results depend on its operands alone and it does nothing else."""
        return self.effect == "pure"


def _rows() -> Iterable[Op]:
    yield from _integer()
    yield from _float()
    yield from _comparisons()
    yield from _conversions()
    yield from _machine()


def _integer() -> Iterable[Op]:
    yield Op("add", "binary", "integer", "alu", commutes=True, ptx="add.s{n}", c="{0} + {1}")
    yield Op("mul", "binary", "integer", "multiply", commutes=True, ptx="mul.lo.s{n}", c="{0} * {1}")
    for name, c in (("and", "{0} & {1}"), ("or", "{0} | {1}"), ("xor", "{0} ^ {1}")):
        yield Op(name, "binary", "logic", "alu", commutes=True, ptx=f"{name}.b{{n}}", c=c)
    yield Op("sub", "binary", "integer", "alu", ptx="sub.s{n}", c="{0} - {1}")
    for name in ("smin", "smax", "umin", "umax"):
        yield Op(name, "binary", "integer", "alu", commutes=True, ptx=f"{name[1:]}.{name[0]}{{n}}", c=f"{name[1:]}")
    for sign in "su":
        yield Op(f"{sign}mulhi", "binary", "integer", "multiply", commutes=True, ptx=f"mul.hi.{sign}{{n}}")
        yield Op(f"{sign}mulwide", "wide", "integer", "multiply", commutes=True, ptx=f"mul.wide.{sign}{{n}}")
        yield Op(f"{sign}div", "binary", "integer", "divide", ptx=f"div.{sign}{{n}}", c="{0} / {1}")
        yield Op(f"{sign}rem", "binary", "integer", "divide", ptx=f"rem.{sign}{{n}}", c="{0} % {1}")
        yield Op(f"{sign}sad", "ternary", "integer", "alu", ptx=f"sad.{sign}{{n}}")
        yield Op(f"{sign}extract", "extract", "integer", "alu", ptx=f"bfe.{sign}{{n}}")
        yield Op(f"{sign}addsat", "binary", "integer", "alu", commutes=True, ptx=f"add.sat.{sign}{{n}}")
        yield Op(f"{sign}subsat", "binary", "integer", "alu", ptx=f"sub.sat.{sign}{{n}}")
        yield Op(f"{sign}dot4", "ternary", "integer", "multiply", ptx=f"dp4a.{sign}32.{sign}32")
    yield Op("insert", "insert", "integer", "alu", ptx="bfi.b{n}")
    yield Op("neg", "unary", "integer", "alu", ptx="neg.s{n}", c="-{0}")
    yield Op("abs", "unary", "integer", "alu", ptx="abs.s{n}", c="abs({0})")
    yield Op("not", "unary", "logic", "alu", ptx="not.b{n}", c="~{0}")
    yield Op("reverse", "unary", "integer", "alu", ptx="brev.b{n}", c="__brev({0})")
    for name, ptx in (
        ("popcount", "popc.b{n}"),
        ("leading", "clz.b{n}"),
        ("sfind", "bfind.s{n}"),
        ("ufind", "bfind.u{n}"),
    ):
        yield Op(name, "count", "integer", "alu", ptx=ptx)
    yield Op("shl", "shift", "integer", "alu", ptx="shl.b{n}", c="{0} << {1}")
    yield Op("lshr", "shift", "integer", "alu", ptx="shr.u{n}", c="{0} >> {1}")
    yield Op("ashr", "shift", "integer", "alu", ptx="shr.s{n}", c="{0} >> {1}")
    for name, ptx in (("funnel_left", "shf.l.wrap.b32"), ("funnel_right", "shf.r.wrap.b32"), ("permute", "prmt.b32")):
        yield Op(name, "permute", "integer", "alu", ptx=ptx)
    yield Op("funnel_left_clamp", "permute", "integer", "alu", ptx="shf.l.clamp.b32")
    yield Op("funnel_right_clamp", "permute", "integer", "alu", ptx="shf.r.clamp.b32")
    yield Op("logic3", "permute", "integer", "alu", ptx="lop3.b32")
    yield Op("add_carry", "carry", "integer", "alu", ptx="addc.cc.u{n}")
    yield Op("sub_borrow", "carry", "integer", "alu", ptx="subc.cc.u{n}")


def _float() -> Iterable[Op]:
    yield Op("fadd", "binary", "float", "float", commutes=True, ptx="add{r}.f{n}", c="{0} + {1}")
    yield Op("fmul", "binary", "float", "float", commutes=True, ptx="mul{r}.f{n}", c="{0} * {1}")
    yield Op("fsub", "binary", "float", "float", ptx="sub{r}.f{n}", c="{0} - {1}")
    yield Op("fdiv", "binary", "float", "divide", ptx="div{r}.f{n}", c="{0} / {1}")
    yield Op("ffma", "ternary", "float", "float", commutes=True, ptx="fma{r}.f{n}", c="fma({0}, {1}, {2})")
    # fmin and fmax give the number where one operand is NaN, the others NaN
    for name in ("fmin", "fmax"):
        yield Op(name, "binary", "float", "alu", commutes=True, ptx=f"{name[1:]}.f{{n}}", c=f"{name}({{0}}, {{1}})")
        yield Op(f"{name}_nan", "binary", "float", "alu", commutes=True, ptx=f"{name[1:]}.NaN.f{{n}}")
    yield Op("copysign", "binary", "float", "alu", ptx="copysign.f{n}", c="copysign({1}, {0})")
    yield Op("fneg", "unary", "float", "alu", ptx="neg.f{n}", c="-{0}")
    yield Op("fabs", "unary", "float", "alu", ptx="abs.f{n}", c="fabs({0})")
    yield Op("fround", "unary", "float", "convert", ptx="cvt{r}.f{n}.f{n}", c="rint({0})")
    for name, ptx in (("sqrt", "sqrt"), ("rsqrt", "rsqrt"), ("rcp", "rcp"), ("sin", "sin"), ("cos", "cos")):
        yield Op(name, "unary", "float", "special", ptx=f"{ptx}{{r}}.f{{n}}", c=f"{name}({{0}})")
    for name, ptx in (("exp2", "ex2"), ("log2", "lg2"), ("tanh", "tanh")):
        yield Op(name, "unary", "float", "special", ptx=f"{ptx}.approx.f{{n}}", c=f"{name}({{0}})")


def _comparisons() -> Iterable[Op]:
    for name, sign in (("eq", "=="), ("ne", "!=")):
        yield Op(name, "compare", "logic", "alu", commutes=True, ptx=f"setp.{name}.s{{n}}", c=f"{{0}} {sign} {{1}}")
    for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
        for kind in "su":
            yield Op(
                f"{kind}{name}", "compare", "integer", "alu", ptx=f"setp.{name}.{kind}{{n}}", c=f"{{0}} {sign} {{1}}"
            )
    # o: false where an operand is NaN, u: true
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        same = name in ("eq", "ne")
        yield Op(f"fo{name}", "compare", "float", "alu", commutes=same, ptx=f"setp.{name}.f{{n}}")
        yield Op(f"fu{name}", "compare", "float", "alu", commutes=same, ptx=f"setp.{name}u.f{{n}}")
    yield Op("ordered", "compare", "float", "alu", commutes=True, ptx="setp.num.f{n}")
    yield Op("unordered", "compare", "float", "alu", commutes=True, ptx="setp.nan.f{n}")
    for name in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        yield Op(f"is_{name}", "test", "float", "alu", ptx=f"testp.{name}.f{{n}}")
    yield Op("select", "select", "any", "alu", ptx="selp.b{n}", c="{0} ? {1} : {2}")


def _conversions() -> Iterable[Op]:
    for name in ("zext", "sext", "trunc"):
        yield Op(name, "convert", "integer", "convert")
    for name in ("fext", "ftrunc"):
        yield Op(name, "convert", "float", "convert")
    for name in ("sitof", "uitof", "ftosi", "ftoui"):
        yield Op(name, "convert", "bits", "convert")
    yield Op("bitcast", "convert", "bits", "none")


def _machine() -> Iterable[Op]:
    yield Op("query", "query", "integer", "alu", ptx="mov.u{n}")
    yield Op("param", "param", "bits", "memory", ptx="ld.param")
    yield Op("address", "address", "integer", "none", ptx="mov.u64")
    # from the address in one space to that in the generic one, and back
    yield Op("to_generic", "unary", "integer", "none", ptx="cvta")
    yield Op("from_generic", "unary", "integer", "none", ptx="cvta.to")
    yield Op("load", "load", "bits", "memory", "reads", ptx="ld")
    yield Op("store", "store", "bits", "memory", "writes", ptx="st")
    for name in (
        "add",
        "smin",
        "smax",
        "umin",
        "umax",
        "and",
        "or",
        "xor",
        "exchange",
        "compare",
        "inc",
        "dec",
        "fadd",
    ):
        yield Op(f"atomic_{name}", "atomic", "bits", "atomic", "writes", ptx=f"atom.{name}")
    yield Op("vote", "vote", "predicate", "exchange", "lanes", ptx="vote.sync")
    yield Op("shuffle", "shuffle", "bits", "exchange", "lanes", ptx="shfl.sync")
    yield Op("match", "match", "integer", "exchange", "lanes", ptx="match.sync")
    yield Op("reduce", "reduce", "integer", "exchange", "lanes", ptx="redux.sync")
    yield Op("active", "query", "integer", "alu", "lanes", ptx="activemask.b32")
    yield Op("barrier", "barrier", "any", "barrier", "synchronizes", ptx="barrier.sync")
    yield Op("warp_barrier", "warp", "any", "barrier", "synchronizes", ptx="bar.warp.sync")
    yield Op("fence", "fence", "any", "memory", "synchronizes", ptx="membar")
    # a function of its operands, lane by lane, that we have no semantics for
    yield Op("lanewise", "free", "any", "alu")
    yield Op("call", "free", "any", "call", "unknown", ptx="call")
    yield Op("unmodeled", "free", "any", "call", "unknown")


OPS: Final = {op.name: op for op in _rows()}
