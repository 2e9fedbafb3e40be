"""Programs with `target` directives run with a device memory of its own, without a device: each directive becomes calls
that keep a table of copies, and what stands behind a construct works on these. Copies begin as NaN.

Programs have one directive a line, behind a construct one line, and behind `target data` a block of its own; arrays are
`double *`, other variables that constructs name `double`.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

__all__ = ["on_device", "outputs"]

RUNTIME = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
enum { PAD = 64, MOST = 64, NOWHERE = 4096 };
static struct copy { char *host; size_t bytes; double *room; int count; } table_[MOST];
static double nowhere_[NOWHERE];
static struct copy *find_(void *p) {
    for (int k = 0; k < MOST; k++)
        if (table_[k].count && (char *)p >= table_[k].host && (char *)p < table_[k].host + table_[k].bytes)
            return &table_[k];
    return 0;
}
/* the device's own memory: no address of it can be used as it is */
enum { DEVICE = 0, HOST = 1 };
static const size_t FAR = (size_t)1 << 50;
static int omp_get_default_device(void) { return DEVICE; }
static int omp_get_initial_device(void) { return HOST; }
static void *near_(const void *p, int device) { return (char *)p - (device == DEVICE ? FAR : 0); }
static void *omp_target_alloc(size_t bytes, int device) { return (char *)malloc(bytes) + (device == DEVICE ? FAR : 0); }
static void omp_target_free(void *p, int device) { free(near_(p, device)); }
static int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t at, size_t of, int one, int other) {
    memcpy((char *)near_(to, one) + at, (char *)near_(from, other) + of, bytes);
    return 0;
}
static void *dev_(double *p) {
    struct copy *c = find_(p);
    if (c) return (char *)(c->room + PAD) + ((char *)p - c->host);
    for (int k = 0; k < NOWHERE; k++) nowhere_[k] = NAN;
    return nowhere_ + NOWHERE / 2;
}
static void *dev_array_(double *p) {
    if ((size_t)p >= FAR) return near_(p, DEVICE);
    if (find_(p)) return dev_(p);
    for (int k = 0; k < MOST; k++)  /* a section need not begin at the first of 16 elements */
        if (table_[k].count && (char *)p <= table_[k].host && table_[k].host - (char *)p < 16 * (int)sizeof *p)
            return (char *)(table_[k].room + PAD) - (table_[k].host - (char *)p);
    return dev_(p);
}
static void come_(double *p, int n, int to, int always) {
    struct copy *c = find_(p);
    if (!c) {
        for (c = table_; c->count; c++) {}
        c->host = (char *)p;
        c->bytes = n * sizeof *p;
        c->room = malloc((n + 2 * PAD) * sizeof *p);
        for (int k = 0; k < n + 2 * PAD; k++) c->room[k] = NAN;
        always = 1;
    }
    c->count++;
    if (to && always) memcpy(dev_(p), p, n * sizeof *p);
}
static void go_(double *p, int n, int back, int always, int gone) {
    struct copy *c = find_(p);
    if (!c) return;
    c->count = gone ? 0 : c->count - 1;
    if (back && (!c->count || always)) {
        int k = c->count;
        c->count = 1;
        memcpy(p, dev_(p), n * sizeof *p);
        c->count = k;
    }
}
static void update_(double *p, int n, int to) {
    if (!find_(p)) return;
    if (to) memcpy(dev_(p), p, n * sizeof *p); else memcpy(p, dev_(p), n * sizeof *p);
}
"""
_ITEM = re.compile(r"(\w+)\s*(?:\[([^:\]]*):([^\]]*)\])?")
_CLAUSE = re.compile(r"\b(map|to|from|reduction)\s*\(((?:[^()]|\([^()]*\))*)\)")


