/* Which heap allocation a pointer lies in, and how large it really is.

   The allocation functions are interposed: this file defines them over the C library's own, so every allocation of
   the program, of C++ `new` and of library calls such as strdup is seen. Where the C library has no such second entry
   (other than glibc), nothing is recorded and the extent of an object is its section alone.

   The table of a port's own run time (emit/units.py) is told of all blocks as well, since its allocation functions give
   way to these. A reference, which has no such run time, is served from here.

   table   open addressing by start address, linear probing, backward-shift deletion: O(1) a call
   find    an exact start is one probe; an interior pointer scans the table */
#define _GNU_SOURCE
#include "ws_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__

struct entry {
    uintptr_t start;
    size_t size;
};

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* What nobody has written yet holds the byte WS_FILL, which differs from run to run, so that a program that depends on
   it betrays itself. Only the start of a large block is filled: touching it all could cost more than the machine has. */
enum { FILLED = 64 << 20 };

static void give_content(void *pointer, size_t from, size_t to)
{
    static int byte = -1;
    if (byte < 0) {
        const char *text = getenv("WS_FILL");
        byte = text ? atoi(text) & 255 : 0;
    }
    if (to > FILLED)
        to = FILLED;
    if (pointer && byte && from < to)
        memset((char *)pointer + from, byte, to - from);
}

static struct entry *table;
static size_t slots, used;
static char lock;

static void enter(void)
{
    while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
        ;
}

static void leave(void)
{
    __atomic_clear(&lock, __ATOMIC_RELEASE);
}

