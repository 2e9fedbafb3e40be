"""Statements: blocks, declarations, control (C17 6.8).

for (init; condition; advance) body

…init ─► head: condition ─► body ─► again: advance ─► head
              └► after
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from warpsmith.base.source import Span
from warpsmith.lower.control import branch
from warpsmith.lower.conversions import convert_value, number
from warpsmith.lower.frame import Frame, JumpTargets, key_of
from warpsmith.lower.layout import NotModeled, is_object, value_type
from warpsmith.lower.names import initialize
from warpsmith.lower.operators import arithmetic, compare_operands
from warpsmith.lower.places import Target, load, store
from warpsmith.ssa.nodes import Branch, Constant, Construct, Jump, Return, Switch, Undefined
from warpsmith.ssa.types import I1, I8
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import INT, Symbol

__all__ = ["end_labels", "run"]


def run(frame: Frame, statement: nodes.Stmt) -> None:
    """Lower a statement. What control cannot reach is written to a block that nothing leads to."""
    if frame.builder.ended:
        name = frame.builder.fresh("unreached")
        frame.builder.seal(name)
        frame.builder.start(name)
    before = frame.builder.span
    frame.at(statement.span)
    rule = _RULES.get(type(statement))
    try:
        if rule is None:
            raise NotModeled("a statement of this kind")
        rule(frame, statement)
    except NotModeled as problem:
        frame.blame(problem, statement.span)
        frame.lost = frame.lost or isinstance(statement, _CONTROL)
        if not frame.builder.ended:
            frame.emit_unknown(tree.VOID, problem.reason)
    frame.builder.span = before


def _block(frame: Frame, s: nodes.Block) -> None:
    for part in s.statements:
        run(frame, part)


def _expression(frame: Frame, s: nodes.ExprStmt) -> None:
    frame.value(s.expr)


def _nothing(frame: Frame, s: nodes.Stmt) -> None:
    """Lower what does nothing."""


# --- declarations


def _declarations(frame: Frame, s: nodes.DeclStmt) -> None:
    for one in s.declarations:
        frame.at(one.span)
        _declare(frame, one.symbol, one.init, one.span)


def _declare(frame: Frame, symbol: Symbol, init: nodes.Expr | None, span: Span) -> None:
    if symbol.space in ("shared", "dynamic"):
        frame.share_variable(symbol)
        return
    if symbol.storage == "static local" and symbol.key in frame.rules.constants:
        return
    if symbol.storage in ("global", "static", "function") or symbol.key in frame.rules.globals:
        return
    frame.declared.add(symbol.key)
    if is_object(symbol.type) or symbol.key in frame.addressed:
        try:
            place = frame.declare(symbol, "local")
        except NotModeled as problem:
            raise NotModeled(f"{symbol.name}: {problem.reason}", span) from problem
        if init is not None:
            initialize(frame, place, symbol.type, init)
        return
    own = value_type(symbol.type)
    value = Undefined(own) if init is None else frame.as_type(init, symbol.type)
    frame.builder.write(key_of(symbol), value)


# --- choices


def _if(frame: Frame, s: nodes.If) -> None:
    builder = frame.builder
    then, after = builder.fresh("then"), builder.fresh("after")
    other = builder.fresh("else") if s.other is not None else after
    branch(frame, s.condition, then, other, "if")
    for block, arm in ((then, s.then), (other, s.other)):
        if arm is not None:
            builder.seal(block)
            builder.start(block)
            run(frame, arm)
            _leave(frame, after)
    builder.seal(after)
    builder.start(after)


def _leave(frame: Frame, target: str) -> None:
    """Go to `target` where control comes to the end of the block."""
    if not frame.builder.ended:
        frame.builder.end(Jump(target, frame.builder.span))


def _switch(frame: Frame, s: nodes.Switch) -> None:
    builder = frame.builder
    kind = tree.promote(s.value.type)
    value = frame.as_type(s.value, kind)
    after = builder.fresh("after")
    blocks = [builder.fresh("case") for _ in s.cases]
    cases: list[tuple[int, str]] = []
    other = after
    for case, block in zip(s.cases, blocks, strict=True):
        for label in case.labels:
            if label is None:
                other = block
            else:
                cases.append((_label(frame, label, kind), block))
    builder.end(Switch(value, tuple(cases), other, span=builder.span))
    frame.loops.append(JumpTargets(after, None))
    for case, block in zip(s.cases, blocks, strict=True):
        if block != blocks[0]:
            _leave(frame, block)
        builder.seal(block)
        builder.start(block)
        for part in case.body:
            run(frame, part)
    frame.loops.pop()
    _leave(frame, after)
    builder.seal(after)
    builder.start(after)


def _label(frame: Frame, label: nodes.Expr, kind: tree.Type) -> int:
    """Return the number of a case, as the bits that the value of the switch has."""
    found = frame.as_type(label, kind)
    if not isinstance(found, Constant):
        raise NotModeled("a case whose label is no number", label.span)
    return found.bits


# --- loops


def _while(frame: Frame, s: nodes.While) -> None:
    builder = frame.builder
    if s.init is not None:
        run(frame, s.init)
    if s.form == "do":
        _do(frame, s)
        return
    head, body, after = builder.fresh("head"), builder.fresh("body"), builder.fresh("after")
    again = builder.fresh("again") if s.advance is not None else head
    builder.end(Jump(head, builder.span))
    builder.start(head)
    _test(frame, s.condition, body, after, s.form)
    builder.seal(body)
    builder.start(body)
    _body(frame, s.body, JumpTargets(after, again))
    _leave(frame, again)
    if s.advance is not None:
        builder.seal(again)
        builder.start(again)
        frame.value(s.advance)
        _leave(frame, head)
    builder.seal(head)
    builder.seal(after)
    builder.start(after)


def _test(frame: Frame, condition: nodes.Expr | None, body: str, after: str, construct: Construct) -> None:
    if condition is None:
        frame.builder.end(Jump(body, frame.builder.span))
    else:
        branch(frame, condition, body, after, construct)


def _do(frame: Frame, s: nodes.While) -> None:
    builder = frame.builder
    body, again, after = builder.fresh("body"), builder.fresh("again"), builder.fresh("after")
    builder.end(Jump(body, builder.span))
    builder.start(body)
    _body(frame, s.body, JumpTargets(after, again))
    _leave(frame, again)
    builder.seal(again)
    builder.start(again)
    _test(frame, s.condition, body, after, "do")
    builder.seal(body)
    builder.seal(after)
    builder.start(after)


def _body(frame: Frame, body: nodes.Stmt, loop: JumpTargets) -> None:
    frame.loops.append(loop)
    run(frame, body)
    frame.loops.pop()


def _for(frame: Frame, s: nodes.For) -> None:
    """Lower a canonical loop."""
    builder, variable = frame.builder, s.variable
    type = variable.type
    if s.declares:
        _declare(frame, variable, s.lower, s.span)
    else:
        store(builder, frame.variable(variable), type, frame.as_type(s.lower, type))
    head, body, again, after = (builder.fresh(stem) for stem in ("head", "body", "again", "after"))
    builder.end(Jump(head, builder.span))
    builder.start(head)
    frame.at(s.header)
    common = tree.common_type(type, s.bound.type)
    left = convert_value(builder, load(builder, frame.variable(variable), type), type, common)
    condition = compare_operands(frame, s.relation, common, left, frame.as_type(s.bound, common))
    builder.end(Branch(condition, body, after, span=builder.span, construct="for"))
    builder.seal(body)
    builder.start(body)
    _body(frame, s.body, JumpTargets(after, again))
    _leave(frame, again)
    builder.seal(again)
    builder.start(again)
    frame.at(s.header)
    _advance(frame, frame.variable(variable), type, s.step)
    builder.end(Jump(head, builder.span))
    builder.seal(head)
    builder.seal(after)
    builder.start(after)


def _advance(frame: Frame, target: Target, type: tree.Type, step: int) -> None:
    builder = frame.builder
    common = tree.common_type(type, INT)
    before = convert_value(builder, load(builder, target, type), type, common)
    made = arithmetic(frame, "+", common, before, number(value_type(common), step))
    store(builder, target, type, convert_value(builder, made, common, type))


def _break(frame: Frame, s: nodes.Break) -> None:
    if not frame.loops:
        raise NotModeled("a break outside of loops")
    frame.builder.end(Jump(frame.loops[-1].exit, frame.builder.span))


def _continue(frame: Frame, s: nodes.Continue) -> None:
    again = next((loop.again for loop in reversed(frame.loops) if loop.again is not None), None)
    if again is None:
        raise NotModeled("a continue outside of loops")
    frame.builder.end(Jump(again, frame.builder.span))


def _return(frame: Frame, s: nodes.Return) -> None:
    builder = frame.builder
    if s.value is None:
        builder.end(Return((), builder.span))
    elif frame.returned is not None:
        initialize(frame, frame.returned, frame.result, s.value)
        builder.end(Return((), builder.span))
    elif isinstance(frame.result, tree.Scalar) and frame.result.kind == "void":
        frame.value(s.value)
        builder.end(Return((), builder.span))
    else:
        value = frame.as_type(s.value, frame.result)
        if value.type == I1:
            value = builder.emit("zext", (value,), I8)
        builder.end(Return((value,), builder.span))


def _jump(frame: Frame, name: str) -> str:
    """Return the block of a label, which may come later; who goes there is known at the end."""
    if name not in frame.labels:
        frame.labels[name] = frame.builder.fresh(f"at_{name}")
    return frame.labels[name]


def end_labels(frame: Frame, span: Span) -> None:
    """Check that each label that something goes to has been met."""
    for name, block in frame.labels.items():
        if not frame.builder.is_started(block):
            frame.blame(NotModeled(f"the label {name}, which stands where nothing is modeled"), span)
            frame.lost = True


def _verbatim(frame: Frame, s: nodes.Verbatim) -> None:
    if s.marks:
        _leave(frame, _jump(frame, s.marks))
        frame.builder.start(_jump(frame, s.marks))
        return
    if s.goes:
        frame.builder.end(Jump(_jump(frame, s.goes), frame.builder.span))
        return
    frame.blame(NotModeled(s.reason), s.span)
    frame.unknown_text(s)
    if s.control:
        frame.lost = True


_RULES: Final[Mapping[type, Callable[[Frame, Any], None]]] = {
    nodes.Block: _block,
    nodes.DeclStmt: _declarations,
    nodes.ExprStmt: _expression,
    nodes.If: _if,
    nodes.For: _for,
    nodes.While: _while,
    nodes.Switch: _switch,
    nodes.Break: _break,
    nodes.Continue: _continue,
    nodes.Return: _return,
    nodes.Empty: _nothing,
    nodes.Pragma: _nothing,
    nodes.Verbatim: _verbatim,
}
_CONTROL: Final = (nodes.If, nodes.For, nodes.While, nodes.Switch, nodes.Break, nodes.Continue)
"""Where one of these is not modeled, nobody knows where control goes."""