def on_device(text: str) -> str:
    """Return a C program that does what `text` does with a device of its own memory."""
    lines = text.splitlines()
    arrays = dict.fromkeys(re.findall(r"double \*(?:restrict )?(\w+)", text))
    scalars = [s for s in dict.fromkeys(re.findall(r"double (\w+)(?= =|;)", text)) if s not in arrays]
    found: list[str] = []
    closing: list[tuple[int, str]] = []
    depth = 0
    position = 0
    while position < len(lines):
        line = lines[position]
        pragma = re.match(r"\s*#pragma omp target ?(.*)", line)
        position += 1
        if pragma is None:
            depth += line.count("{") - line.count("}")
            if closing and depth == closing[-1][0]:
                line = closing.pop()[1] + line
            found.append(line)
        elif pragma[1].startswith("data"):
            found.append(lines[position].rstrip() + _calls(pragma[1], scalars, come=True))
            closing.append((depth, _calls(pragma[1], scalars, come=False)))
            depth += 1
            position += 1
        elif pragma[1].startswith("enter"):
            found.append("{" + _calls(pragma[1], scalars, come=True) + "}")
        elif pragma[1].startswith("exit"):
            found.append("{" + _calls(pragma[1], scalars, come=False) + "}")
        elif pragma[1].startswith("update"):
            found.append("{" + _updates(pragma[1], scalars) + "}")
        else:
            found.append(_construct(pragma[1], lines[position], list(arrays), scalars))
            position += 1
    body = "\n".join(line for line in found if not line.startswith("#include"))
    return RUNTIME + body + "\n"


def _items(clauses: str) -> list[tuple[str, list[str], tuple[str, str, str]]]:
    found = []
    for name, listed in _CLAUSE.findall(clauses):
        words, _, rest = listed.rpartition(":") if name == "reduction" else _split(listed)
        for part in re.split(r",(?![^\[]*\])", rest):
            item = _ITEM.match(part.strip())
            assert item is not None, part
            found.append((name, [w.strip() for w in words.split(",")], (item[1], item[2] or "0", item[3] or "1")))
    return found


def _split(listed: str) -> tuple[str, str, str]:
    head = re.match(r"([\w ,]+):(?!\s*\w+\s*\])", listed)
    return (head[1], ":", listed[head.end() :]) if head is not None else ("", "", listed)


def _address(item: tuple[str, str, str], scalars: list[str]) -> str:
    return f"&{item[0]}, 1" if item[0] in scalars else f"{item[0]} + ({item[1]}), {item[2]}"


def _calls(clauses: str, scalars: list[str], *, come: bool) -> str:
    calls = []
    for name, words, item in _items(clauses):
        if name != "map":
            continue
        to, back = (int(any(w in good for w in words)) for good in (("to", "tofrom", ""), ("from", "tofrom", "")))
        always, gone = int("always" in words), int("delete" in words)
        if item[1:] == ("0", "1") and item[0] not in scalars and f"{item[0]}[" not in clauses:
            continue  # the pointer itself
        address = _address(item, scalars)
        calls.append(f" come_({address}, {to}, {always});" if come else f" go_({address}, {back}, {always}, {gone});")
    return "".join(calls)


def _updates(clauses: str, scalars: list[str]) -> str:
    return "".join(
        f" update_({_address(item, scalars)}, {int(name == 'to')});"
        for name, _, item in _items(clauses)
        if name != "map"
    )


def _construct(clauses: str, stmt: str, arrays: list[str], scalars: list[str]) -> str:
    named = {item[0]: name for name, _, item in _items(clauses)}
    used = [a for a in arrays if re.search(rf"\b{a}\b", stmt)]
    own = [s for s in scalars if re.search(rf"\b{s}\b", stmt)]
    outside = "".join(f" double *H_{a} = {a};" for a in used)
    inside = "".join(f" double *{a} = dev_array_(H_{a});" for a in used)
    back = ""
    for s in own:
        shared = f"find_(&{s}) ? dev_(&{s}) : &{s}" if s in named else f"&F_{s}"
        outside += f" double F_{s} = {s}; double *P_{s} = {shared};"
        inside += f" double {s} = *P_{s};"
        back += f" *P_{s} = {s};"
    calls = (_calls(clauses, scalars, come=come) for come in (True, False))
    return "{" + next(calls) + " {" + outside + " {" + inside + stmt + back + " } }" + next(calls) + " }"


def outputs(texts: list[str], folder: Path) -> list[tuple[str, str]]:
    """Return what each program prints as it is, and on a device: all in one build, one process for each."""
    results = []
    for number, text in enumerate(texts):
        pair = []
        for kind, source in (("host", text), ("device", on_device(text))):
            path = folder / f"{kind}{number}.c"
            path.write_text(source)
            program = path.with_suffix("")
            command = [
                "gcc",
                "-std=gnu17",
                "-w",
                "-O0",
                "-Wno-unknown-pragmas",
                str(path),
                "-o",
                str(program),
                "-lm",
                "-lgomp",
            ]
            subprocess.run(command, check=True, timeout=60)
            done = subprocess.run([str(program)], capture_output=True, text=True, timeout=10, check=False)
            pair.append(f"{done.stdout}{done.returncode}")
        results.append((pair[0], pair[1]))
    return results
