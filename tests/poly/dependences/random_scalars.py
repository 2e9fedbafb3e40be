"""Random C functions over a few integers: every structured statement, no calls, no memory."""

from __future__ import annotations

from random import Random


class Writer:
    """Writes one function; `depth` bounds nesting."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.fresh = 0
        self.scope = ["a", "b", "c", "d", "p", "g"]
        self.counting: list[str] = []

    def function(self, name: str) -> str:
        body = self.block(3, loops=0)
        return f"int {name}(int p) {{ int a = p, b = 1, c, d = 2, i, j, k;\n{body}\nreturn {self.expr(2)}; }}\n"

    def block(self, depth: int, loops: int) -> str:
        kept = list(self.scope)
        text = "\n".join(self.statement(depth, loops) for _ in range(self.random.randint(1, 4)))
        self.scope = kept
        return text

    def variable(self) -> str:
        return self.random.choice(self.scope)

    def expr(self, depth: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.35:
            return self.variable() if self.random.random() < 0.75 else str(self.random.randint(0, 3))
        if kind < 0.8:
            op = self.random.choice(["+", "-", "*", "&", "<", ">", "==", "&&", "||"])
            return f"({self.expr(depth - 1)} {op} {self.expr(depth - 1)})"
        if kind < 0.9:
            return f"({self.expr(depth - 1)} ? {self.expr(depth - 1)} : {self.expr(depth - 1)})"
        if kind < 0.95:
            return f"({self.expr(depth - 1)} && ({self.written()} = {self.expr(depth - 1)}))"
        return f"(!{self.expr(depth - 1)})"

    def written(self) -> str:
        return self.random.choice([v for v in self.scope if v not in ("i", "j", "k", *self.counting)])

    def statement(self, depth: int, loops: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.4:
            return self.simple(loops)
        if kind < 0.6:
            other = f" else {{ {self.block(depth - 1, loops)} }}" if self.random.random() < 0.5 else ""
            return f"if ({self.expr(1)}) {{ {self.block(depth - 1, loops)} }}{other}"
        if kind < 0.88:
            return self.loop(depth, loops)
        if kind < 0.94:
            return self.switch(depth)
        return f"{{ {self.block(depth - 1, loops)} }}"

    def simple(self, loops: int) -> str:
        kind = self.random.random()
        if kind < 0.55:
            return f"{self.written()} = {self.expr(2)};"
        if kind < 0.7:
            return f"{self.written()} {self.random.choice(['+=', '-=', '*='])} {self.expr(1)};"
        if kind < 0.76:
            return f"{self.written()}{self.random.choice(['++', '--'])};"
        if kind < 0.9:
            self.fresh += 1
            name = f"t{self.fresh}"
            text = f"int {name} = {self.expr(2)};"
            self.scope = [*self.scope, name]
            return text
        if kind < 0.97 and loops:
            return f"if ({self.expr(1)}) {self.random.choice(['break', 'continue'])};"
        return f"if ({self.expr(1)} > 40) return {self.expr(1)};"

    def loop(self, depth: int, loops: int) -> str:
        kind = self.random.random()
        if kind < 0.7:
            free = [v for v in ("i", "j", "k") if v not in self.scope]
            if not free:
                return self.simple(loops)
            counter = free[0]
            # a variable that is updated elsewhere too
            others = [v for v in ("a", "b", "d", "g") if v not in self.counting]
            if others and self.random.random() < 0.2:
                counter = self.random.choice(others)
            kept = list(self.scope)
            bound = self.random.choice(["3", "p", "(p & 3)"])
            declares = "int " if counter == free[0] and self.random.random() < 0.3 else ""
            first = self.random.choice(["0", "1", "0" if declares or self.random.random() < 0.9 else counter])
            self.scope = [*self.scope, counter]
            self.counting.append(counter)
            body = self.block(depth - 1, loops + 1)
            self.counting.pop()
            self.scope = kept if declares or self.random.random() < 0.6 else [*kept]
            after = f" {self.written()} = {counter};" if not declares and self.random.random() < 0.2 else ""
            return f"for ({declares}{counter} = {first}; {counter} < {bound}; {counter}++) {{ {body} }}{after}"
        self.fresh += 1
        name = f"w{self.fresh}"
        kept = list(self.scope)
        body = self.block(depth - 1, loops + 1)
        self.scope = kept
        if kind < 0.85:
            return f"{{ int {name} = 3; while ({name}-- > 0 && {self.expr(1)}) {{ {body} }} }}"
        return f"{{ int {name} = 3; do {{ {body} }} while (--{name} > 0 && {self.expr(1)}); }}"

    def switch(self, depth: int) -> str:
        cases = []
        for label in range(self.random.randint(1, 3)):
            end = "break;" if self.random.random() < 0.7 else ""
            cases.append(f"case {label}: {{ {self.block(depth - 1, 0)} }} {end}")
        if self.random.random() < 0.5:
            cases.append(f"default: {{ {self.block(depth - 1, 0)} }}")
        return f"switch ({self.expr(1)} & 3) {{ {' '.join(cases)} }}"


def program(seed: int, count: int) -> str:
    """Return a translation unit of `count` functions f0, f1, … over a global g."""
    random = Random(seed)
    return "int g;\n" + "".join(Writer(random).function(f"f{k}") for k in range(count))
