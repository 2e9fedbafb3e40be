"""Target constructs whose threads ask for their numbers: `READ` become loops, `LEFT` do not, for the reason given.

Each is the body of `void work(int teams, int n, double *a, double *b)` with 8 threads a team; `a` and `b` have
8 * teams elements, and n is at most that.
"""

from __future__ import annotations

__all__ = ["LEFT", "READ", "program"]

_HEAD = """#include <omp.h>
#define B 8
static double total;
"""


def program(body: str, more: str = "") -> str:
    """Return a unit whose function `work` is `body`."""
    return f"{_HEAD}{more}void work(int teams, int n, double *a, double *b)\n{{\n{body.strip(chr(10))}\n}}\n"


_BEGIN = "#pragma omp target teams num_teams(teams) thread_limit(B) map(tofrom: a[0:teams * B], b[0:teams * B])\n"


READ: dict[str, str] = {
    "no barrier": _BEGIN
    + """    {
#pragma omp parallel
        {
            int i = omp_get_team_num() * omp_get_num_threads() + omp_get_thread_num();
            if (i < n)
                a[i] = 2 * b[i];
        }
    }""",
    "a number of teams that only the clause names": "    const int all = teams;\n"
    + _BEGIN.replace("num_teams(teams)", "num_teams(all)")
    + """    {
#pragma omp parallel
        {
            int i = omp_get_team_num() * B + omp_get_thread_num();
            if (i < n)
                a[i] = 3 * b[i];
        }
    }""",
    "turned in a team": _BEGIN
    + """    {
        double part[B];
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            int i = omp_get_team_num() * B + t;
            part[t] = b[i];
#pragma omp barrier
            a[i] = part[B - 1 - t];
        }
    }""",
    "a thread's own variable on both sides": _BEGIN
    + """    {
        double part[B];
#pragma omp parallel
        {
            const int t = omp_get_thread_num(), i = omp_get_team_num() * B + t;
            double mine = b[i] + 1;
            double few[2];
            few[0] = mine;
            few[1] = t;
            part[t] = mine * mine;
#pragma omp barrier
            a[i] = part[(t + 1) % B] + mine + few[0] * few[1];
        }
    }""",
    "halves": _BEGIN
    + """    {
        double part[B];
#pragma omp parallel
        {
            unsigned t = omp_get_thread_num();
            int team = omp_get_team_num();
            part[t] = b[team * B + t];
#pragma omp barrier
            for (int h = B / 2; h > 0; h /= 2) {
                if (t < h)
                    part[t] += part[t + h];
#pragma omp barrier
            }
            if (t == 0)
                a[team] = part[0];
        }
    }""",
    "steps of all threads": _BEGIN
    + """    {
        double part[64];
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            int size = omp_get_num_threads();
            for (int k = t; k < 64; k += size)
                part[k] = k * b[0];
#pragma omp barrier
            for (int k = omp_get_team_num() * size + t; k < n; k += size * omp_get_num_teams())
                a[k] = part[k % 64];
        }
    }""",
    "a scalar of the team": _BEGIN
    + """    {
        double sum;
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            double mine = b[omp_get_team_num() * B + t];
            if (t == 0)
                sum = 0;
#pragma omp barrier
#pragma omp atomic
            sum += mine;
#pragma omp barrier
            if (t == B - 1)
                a[omp_get_team_num()] = sum;
        }
    }""",
    "barriers in a loop that counts": _BEGIN
    + """    {
        double part[B];
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            int rounds = teams / 2 + 1;
            double mine = 0;
            for (int r = 0; r < rounds; r++) {
                double here = b[r * B + t];
                part[t] = here;
#pragma omp barrier
                mine += part[B - 1 - t] * (r + 1) - here;
#pragma omp barrier
            }
            a[omp_get_team_num() * B + t] = mine;
        }
    }""",
    "a branch of all threads": _BEGIN
    + """    {
        double part[B];
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            int i = omp_get_team_num() * B + t;
            part[t] = b[i];
#pragma omp barrier
            if (omp_get_team_num() % 2 == 0) {
                b[i] = part[B - 1 - t];
#pragma omp barrier
                a[i] = b[i] + 1;
            } else
                a[i] = -1;
        }
    }""",
    "two regions": _BEGIN
    + """    {
        double part[B];
        double factor = 2.0 * n;
#pragma omp parallel
        part[omp_get_thread_num()] = factor * b[omp_get_team_num() * B + omp_get_thread_num()];
#pragma omp parallel
        {
            int me = omp_get_thread_num();
            a[omp_get_team_num() * B + me] = part[B - 1 - me];
        }
    }""",
    "a number of threads that is asked for": """#pragma omp target teams num_teams(teams) map(tofrom: a[0:teams * B])
    {
#pragma omp parallel num_threads(B)
        a[omp_get_team_num() * B + omp_get_thread_num()] = omp_get_thread_num();
    }""",
    "a place in memory": _BEGIN
    + """    {
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            double *row = &a[omp_get_team_num() * B];
            double *end = row + B - 1;
            row[t] = b[t];
#pragma omp barrier
            if (t == 0)
                *end = row[0];
        }
    }""",
}