static size_t home(uintptr_t start)
{
    return (size_t)(((uint64_t)start * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (slots - 1);
}

static void place(uintptr_t start, size_t size)
{
    size_t at = home(start);
    while (table[at].start && table[at].start != start)
        at = (at + 1) & (slots - 1);
    used += table[at].start == 0;
    table[at].start = start;
    table[at].size = size;
}

static int grow(void)
{
    struct entry *old = table;
    size_t old_slots = slots, new_slots = slots ? slots * 2 : 4096;
    struct entry *fresh = (struct entry *)ws_pages(new_slots * sizeof *fresh);
    if (!fresh)
        return 0;
    table = fresh;
    slots = new_slots;
    used = 0;
    for (size_t i = 0; i < old_slots; i++)
        if (old[i].start)
            place(old[i].start, old[i].size);
    ws_pages_free(old, old_slots * sizeof *old);
    return 1;
}

extern void ws_unit_note(const void *, size_t) __attribute__((weak));
extern void ws_unit_forget(const void *) __attribute__((weak));
extern void ws_unit_moves(const void *) __attribute__((weak));

static void *record(void *pointer, size_t size)
{
    int saved = errno;
    if (!pointer)
        return NULL;
    if (ws_unit_note)
        ws_unit_note(pointer, size);
    enter();
    if (used * 2 < slots || grow())
        place((uintptr_t)pointer, size);
    leave();
    errno = saved;
    return pointer;
}

static void forget(void *pointer)
{
    uintptr_t start = (uintptr_t)pointer;
    if (!start || !slots)
        return;
    if (ws_unit_forget)
        ws_unit_forget(pointer);
    enter();
    size_t at = home(start);
    while (table[at].start && table[at].start != start)
        at = (at + 1) & (slots - 1);
    if (table[at].start) {
        size_t hole = at, next = at;
        for (;;) {
            next = (next + 1) & (slots - 1);
            if (!table[next].start)
                break;
            if (((next - home(table[next].start)) & (slots - 1)) >= ((next - hole) & (slots - 1))) {
                table[hole] = table[next];
                hole = next;
            }
        }
        table[hole].start = 0;
        used--;
    }
    leave();
}

/* Find the live allocation that holds `pointer`; return 0 where there is none. */
int ws_heap_find(const void *pointer, uintptr_t *start, size_t *size)
{
    uintptr_t wanted = (uintptr_t)pointer;
    int found = 0;
    if (!wanted || !slots)
        return 0;
    enter();
    size_t at = home(wanted);
    while (table[at].start && table[at].start != wanted)
        at = (at + 1) & (slots - 1);
    found = table[at].start == wanted;
    for (size_t i = 0; !found && i < slots; i++)
        if (table[i].start && wanted - table[i].start < table[i].size) {
            at = i;
            found = 1;
        }
    if (found) {
        *start = table[at].start;
        *size = table[at].size;
    }
    leave();
    return found;
}

void ws_heap_note(void *pointer, size_t size)
{
    record(pointer, size);
}

void ws_heap_forget(void *pointer)
{
    forget(pointer);
}

static void *fresh_block(void *pointer, size_t size)
{
    give_content(pointer, 0, size);
    return record(pointer, size);
}

void *malloc(size_t size)
{
    return fresh_block(__libc_malloc(size), size);
}

void *calloc(size_t count, size_t size)
{
    return record(__libc_calloc(count, size), count * size);
}

void *realloc(void *old, size_t size)
{
    /* Forgotten first: once the C library has freed it, another thread may be given the same address. */
    uintptr_t start;
    size_t before = 0;
    int known = ws_heap_find(old, &start, &before) && start == (uintptr_t)old;
    if (known && ws_unit_moves)
        ws_unit_moves(old);
    forget(old);
    void *fresh = __libc_realloc(old, size);
    if (!fresh && size && known)
        record(old, before);
    if (known)
        give_content(fresh, before, size);
    return record(fresh, size);
}

void free(void *pointer)
{
    uintptr_t start;
    size_t size = 0;
    if (ws_heap_find(pointer, &start, &size) && start == (uintptr_t)pointer)
        give_content(pointer, 0, size);
    forget(pointer);
    __libc_free(pointer);
}

void *memalign(size_t alignment, size_t size)
{
    return fresh_block(__libc_memalign(alignment, size), size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fresh_block(__libc_memalign(alignment, size), size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)))
        return EINVAL;
    void *fresh = fresh_block(__libc_memalign(alignment, size), size);
    if (!fresh)
        return ENOMEM;
    *result = fresh;
    return 0;
}

#else

int ws_heap_find(const void *pointer, uintptr_t *start, size_t *size)
{
    (void)pointer;
    (void)start;
    (void)size;
    return 0;
}

void ws_heap_note(void *pointer, size_t size)
{
    (void)pointer;
    (void)size;
}

void ws_heap_forget(void *pointer)
{
    (void)pointer;
}

#endif

/* What a port's run time says of blocks, for programs without one. An end counts as inside, as it does there. */
static int unit(const void *at, uintptr_t *start, size_t *size)
{
    return ws_heap_find(at, start, size) || (at && ws_heap_find((const char *)at - 1, start, size));
}

__attribute__((weak)) size_t ws_unit_bytes(const void *at)
{
    uintptr_t start;
    size_t size;
    return unit(at, &start, &size) ? start + size - (uintptr_t)at : 0;
}

__attribute__((weak)) long long ws_unit_lower(const void *at, size_t element)
{
    uintptr_t start;
    size_t size;
    return unit(at, &start, &size) ? -(long long)(((uintptr_t)at - start) / element) : 0;
}

__attribute__((weak)) long long ws_unit_upper(const void *at, size_t element)
{
    return (long long)(ws_unit_bytes(at) / element);
}

__attribute__((weak)) long long ws_unit_size(const void *at, size_t element)
{
    return (ws_unit_upper(at, element) - ws_unit_lower(at, element)) * (long long)element;
}

__attribute__((weak)) int ws_units_apart(const void *one, const void *other)
{
    uintptr_t start = 0, other_start = 0;
    size_t size;
    int known = unit(one, &start, &size), other_known = unit(other, &other_start, &size);
    return known != other_known || (known && start != other_start);
}

__attribute__((weak)) const long long *ws_row_starts(const void *list, size_t element)
{
    long long before = ws_unit_lower(list, sizeof(char *)), count = ws_unit_upper(list, sizeof(char *)) - before;
    const char *const *first = (const char *const *)list + before, *zero;
    uintptr_t start = 0;
    size_t size = 0;
    long long *starts;
    if (count + before <= 0 || !unit(zero = first[-before], &start, &size))
        return NULL;
    starts = (long long *)calloc((size_t)count, sizeof *starts);
    for (long long i = 0; starts && i < count; i++) {
        long long from = first[i] ? first[i] - zero : 0;
        if (from % (long long)element || (first[i] && (uintptr_t)first[i] - start > size))
            return NULL;
        starts[i] = from / (long long)element;
    }
    return starts ? starts - before : NULL;
}
