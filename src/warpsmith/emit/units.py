"""Units of memory: every block that the program's malloc and its like have given out, and every variable of static
storage, so that a pointer's whole object can be asked for.

    p = malloc(4000)          the table has [p, p + 4000)
    ws_unit_bytes(p + 100)    3900: from there to the end of the block        ws_unit_bytes(&local)   0: not known
    static int t[10];         the program's own symbol table has [t, t + 10); a program without one (strip): not known

The allocation functions are defined here as weak symbols over the C library's own, which is possible with glibc. All or
nothing: where one of them is somebody else's (the program has its own malloc, or is linked statically), blocks may die
unseen, and nothing is known. Then guards fail, and the user's own loops run.

Invariant: a block is in the table only while it lives; blocks never touch each other (the C library keeps its own words
between them), so that one past the end of a block is in no other one. Variables may touch: where one ends where another
begins, the address stands for both.

After Jablin et al., Automatic CPU-GPU Communication Management and Optimization (PLDI 2011).
"""

from __future__ import annotations

from warpsmith.emit.words import Support

__all__ = ["UNIT_HEADERS", "unit_declarations", "unit_text"]

UNIT_HEADERS = ("algorithm", "errno.h", "mutex", "sched.h", "stdint.h", "stdlib.h", "string.h", "vector")
"""What the table's text includes."""

_TABLE = """\
/* The blocks of the heap by address: a treap, whose nodes are not themselves in it. A port without a loop that asks for
   blocks does not have this. */

#if defined __SANITIZE_THREAD__ && !defined __clang__
#define WS_PLAIN __attribute__((no_sanitize_thread))
#elif defined __clang__
#define WS_PLAIN __attribute__((no_sanitize("thread")))
#else
#define WS_PLAIN
#endif

struct ws_unit {
    uintptr_t start;
    size_t bytes;
    uintptr_t rank;
    ws_unit *left, *right;
    bool told;
};

static ws_unit *ws_units, *ws_spare_units;
static bool ws_unit_lock;
/* Whether blocks may die unseen: then only those count that somebody has told of. */
static bool ws_unit_blind;

#if defined __GLIBC__
extern "C" void *__libc_malloc(size_t bytes) noexcept;
#define WS_UNIT_MEMORY(bytes) __libc_malloc(bytes)
#else
#define WS_UNIT_MEMORY(bytes) malloc(bytes)
#endif

WS_PLAIN static void ws_units_enter(void)
{
    while (__atomic_test_and_set(&ws_unit_lock, __ATOMIC_ACQUIRE))
        sched_yield();
}

WS_PLAIN static void ws_units_leave(void)
{
    __atomic_clear(&ws_unit_lock, __ATOMIC_RELEASE);
}

WS_PLAIN static ws_unit *ws_unit_node(void)
{
    if (ws_spare_units == nullptr) {
        const size_t count = 1024;
        ws_unit *more = (ws_unit *)WS_UNIT_MEMORY(count * sizeof *more);
        for (size_t i = 0; more != nullptr && i < count; i++) {
            more[i].left = ws_spare_units;
            ws_spare_units = &more[i];
        }
    }
    ws_unit *node = ws_spare_units;
    if (node != nullptr)
        ws_spare_units = node->left;
    return node;
}

/* Take the block that starts at `start` out; false where there is none. */
WS_PLAIN static bool ws_unit_out(uintptr_t start)
{
    ws_unit **link = &ws_units;
    while (*link != nullptr && (*link)->start != start)
        link = start < (*link)->start ? &(*link)->left : &(*link)->right;
    ws_unit *node = *link;
    if (node == nullptr)
        return false;
    ws_unit *left = node->left, *right = node->right;
    while (left != nullptr && right != nullptr)
        if (left->rank > right->rank) {
            *link = left;
            link = &left->right;
            left = *link;
        } else {
            *link = right;
            link = &right->left;
            right = *link;
        }
    *link = left != nullptr ? left : right;
    node->left = ws_spare_units;
    ws_spare_units = node;
    return true;
}

/* Put a block in; without memory for its node it stays unknown. */
WS_PLAIN static void ws_unit_in(uintptr_t start, size_t bytes, bool told)
{
    ws_unit_out(start);
    ws_unit *node = ws_unit_node();
    if (node == nullptr)
        return;
    node->start = start;
    node->bytes = bytes;
    node->told = told;
    node->rank = start * (uintptr_t)0x9E3779B97F4A7C15u;
    ws_unit **link = &ws_units;
    while (*link != nullptr && (*link)->rank >= node->rank)
        link = start < (*link)->start ? &(*link)->left : &(*link)->right;
    ws_unit *rest = *link, **left = &node->left, **right = &node->right;
    while (rest != nullptr)
        if (rest->start < start) {
            *left = rest;
            left = &rest->right;
            rest = *left;
        } else {
            *right = rest;
            right = &rest->left;
            rest = *right;
        }
    *left = *right = nullptr;
    *link = node;
}

WS_PLAIN static void *ws_unit_record(void *start, size_t bytes, bool told)
{
    if (start == nullptr)
        return start;
    const int before = errno;
    ws_units_enter();
    ws_unit_in((uintptr_t)start, bytes, told);
    ws_units_leave();
    errno = before;
    return start;
}

/* Tell the table of a block that lives from now on, and of one that dies, where the C library is not the allocator. */
extern "C" WS_WEAK_UNITS WS_PLAIN void ws_unit_note(const void *start, size_t bytes)
{
    ws_unit_record((void *)start, bytes, true);
}

extern "C" WS_WEAK_UNITS WS_PLAIN void ws_unit_forget(const void *start)
{
    if (start == nullptr)
        return;
    ws_units_enter();
    ws_unit_out((uintptr_t)start);
    ws_units_leave();
}

/* Find the block that `at` points into, or one past the end of. */
WS_PLAIN static bool ws_unit_find(const void *at, uintptr_t *start, size_t *bytes)
{
    ws_units_enter();
    const ws_unit *found = nullptr;
    for (const ws_unit *node = ws_units; node != nullptr;)
        if (node->start <= (uintptr_t)at) {
            found = node;
            node = node->right;
        } else
            node = node->left;
    const bool seen = found != nullptr && (found->told || !ws_unit_blind);
    const bool known = seen && (uintptr_t)at - found->start <= found->bytes;
    if (known) {
        *start = found->start;
        *bytes = found->bytes;
    }
    ws_units_leave();
    return known;
}
"""

