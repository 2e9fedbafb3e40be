"""The heap's blocks: every one that the program's malloc and its like have given out, and who is told when one dies.

    p = malloc(4000)          the table has [p, p + 4000)
    free(p)                   out of the table; what was watched there is told to the present table (present.py) before

The allocation functions are defined here as weak symbols over the C library's own, which is possible with glibc. All or
nothing: where one of them is somebody else's (the program has its own malloc, or is linked statically), blocks may die
unseen, and nothing is known. Then guards fail, and the user's own loops run.

Invariant: a block is in the table only while it lives; blocks never touch each other (the C library keeps its own words
between them), so that one past the end of a block is in no other one. The table's lock is never held while the present
table is told, which may free memory itself.
"""

from __future__ import annotations

from warpsmith.emit.words import Support

__all__ = ["heap_text"]

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
    bool told, watched, row;
};

static ws_unit *ws_units, *ws_spare_units;
static bool ws_unit_lock;
/* How many blocks with a row have died. */
static unsigned long long ws_row_deaths;
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
    ws_row_deaths += node->row;
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
    node->watched = node->row = false;
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

WS_PLAIN static ws_unit *ws_unit_at(uintptr_t start)
{
    ws_unit *node = ws_units;
    while (node != nullptr && node->start != start)
        node = start < node->start ? node->left : node->right;
    return node;
}

extern "C" WS_WEAK_UNITS WS_PLAIN void ws_unit_forget(const void *start)
{
    if (start == nullptr)
        return;
    ws_units_enter();
    WS_UNIT_DIES
    ws_unit_out((uintptr_t)start);
    ws_units_leave();
    WS_UNIT_DEAD
}

/* Before a block is moved elsewhere, with what is in it. */
extern "C" WS_WEAK_UNITS WS_PLAIN void ws_unit_moves(const void *start)
{
    ws_units_enter();
    WS_UNIT_DIES
    ws_units_leave();
    WS_UNIT_MOVED
}

/* The last block that does not start behind `at`, if it counts; the lock is held. */
WS_PLAIN static ws_unit *ws_unit_before(const void *at)
{
    ws_unit *found = nullptr;
    for (ws_unit *node = ws_units; node != nullptr;)
        if (node->start <= (uintptr_t)at) {
            found = node;
            node = node->right;
        } else
            node = node->left;
    return found != nullptr && (found->told || !ws_unit_blind) ? found : nullptr;
}

/* Find the block that `at` points into, or one past the end of; as a `row` its death counts. */
WS_PLAIN static bool ws_unit_find(const void *at, uintptr_t *start, size_t *bytes, bool row = false)
{
    ws_units_enter();
    ws_unit *found = ws_unit_before(at);
    const bool known = found != nullptr && (uintptr_t)at - found->start <= found->bytes;
    if (known) {
        *start = found->start;
        *bytes = found->bytes;
        found->row = found->row || row;
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
    ws_unit_moves(old);
    ws_units_enter();
    const ws_unit *node = ws_unit_at((uintptr_t)old);
    const bool known = node != nullptr;
    const size_t had = known ? node->bytes : 0;
    ws_unit_out((uintptr_t)old);
    ws_units_leave();
    void *memory = __libc_realloc(old, bytes);
    if (memory == nullptr && bytes != 0 && known)
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

_DIES = """\
    const ws_unit *node = ws_unit_at((uintptr_t)start);
    const size_t bytes = node != nullptr && node->watched ? node->bytes : 0;
"""
_TELLS = """\
    if (bytes > 0)
        {dies}(start, (long long)bytes, {moves});
"""
_WATCH = """\
/* Whether the death of the block that holds `at` is seen; from now on the present table is told of it. */
WS_PLAIN static bool ws_block_watch(const void *at)
{
    ws_units_settle();
    ws_units_enter();
    ws_unit *found = ws_unit_before(at);
    const bool inside = found != nullptr && (uintptr_t)at - found->start < found->bytes;
    if (inside)
        found->watched = true;
    ws_units_leave();
    return inside;
}
"""


def heap_text(support: Support, *, watched: bool) -> str:
    """Return the table of blocks; `watched`: the present table wants to know when some of them die."""
    told = [_TELLS.format(dies=support.dies, moves=moves) if watched else "" for moves in (0, 1)]
    table = _TABLE.replace("    WS_UNIT_DIES\n", _DIES if watched else "")
    table = table.replace("    WS_UNIT_DEAD\n", told[0]).replace("    WS_UNIT_MOVED\n", told[1])
    return "\n".join((table, _FAMILY, *([_WATCH] if watched else [])))
