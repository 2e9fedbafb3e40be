"""Random loop bodies that set scalars to latest values, and near misses; with programs that compare what is said of it.

    int f3(…) { for (i …) { note x, y, z, s; if (p[i] > 2) { t = x; x = y; y = t; } w[i] = q[i]; } }

For each body the values and sources that `find_latest` gives are computed for all iterations first, on the arrays as
they are before the loop, and combined in random groups; what they say must be what the loop has noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from warpsmith.poly.dependences.latest import LatestValue
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.types import Symbol

__all__ = ["FIRST", "VARIABLES", "original", "program"]

VARIABLES = ("x", "y", "z", "s")
FIRST = "x = 3, y = 5, z = 7"
_PARAMETERS = "int n, const int *p, const int *q, int *w"


class _Writer:
    """Writes the body of one loop."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.fresh = 0

    def body(self) -> str:
        return " ".join(self.statement(2) for _ in range(self.random.randint(2, 5)))

    def statement(self, depth: int) -> str:
        kind, random = self.random.random(), self.random
        name = random.choice(VARIABLES)
        if depth and kind < 0.3:
            other = f" else {{ {self.statements(depth)} }}" if random.random() < 0.5 else ""
            return f"if ({self.condition()}) {{ {self.statements(depth)} }}{other}"
        if depth and kind < 0.36:
            return f"if ({self.condition()}) {{ {self.statements(depth)} continue; }}"
        if kind < 0.46:
            return f"w[i] = {self.given()};"
        if kind < 0.56:
            self.fresh += 1
            one, two, held = name, random.choice(VARIABLES), f"t{self.fresh}"
            return f"{random.choice(['int', 'int', 'short'])} {held} = {one}; {one} = {two}; {two} = {held};"
        if kind < 0.58:
            return f"{name} = q[i] << 13; s = {name};"
        if kind < 0.6:
            return f"{name} {random.choice(['+=', '*='])} {self.given()};"
        if kind < 0.63:
            return f"for (int j = 0; j < 2; j++) {name} = {self.given()};"
        return f"{name} = {self.value()};"

    def statements(self, depth: int) -> str:
        return " ".join(self.statement(depth - 1) for _ in range(self.random.randint(1, 2)))

    def given(self) -> str:
        return self.random.choice(
            ["p[i]", "q[i]", "w[i]", "i", "4", "p[i] * 3 - q[i]", "w[i] + 1", "q[i] << 13", "p[i] << 14"]
        )

    def value(self) -> str:
        kind, name = self.random.random(), self.random.choice(VARIABLES)
        if kind < 0.4:
            return self.given()
        if kind < 0.75:
            return name
        if kind < 0.9:
            return f"{self.condition()} ? {self.random.choice([name, self.given()])} : {self.given()}"
        return f"{name} + {self.given()}"

    def condition(self) -> str:
        kind, name = self.random.random(), self.random.choice(VARIABLES)
        if kind < 0.85:
            return self.random.choice(["p[i] > 3", "q[i] & 1", "w[i] > 4", "i % 3 == 0", "!(p[i] > q[i])"])
        return f"{name} > 4" if kind < 0.93 else f"({name} = {self.given()}) > 4"


def original(number: int, seed: int) -> str:
    """Return function number `number`, with the loop that `find_latest` is asked about."""
    body = _Writer(Random(seed)).body()
    head = f"int f{number}({_PARAMETERS}) {{ int {FIRST}; short s = 9;"
    return f"{head} for (int i = 0; i < n; i++) {{ {body} }} return 0; }}"


def program(texts: Sequence[str], found: Sequence[Mapping[Symbol, LatestValue]]) -> str:
    """Return the program that prints the numbers of the functions of which something wrong is said."""
    parts = [_HEAD]
    for number, (text, latest) in enumerate(zip(texts, found, strict=True)):
        note = "for (int k = 0; k < 4; k++) seen[i * 4 + k] = k == 0 ? x : k == 1 ? y : k == 2 ? z : s;"
        noted = text.replace(f"int f{number}({_PARAMETERS})", f"static void f{number}({_PARAMETERS}, int *seen)")
        noted = noted.replace("int i = 0; i < n; i++) {", f"int i = 0; i < n + 1; i++) {{ {note} if (i == n) break;")
        parts.append(noted.replace("return 0; }", "}"))
        parts.append(_maps(number, latest))
    functions = [", ".join(f"{word}{number}" for number in range(len(texts))) for word in "fg"]
    return "\n".join([*parts, _MAIN.replace("RUNS", functions[0]).replace("MAPS", functions[1])])


def _maps(number: int, latest: Mapping[Symbol, LatestValue]) -> str:
    lines = []
    for symbol, one in latest.items():
        at = VARIABLES.index(symbol.name)
        group = ", ".join(str(VARIABLES.index(member.name)) for member in one.group)
        lines.append(f"{{ static const int group[] = {{{group}}}; int from = {Printer().expr(one.source)};")
        lines.append(f"value[i * 4 + {at}] = {Printer().expr(one.value)};")
        lines.append(f"source[i * 4 + {at}] = from < 0 ? -1 : group[from]; known[{at}] = 1; }}")
    head = f"static void g{number}({_PARAMETERS}, int *value, int *source, int *known)"
    return f"{head} {{ int {FIRST}; short s = 9; for (int i = 0; i < n; i++) {{ {' '.join(lines)} }} }}"


_HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int value[4], source[4]; } map;
static map after(map later, map earlier)
{
    map both = later;
    for (int k = 0; k < 4; k++)
        if (later.source[k] >= 0) {
            both.value[k] = earlier.value[later.source[k]];
            both.source[k] = earlier.source[later.source[k]];
        }
    return both;
}
static map combined(const map *maps, int count)
{
    if (count == 1) return maps[0];
    int left = 1 + rand() % (count - 1);
    map earlier = combined(maps, left);
    return after(combined(maps + left, count - left), earlier);
}
"""
_MAIN = """
enum { N = 11 };
typedef void run_t(int, const int *, const int *, int *, int *);
typedef void maps_t(int, const int *, const int *, int *, int *, int *, int *);
int main(void)
{
    static run_t *const runs[] = {RUNS};
    static maps_t *const all[] = {MAPS};
    for (int f = 0; f < (int)(sizeof runs / sizeof *runs); f++) {
        int wrong = 0;
        for (int turn = 0; turn < 6; turn++) {
            int p[N], q[N], w[N], seen[(N + 1) * 4], value[N * 4], source[N * 4], known[4] = {0};
            for (int i = 0; i < N; i++) { p[i] = rand() % 8; q[i] = rand() % 8; w[i] = rand() % 8; }
            all[f](N, p, q, w, value, source, known);
            runs[f](N, p, q, w, seen);
            map maps[N + 1] = {{{3, 5, 7, 9}, {-1, -1, -1, -1}}};
            for (int i = 0; i < N; i++)
                for (int k = 0; k < 4; k++) {
                    maps[i + 1].value[k] = known[k] ? value[i * 4 + k] : 0;
                    maps[i + 1].source[k] = known[k] ? source[i * 4 + k] : -1;
                }
            for (int i = 0; i <= N; i++) {
                map before = combined(maps, i + 1);
                for (int k = 0; k < 4; k++) wrong |= known[k] && before.value[k] != seen[i * 4 + k];
            }
        }
        if (wrong) printf("%d ", f);
    }
    return 0;
}
"""