_FAMILY = """\
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define WS_SEES_HEAP 1
#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef WS_SEES_HEAP
#endif
#endif
#endif

#ifdef WS_SEES_HEAP
/* The allocation functions, over the C library's. Weak: where the program has its own, those are the ones to count. */
extern "C" {
void *__libc_calloc(size_t count, size_t bytes) noexcept;
void *__libc_realloc(void *old, size_t bytes) noexcept;
void *__libc_memalign(size_t alignment, size_t bytes) noexcept;
void *__libc_valloc(size_t bytes) noexcept;
void *__libc_pvalloc(size_t bytes) noexcept;
void __libc_free(void *memory) noexcept;
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *library) noexcept;

static void *ws_heap_malloc(size_t bytes) noexcept
{
    return ws_unit_record(__libc_malloc(bytes), bytes, false);
}

static void *ws_heap_calloc(size_t count, size_t bytes) noexcept
{
    return ws_unit_record(__libc_calloc(count, bytes), count * bytes, false);
}

static void *ws_heap_realloc(void *old, size_t bytes) noexcept
{
    /* Forgotten first: as soon as the C library has freed it, another thread may be given the same address. */
    ws_units_enter();
    uintptr_t start = 0;
    size_t had = 0;
    for (const ws_unit *node = ws_units; node != nullptr && start == 0;)
        if (node->start == (uintptr_t)old) {
            start = node->start;
            had = node->bytes;
        } else
            node = (uintptr_t)old < node->start ? node->left : node->right;
    ws_unit_out((uintptr_t)old);
    ws_units_leave();
    void *memory = __libc_realloc(old, bytes);
    if (memory == nullptr && bytes != 0 && start != 0)
        ws_unit_record(old, had, false);
    return ws_unit_record(memory, bytes, false);
}

static void ws_heap_free(void *memory) noexcept
{
    ws_unit_forget(memory);
    __libc_free(memory);
}

static void *ws_heap_memalign(size_t alignment, size_t bytes) noexcept
{
    return ws_unit_record(__libc_memalign(alignment, bytes), bytes, false);
}

static int ws_heap_posix_memalign(void **result, size_t alignment, size_t bytes) noexcept
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    const int before = errno;
    void *memory = ws_heap_memalign(alignment, bytes);
    errno = before;
    if (memory == nullptr)
        return ENOMEM;
    *result = memory;
    return 0;
}

static void *ws_heap_valloc(size_t bytes) noexcept
{
    return ws_unit_record(__libc_valloc(bytes), bytes, false);
}

static void *ws_heap_pvalloc(size_t bytes) noexcept
{
    return ws_unit_record(__libc_pvalloc(bytes), bytes, false);
}

#define WS_WEAK(name) __asm__(#name) __attribute__((weak, alias("ws_heap_" #name)))
void *ws_any_malloc(size_t bytes) noexcept WS_WEAK(malloc);
void *ws_any_calloc(size_t count, size_t bytes) noexcept WS_WEAK(calloc);
void *ws_any_realloc(void *old, size_t bytes) noexcept WS_WEAK(realloc);
void ws_any_free(void *memory) noexcept WS_WEAK(free);
void *ws_any_memalign(size_t alignment, size_t bytes) noexcept WS_WEAK(memalign);
int ws_any_posix_memalign(void **result, size_t alignment, size_t bytes) noexcept WS_WEAK(posix_memalign);
void *ws_any_valloc(size_t bytes) noexcept WS_WEAK(valloc);
void *ws_any_pvalloc(size_t bytes) noexcept WS_WEAK(pvalloc);
void *ws_any_aligned_alloc(size_t alignment, size_t bytes) noexcept __asm__("aligned_alloc")
    __attribute__((weak, alias("ws_heap_memalign")));
}

/* Whether all of the family are the functions above, for the C library as well. */
static bool ws_sees_heap(void)
{
    void *const volatile seen[][2] = {
        {(void *)ws_any_malloc, (void *)ws_heap_malloc},     {(void *)ws_any_calloc, (void *)ws_heap_calloc},
        {(void *)ws_any_realloc, (void *)ws_heap_realloc},   {(void *)ws_any_free, (void *)ws_heap_free},
        {(void *)ws_any_memalign, (void *)ws_heap_memalign}, {(void *)ws_any_aligned_alloc, (void *)ws_heap_memalign},
        {(void *)ws_any_posix_memalign, (void *)ws_heap_posix_memalign},
        {(void *)ws_any_valloc, (void *)ws_heap_valloc},     {(void *)ws_any_pvalloc, (void *)ws_heap_pvalloc},
    };
    for (const auto &pair : seen)
        if (pair[0] != pair[1])
            return false;
    uintptr_t start;
    size_t bytes;
    /* Through a variable: compilers take it that the strdup that they know changes nothing of ours. */
    char *(*const volatile probe)(const char *) = strdup;
    char *copy = probe("seen");
    const bool known = copy != nullptr && ws_unit_find(copy, &start, &bytes) && start == (uintptr_t)copy;
    ws_any_free(copy);
    __register_atfork(ws_units_enter, ws_units_leave, ws_units_leave, nullptr);
    return known;
}

static void ws_units_settle(void)
{
    static const bool sees = ws_sees_heap();
    ws_unit_blind = !sees;
}
#else
static void ws_units_settle(void)
{
}
#endif
"""

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

