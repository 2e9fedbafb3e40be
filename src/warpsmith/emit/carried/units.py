"""Units of memory: every block that the program's malloc and its like have given out, and every variable of static
storage, so that a pointer's whole object can be asked for.

    p = malloc(4000)          the table has [p, p + 4000)
    ws_unit_bytes(p + 100)    3900: from there to the end of the block        ws_unit_bytes(&local)   0: not known
    static int t[10];         the program's own symbol table has [t, t + 10); a program without one (strip): not known

Invariant: a block of the heap is known only while it lives, and only where its death would be seen (heap.py).
Variables may touch: where one ends where another begins, the address stands for both.

After Jablin et al., Automatic CPU-GPU Communication Management and Optimization (PLDI 2011).
"""

from __future__ import annotations

from warpsmith.emit.carried.heap import heap_text
from warpsmith.emit.carried.rows import ROWS, ROWS_DECLARATIONS, entered_rows, entered_rows_declarations
from warpsmith.emit.words import Support

__all__ = ["UNIT_HEADERS", "unit_declarations", "unit_text"]

UNIT_HEADERS = ("algorithm", "errno.h", "mutex", "sched.h", "stdint.h", "stdlib.h", "string.h", "vector")
"""What the table's text includes."""

_VARIABLES = """\
/* The variables of static storage, from the program's symbol table: sorted, those that overlap as one. */
#ifdef __linux__
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct ws_variable {
    uintptr_t start, end;
};

static int ws_program_base(struct dl_phdr_info *info, size_t, void *base)
{
    *(uintptr_t *)base = info->dlpi_addr;
    return 1;
}

static void ws_read_symbols(const char *file, size_t size, std::vector<ws_variable> *found)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)file;
    uintptr_t base = 0;
    if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(ElfW(Shdr)) ||
        head->e_shoff > size || (size - head->e_shoff) / sizeof(ElfW(Shdr)) < head->e_shnum)
        return;
    dl_iterate_phdr(ws_program_base, &base);
    const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *section = &sections[i];
        if (section->sh_type != SHT_SYMTAB || section->sh_offset > size || section->sh_size > size - section->sh_offset)
            continue;
        const ElfW(Sym) *symbol = (const ElfW(Sym) *)(file + section->sh_offset);
        for (size_t left = section->sh_size / sizeof *symbol; left > 0; left--, symbol++)
            if ((symbol->st_info & 15) == STT_OBJECT && symbol->st_size > 0 && symbol->st_shndx != SHN_UNDEF &&
                symbol->st_shndx < SHN_LORESERVE)
                found->push_back({base + symbol->st_value, base + symbol->st_value + symbol->st_size});
    }
}

static std::vector<ws_variable> ws_all_variables(void)
{
    std::vector<ws_variable> found, merged;
    struct stat about;
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0) {
        void *text = mmap(nullptr, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (text != MAP_FAILED) {
            ws_read_symbols((const char *)text, (size_t)about.st_size, &found);
            munmap(text, (size_t)about.st_size);
        }
    }
    if (file >= 0)
        close(file);
    std::sort(found.begin(), found.end(), [](const ws_variable &a, const ws_variable &b) { return a.start < b.start; });
    for (const ws_variable &one : found)
        if (!merged.empty() && one.start < merged.back().end)
            merged.back().end = std::max(merged.back().end, one.end);
        else
            merged.push_back(one);
    return merged;
}

/* Find the variable that `at` points into, or one past the end of; two, where one ends where the other begins. */
static bool ws_variable_find(const void *at, uintptr_t *start, size_t *bytes)
{
    static const std::vector<ws_variable> all = ws_all_variables();
    const uintptr_t place = (uintptr_t)at;
    auto next = std::upper_bound(all.begin(), all.end(), place,
                                 [](uintptr_t a, const ws_variable &b) { return a < b.start; });
    if (next == all.begin())
        return false;
    const ws_variable *one = &*(next - 1);
    if (place > one->end)
        return false;
    *start = one->start;
    if (place == one->start && one != &all.front() && (one - 1)->end == place)
        *start = (one - 1)->start;
    *bytes = one->end - *start;
    return true;
}
#else
static bool ws_variable_find(const void *, uintptr_t *, size_t *)
{
    return false;
}
#endif

static bool ws_unit_of(const void *at, uintptr_t *start, size_t *bytes, bool row = false)
{
    ws_units_settle();
    return ws_unit_find(at, start, bytes, row) || ws_variable_find(at, start, bytes);
}
"""