LEFT: dict[str, tuple[str, str]] = {
    "a barrier of some threads": (_BEGIN + """    {
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            if (t < 4) {
                a[t] = 1;
#pragma omp barrier
                b[t] = a[3 - t];
            }
        }
    }""", "whether threads meet a barrier depends on what may differ between them"),
    "a barrier that memory decides": (_BEGIN + """    {
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            while (a[0] < n) {
                b[t] = t;
#pragma omp barrier
                a[t] = b[B - 1 - t];
#pragma omp barrier
            }
        }
    }""", "a barrier stands in what is not known to be the same for all threads"),
    "rounds that differ": (_BEGIN + """    {
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            for (int r = 0; r < t; r++) {
                a[t] = r;
#pragma omp barrier
            }
        }
    }""", "whether threads meet a barrier depends on what may differ between them"),
    "a counter that threads change": (_BEGIN + """    {
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            for (int r = B; r > 0; r /= 2) {
                a[t] = r;
#pragma omp barrier
                if (t == 0)
                    r = 1;
            }
        }
    }""", "a loop with a barrier in it has no counter that is the same in all threads"),
    "no number of teams": ("""#pragma omp target teams thread_limit(B) map(tofrom: a[0:n])
    {
#pragma omp parallel
        a[omp_get_team_num() * B + omp_get_thread_num()] = 1;
    }""", "without num_teams the number of teams is the implementation's choice"),
    "no number of threads": ("""#pragma omp target teams num_teams(teams) map(tofrom: a[0:n])
    {
#pragma omp parallel
        a[omp_get_team_num() * B + omp_get_thread_num()] = 1;
    }""", "without thread_limit or num_threads the number of threads is the implementation's choice"),
    "more threads than allowed": ("""#pragma omp target teams num_teams(teams) thread_limit(4) map(tofrom: a[0:n])
    {
#pragma omp parallel num_threads(8)
        a[omp_get_team_num() * B + omp_get_thread_num()] = 1;
    }""", "its regions ask for numbers of threads that are not one known number"),
    "a private clause": (_BEGIN + """    {
        int k = 1;
#pragma omp parallel private(k)
        {
            k = omp_get_thread_num();
            a[k] = 1;
        }
    }""", "what 'private(k)' means for its teams is not read"),
    "a lower bound": ("""#pragma omp target teams num_teams(1: teams) thread_limit(B) map(tofrom: a[0:n])
    {
#pragma omp parallel
        a[omp_get_team_num() * B + omp_get_thread_num()] = 1;
    }""", "num_teams(1: teams) is not read"),
    "a shared loop": (_BEGIN + """    {
#pragma omp parallel
        {
            int t = omp_get_thread_num();
#pragma omp for
            for (int k = 0; k < B; k++)
                a[k] = t;
        }
    }""", "'omp for' stands in it"),
    "critical": (_BEGIN + """    {
#pragma omp parallel
        {
            int t = omp_get_thread_num();
#pragma omp critical
            a[0] += t;
        }
    }""", "'omp critical' stands in it"),
    "a number of teams that a team changes": ("""#pragma omp target teams num_teams(n) thread_limit(B) map(tofrom: n)
    {
#pragma omp parallel
        if (omp_get_thread_num() == 0)
            n = 1;
    }""", "num_teams may change while the construct runs"),
    "a variable that nobody maps": (_BEGIN + """    {
#pragma omp parallel
        if (omp_get_thread_num() == 0)
            n = omp_get_team_num();
    }""", "it writes n, which no map clause names"),
    "one thread asks": (_BEGIN + """    {
        a[omp_get_thread_num()] = 1;
#pragma omp parallel
        b[omp_get_thread_num()] = 1;
    }""", "one thread of each team asks for its number"),
    "a question about levels": (_BEGIN + """    {
#pragma omp parallel
        a[omp_get_thread_num() + omp_get_level()] = 1;
    }""", "it asks omp_get_level"),
    "a conditional of the preprocessor": (_BEGIN + """    {
#pragma omp parallel
        {
            int t = omp_get_thread_num();
#ifdef MORE
            a[t] = 2;
#endif
            b[t] = 1;
        }
    }""", "it has a construct that is not modelled"),
    "own values of threads whose number is not known": (
        """#pragma omp target teams num_teams(teams) thread_limit(n) map(tofrom: a[0:n], b[0:n])
    {
#pragma omp parallel
        {
            int t = omp_get_thread_num();
            double mine = a[t];
            b[t] = mine;
#pragma omp barrier
            a[t] = mine + b[0];
        }
    }""", "mine is used on both sides of a barrier, and how many threads there are is no constant"),
}  # fmt: skip
