"""Random target constructs in which no two threads meet in memory between two barriers, by construction.

In every phase each array of the team is one of two: threads write and read their own element of it, `p[perm(t)]`, or
all read all of it. What a thread keeps for itself is set in one phase and used in any later one.
"""

from __future__ import annotations

import random

__all__ = ["THREADS", "random_construct"]

THREADS = 8
_PLACES = ("t", "B - 1 - t", "(t + 3) % B", "t ^ 1")
_ANYWHERE = ("(t + 1) % B", "B - 1 - t", "(t * 3 + 1) % B", "0", "B - 1", "(t + {r}) % B")


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.own: list[str] = []
        self.lines: list[str] = []
        self.known = ["t", "i", "team"]
        self.arrays = ["p", "q"]
        self.round = "1"

    def value(self, read: list[str], places: dict[str, str]) -> str:
        """Return an expression of what a thread may read in this phase."""
        choices = [f"b[i] * {self.random.randint(1, 5)}", f"{self.random.choice(self.known)} + 1.0"]
        choices += [f"{name} * 2" for name in self.own]
        choices += [f"{name}[{self.random.choice(_ANYWHERE).format(r=self.round)}]" for name in read]
        choices += [f"{name}[{place}]" for name, place in places.items()]
        return " + ".join(self.random.choice(choices) for _ in range(self.random.randint(1, 3)))

    def phase(self, indent: str, *, declares: bool) -> None:
        """Write what threads do up to the next barrier."""
        written = [name for name in self.arrays if self.random.random() < 0.5]
        read = [name for name in self.arrays if name not in written]
        places = {name: self.random.choice(_PLACES) for name in written}
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.random()
            value = self.value(read, places)
            if kind < 0.35 and written:
                name = self.random.choice(written)
                self.lines.append(f"{indent}{name}[{places[name]}] {self.random.choice(('=', '+='))} {value};")
            elif kind < 0.55 and declares:
                name = f"v{len(self.own)}"
                const = self.random.choice(("", "const "))
                self.lines.append(f"{indent}{const}double {name} = {value};")
                self.own.append(name)
            elif kind < 0.65 and declares:
                name = f"k{len(self.known)}"
                start = self.random.choice(("team * B + t", "t / 2", "teams * 3", "t * 5 + i"))
                self.lines.append(f"{indent}int {name} = {start};")
                if self.random.random() < 0.4:
                    self.lines.append(f"{indent}{name}++;")
                self.known.append(name)
            elif kind < 0.75:
                first = self.random.choice(("t", "0"))
                step = "size" if first == "t" else "2"
                self.lines.append(f"{indent}for (int j = {first}; j < 2 * B; j += {step})")
                self.lines.append(f"{indent}    a[i] += j * {self.random.randint(1, 3)} + {value};")
            elif kind < 0.85:
                self.lines.append(f"{indent}if (t % 2 == {self.random.randint(0, 1)})")
                self.lines.append(f"{indent}    a[i] -= {value};")
            elif kind < 0.92 and self.own and not declares:
                self.lines.append(f"{indent}a[i] += {self.random.choice(self.own)};")
            else:
                self.lines.append(f"{indent}a[i] = a[i] * 0.5 + {value};")

    def barrier(self) -> None:
        self.lines.append("#pragma omp barrier")

    def loop(self) -> None:
        """Write a loop that all threads go through together."""
        kind = self.random.randint(0, 2)
        head = ("for (int r = 0; r < 3; r++)", "for (int r = B / 2; r > 0; r /= 2)", "for (int r = teams; r > 0; r--)")
        self.lines.append(f"            {head[kind]} {{")
        self.round = "r"
        own, known = [*self.own], [*self.known]
        for _ in range(self.random.randint(1, 2)):
            self.phase("                ", declares=True)
            self.barrier()
        self.own, self.known, self.round = own, known, "1"
        self.lines.append("            }")

    def text(self) -> str:
        for _ in range(self.random.randint(2, 4)):
            if self.random.random() < 0.3:
                self.loop()
            else:
                self.phase("            ", declares=True)
            self.barrier()
        self.phase("            ", declares=False)
        body = "\n".join(self.lines)
        return f"""#pragma omp target teams num_teams(teams) thread_limit(B) map(tofrom: a[0:n], b[0:n])
    {{
        double p[B], q[B];
#pragma omp parallel
        {{
            int t = omp_get_thread_num(), size = omp_get_num_threads();
            int team = omp_get_team_num();
            int i = team * size + t;
            p[t] = t;
            q[t] = b[i];
#pragma omp barrier
{body}
        }}
    }}"""


def random_construct(seed: int) -> str:
    """Return the body of `work` (constructs.py) for a seed."""
    return _Maker(seed).text()