_QUESTIONS = """\
/* Bytes from `at` to the end of the block that holds it; 0 where none is known. */
extern "C" WS_WEAK_UNITS size_t ws_unit_bytes(const void *at)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    return ws_unit_of(at, &start, &bytes) ? start + bytes - (uintptr_t)at : 0;
}

/* The first element of the block that holds `at`, counted from there (so never more than 0), and the one past its last:
   only those that lie in it as a whole. */
extern "C" WS_WEAK_UNITS long long ws_unit_lower(const void *at, size_t element)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    return ws_unit_of(at, &start, &bytes) ? -(long long)(((uintptr_t)at - start) / element) : 0;
}

extern "C" WS_WEAK_UNITS long long ws_unit_upper(const void *at, size_t element)
{
    return (long long)(ws_unit_bytes(at) / element);
}

/* The bytes of all these elements. */
extern "C" WS_WEAK_UNITS long long ws_unit_size(const void *at, size_t element)
{
    return (ws_unit_upper(at, element) - ws_unit_lower(at, element)) * (long long)element;
}

/* Whether one of two pointers points into a known block, or one past its end, and the other does not point there. */
extern "C" WS_WEAK_UNITS int ws_units_apart(const void *one, const void *other)
{
    uintptr_t start = 0, other_start = 0;
    size_t bytes = 0, other_bytes = 0;
    const bool known = ws_unit_of(one, &start, &bytes);
    const bool other_known = ws_unit_of(other, &other_start, &other_bytes);
    if (!known || !other_known)
        return known || other_known;
    return start + bytes <= other_start || other_start + other_bytes <= start;
}
"""

_DECLARATIONS = """\
/* The block of the heap that holds an address: bytes from there to its end (0: not known), its elements of a size,
   counted from there, and how many bytes those are; whether two addresses lie in different ones. */
size_t ws_unit_bytes(const void *at);
long long ws_unit_lower(const void *at, size_t element);
long long ws_unit_upper(const void *at, size_t element);
long long ws_unit_size(const void *at, size_t element);
int ws_units_apart(const void *one, const void *other);
"""

_UPDATES = """\
/* Make one copy of the block that holds `at` valid, where it is present; of everything where no block is known. */
extern "C" void ws_update_host_block(const void *at, const char *file, int line)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    if (ws_unit_of(at, &start, &bytes))
        ws_update_host((const void *)start, (long long)bytes, file, line);
    else
        ws_update_host_all(file, line);
}

extern "C" void ws_update_device_block(const void *at, const char *file, int line)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    if (ws_unit_of(at, &start, &bytes))
        ws_update_device((const void *)start, (long long)bytes, file, line);
    else
        ws_update_device_all(file, line);
}
"""

_UPDATE_DECLARATIONS = """\
void ws_update_host_block(const void *at, const char *file, int line);
void ws_update_device_block(const void *at, const char *file, int line);
"""

_WATCHED = """\
/* Whether memory may be kept: it lives for ever, or its death is seen. */
static bool ws_unit_watch(const void *at)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    return WS_SEEN ws_variable_find(at, &start, &bytes);
}
"""


def unit_text(support: Support, *, present: bool = False) -> str:
    """Return the table; it stands beside the pool in the one kernel file that has it, behind what is `present`.

    Its names are the same in every program, since the tree has them. A program that is a port itself may have the
    table already: then either of the two serves.
    """
    weak = "" if support.prefix == "ws" else "__attribute__((weak)) "
    updates = [_UPDATES.replace("ws_update", support.prefix + "_update"), _watched(support)] if present else []
    entered = [entered_rows(support)] if present else []
    heap = heap_text(support, watched=present)
    parts = (heap, _VARIABLES, _QUESTIONS, ROWS, *updates, *entered)
    return "\n".join(parts).replace("WS_WEAK_UNITS ", weak)


def _watched(support: Support) -> str:
    """Return the question of the present table: of two tables of blocks in one program only one sees blocks die."""
    seen = "ws_block_watch(at) || " if support.prefix == "ws" else ""
    return _WATCHED.replace("ws_unit_watch", support.watch).replace("WS_SEEN ", seen)


def unit_declarations(support: Support, *, present: bool = False) -> str:
    """Return what host text needs to know of it, as C and C++; <stddef.h> is included before."""
    updates = _UPDATE_DECLARATIONS.replace("ws_update", support.prefix + "_update")
    entered = entered_rows_declarations(support)
    return _DECLARATIONS + ROWS_DECLARATIONS + (updates + entered if present else "")