static bool ws_unit_of(const void *at, uintptr_t *start, size_t *bytes)
{
    ws_units_settle();
    return ws_unit_find(at, start, bytes) || ws_variable_find(at, start, bytes);
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

_ROWS = """\
/* Where rows begin in their block, for each array of row pointers and size of element. The memory is kept for the next
   question, so that it may stay on the device while the rows are where they were. */
struct ws_rows {
    const char *const *first;
    long long count;
    size_t element;
    long long *starts;
    ws_rows *next;
};

static ws_rows *ws_known_rows;
static std::mutex ws_rows_lock;

/* Fill in the starts; false where a row does not lie in the block of `zero`, or not a whole number of elements off. */
static bool ws_rows_fill(const ws_rows *rows, const char *zero, bool *changed)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    if (zero == nullptr || !ws_unit_of(zero, &start, &bytes))
        return false;
    for (long long i = 0; i < rows->count; i++) {
        const char *row = rows->first[i];
        const long long from = row == nullptr ? 0 : row - zero, element = (long long)rows->element;
        if (from % element != 0 || (row != nullptr && (uintptr_t)row - start > bytes))
            return false;
        *changed = *changed || rows->starts[i] != from / element;
        rows->starts[i] = from / element;
    }
    return true;
}

extern "C" WS_WEAK_UNITS const long long *ws_row_starts(const void *list, size_t element)
{
    const long long before = ws_unit_lower(list, sizeof(char *)), after = ws_unit_upper(list, sizeof(char *));
    const char *const *first = (const char *const *)list + before;
    const size_t count = (size_t)(after - before);
    if (after <= 0)
        return nullptr;
    const std::lock_guard<std::mutex> guard(ws_rows_lock);
    ws_rows *rows = ws_known_rows;
    while (rows != nullptr && !(rows->first == first && rows->count == after - before && rows->element == element))
        rows = rows->next;
    if (rows == nullptr) {
        rows = (ws_rows *)malloc(sizeof *rows);
        long long *starts = (long long *)calloc(count, sizeof *starts);
        if (rows == nullptr || starts == nullptr) {
            free(rows);
            free(starts);
            return nullptr;
        }
        *rows = ws_rows{first, after - before, element, starts, ws_known_rows};
        ws_known_rows = rows;
    }
    bool changed = false;
    const bool whole = ws_rows_fill(rows, first[-before], &changed);
    WS_ROWS_CHANGED
    return whole ? rows->starts - before : nullptr;
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
/* Where each row begins in the one block that all of them lie in, in elements from rows[0]; null where they do not. */
const long long *ws_row_starts(const void *rows, size_t element);
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

_TOLD = """\
    if (changed)
        {update}(rows->starts, rows->count * (long long)sizeof *rows->starts, __FILE__, __LINE__);
"""


def unit_text(support: Support, *, present: bool = False) -> str:
    """Return the table; it stands beside the pool in the one kernel file that has it, behind what is `present`.

    Its names are the same in every program, since the tree has them. A program that is a port itself may have the
    table already: then either of the two serves.
    """
    weak = "" if support.prefix == "ws" else "__attribute__((weak)) "
    told = _TOLD.format(update=support.update(to_device=True)) if present else ""
    rows = _ROWS.replace("    WS_ROWS_CHANGED\n", told)
    updates = [_UPDATES.replace("ws_update", support.prefix + "_update")] if present else []
    return "\n".join((_TABLE, _FAMILY, _VARIABLES, _QUESTIONS, rows, *updates)).replace("WS_WEAK_UNITS ", weak)


def unit_declarations(support: Support, *, present: bool = False) -> str:
    """Return what host text needs to know of it, as C and C++; <stddef.h> is included before."""
    updates = _UPDATE_DECLARATIONS.replace("ws_update", support.prefix + "_update")
    return _DECLARATIONS + (updates if present else "")
