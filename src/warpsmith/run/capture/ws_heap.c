/* Which heap allocation a pointer lies in, and how large it really is.

   The allocation functions are interposed: this file defines them over the C library's own, so every allocation of
   the program, of C++ `new` and of library calls such as strdup is seen. Where the C library has no such second entry
   (other than glibc), nothing is recorded and the extent of an object is its section alone.

   The table of a port's own run time (emit/runtime/allocations.cu) is notified of all blocks as well, since its
   allocation functions give way to these. A reference, which has no such run time, is served from here.

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
    enum { UNKNOWN = -2, NONE = -1 };
    static int byte = UNKNOWN;
    if (byte == UNKNOWN) {
        const char *text = getenv("WS_FILL");
        byte = text ? atoi(text) & 255 : NONE;
    }
    if (to > FILLED)
        to = FILLED;
    if (pointer && byte != NONE && from < to)
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

extern void ws_allocation_note(const void *, size_t) __attribute__((weak));
extern void ws_allocation_forget(const void *) __attribute__((weak));
extern void ws_allocation_moves(const void *) __attribute__((weak));

/* Memory that the port has from CUDA is given back by it, and moved by it. */
extern int ws_given_end(void *) __attribute__((weak));
extern int ws_given_is(const void *) __attribute__((weak));
extern void *ws_given_realloc(void *, size_t) __attribute__((weak));

static void *record(void *pointer, size_t size)
{
    int saved = errno;
    if (!pointer)
        return NULL;
    if (ws_allocation_note)
        ws_allocation_note(pointer, size);
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

/* The port's run time forgets a block; it may bring the newest values back before. */
static void forget_in_port(void *pointer)
{
    if (pointer && slots && ws_allocation_forget)
        ws_allocation_forget(pointer);
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

/* Visit every block that lives; the visitor must not allocate. */
void ws_heap_each(void (*visit)(uintptr_t start, size_t size))
{
    for (size_t i = 0; i < slots; i++)
        if (table[i].start)
            visit(table[i].start, table[i].size);
}

void ws_heap_note(void *pointer, size_t size)
{
    record(pointer, size);
}

void ws_heap_forget(void *pointer)
{
    forget_in_port(pointer);
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
    if (ws_given_is && ws_given_is(old))
        return ws_given_realloc(old, size);
    /* Forgotten first: once the C library has freed it, another thread may be given the same address. */
    uintptr_t start;
    size_t before = 0;
    int known = ws_heap_find(old, &start, &before) && start == (uintptr_t)old;
    if (known && ws_allocation_moves)
        ws_allocation_moves(old);
    forget_in_port(old);
    if (known)
        ws_left_dies(start, before);
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
    int known = ws_heap_find(pointer, &start, &size) && start == (uintptr_t)pointer;
    if (known && ws_given_is && ws_given_is(pointer)) {
        ws_left_dies(start, size);
        forget(pointer);
        ws_given_end(pointer);
        return;
    }
    forget_in_port(pointer);
    if (known) {
        ws_left_dies(start, size);
        give_content(pointer, 0, size);
    }
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

void ws_heap_each(void (*visit)(uintptr_t start, size_t size))
{
    (void)visit;
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
static int find(const void *at, uintptr_t *start, size_t *size)
{
    return ws_heap_find(at, start, size) || (at && ws_heap_find((const char *)at - 1, start, size)) ||
           ws_variable_find(at, start, size);
}

__attribute__((weak)) size_t ws_allocation_bytes(const void *at)
{
    uintptr_t start;
    size_t size;
    return find(at, &start, &size) ? start + size - (uintptr_t)at : 0;
}

__attribute__((weak)) long long ws_allocation_lower(const void *at, size_t element)
{
    uintptr_t start;
    size_t size;
    return find(at, &start, &size) ? -(long long)(((uintptr_t)at - start) / element) : 0;
}

__attribute__((weak)) long long ws_allocation_upper(const void *at, size_t element)
{
    return (long long)(ws_allocation_bytes(at) / element);
}

__attribute__((weak)) long long ws_allocation_size(const void *at, size_t element)
{
    return (ws_allocation_upper(at, element) - ws_allocation_lower(at, element)) * (long long)element;
}

__attribute__((weak)) int ws_allocations_apart(const void *one, const void *other)
{
    uintptr_t start = 0, other_start = 0;
    size_t size = 0, other_size = 0;
    const int known = find(one, &start, &size), other_known = find(other, &other_start, &other_size);
    if (!known || !other_known)
        return known || other_known;
    return start + size <= other_start || other_start + other_size <= start;
}

struct rows {
    const char *const *first;
    long long from, count, zero;
    long long *starts;
    char *known;
    struct rows *next;
};

static struct rows *known_rows;

static struct rows *rows_of(const void *starts)
{
    struct rows *rows = known_rows;
    while (rows && !((const long long *)starts >= rows->starts && (const long long *)starts < rows->starts + rows->count))
        rows = rows->next;
    return rows;
}

/* A port wants whole numbers of elements between blocks on the device, too. */
static int has_start(struct rows *rows, long long i, uintptr_t start, long long element)
{
    uintptr_t zero = (uintptr_t)rows->first[rows->zero], row = (uintptr_t)rows->first[i], other = 0;
    size_t size;
    long long from = (long long)(row - zero);
    find((const void *)zero, &other, &size);
    rows->starts[i] = from / element;
    return from % element == 0 && (start == other || !(256 % element || row % element || zero % element ||
                                                       start % element || other % element));
}

/* Whether rows low .. high - 1 all have starts; of the others it does not matter. */
static int fill_rows(struct rows *rows, long long element, long long low, long long high)
{
    uintptr_t start = 0;
    size_t size = 0;
    int whole = 1;
    rows->zero = -1;
    for (long long i = rows->from; i < rows->count; i++) {
        const char *row = rows->first[i];
        int known = row && find(row, &start, &size);
        if (known && rows->zero < 0)
            rows->zero = i;
        rows->known[i] = (char)(known && has_start(rows, i, start, element));
        whole &= !row || rows->known[i] || i < low || i >= high;
    }
    return whole && rows->zero >= 0;
}

static const long long *starts_of(const char *const *first, const long long range[4], size_t element)
{
    struct rows *rows = range[1] > range[0] ? (struct rows *)calloc(1, sizeof *rows) : NULL;
    if (!rows || !(rows->starts = (long long *)calloc((size_t)range[1], sizeof *rows->starts)) ||
        !(rows->known = (char *)calloc((size_t)range[1], 1)))
        return NULL;
    rows->first = first;
    rows->from = range[0];
    rows->count = range[1];
    rows->next = known_rows;
    known_rows = rows;
    return fill_rows(rows, (long long)element, range[2], range[3]) ? rows->starts : NULL;
}

__attribute__((weak)) const long long *ws_row_starts(const void *list, size_t element)
{
    const long long before = ws_allocation_lower(list, sizeof(char *)), after = ws_allocation_upper(list, sizeof(char *));
    const long long range[] = {0, after - before, 0, after - before};
    const long long *starts = after > 0 ? starts_of((const char *const *)list + before, range, element) : NULL;
    return starts ? starts - before : NULL;
}

__attribute__((weak)) const long long *ws_row_starts_of(const void *list, long long low, long long high, size_t element)
{
    long long before = ws_allocation_lower(list, sizeof(char *)), after = ws_allocation_upper(list, sizeof(char *));
    long long from = 0;
    if (!list || low >= high || high <= 0)
        return NULL;
    if (low < before || high > after) {
        before = low < 0 ? low : 0;
        after = high;
        from = low - before;
    }
    const long long range[] = {from, after - before, low - before, high - before};
    const long long *starts = starts_of((const char *const *)list + before, range, element);
    return starts ? starts - before : NULL;
}

__attribute__((weak)) void *ws_row_zero(const long long *starts)
{
    struct rows *rows = rows_of(starts);
    return (void *)rows->first[rows->zero];
}

/* Whether no two rows have one of their elements low .. high - 1 in common. */
__attribute__((weak)) int ws_rows_clear(const long long *starts, long long low, long long high)
{
    struct rows *rows = rows_of(starts);
    for (long long i = rows->from; i < rows->count; i++)
        for (long long k = rows->from; k < i && low < high; k++) {
            uintptr_t start, other;
            size_t size;
            const long long apart = rows->starts[i] - rows->starts[k];
            if (rows->known[i] && rows->known[k] && find(rows->first[i], &start, &size) &&
                find(rows->first[k], &other, &size) && start == other && apart < high - low && -apart < high - low)
                return 0;
        }
    return 1;
}

/* Whether two rows, or a row and another one or a pointer, lie in one block. */
static int rows_meet(struct rows *rows, struct rows *others, const void *other)
{
    for (long long i = rows->from; i < rows->count; i++) {
        uintptr_t start, other_start;
        size_t size;
        if (!rows->known[i] || !find(rows->first[i], &start, &size))
            continue;
        for (long long k = others == rows ? i + 1 : others ? others->from : 0; k < (others ? others->count : 1); k++) {
            const void *at = others ? others->first[k] : other;
            if ((!others || others->known[k]) && find(at, &other_start, &size) && start == other_start)
                return 1;
        }
    }
    return 0;
}

__attribute__((weak)) int ws_rows_distinct(const long long *starts)
{
    return !rows_meet(rows_of(starts), rows_of(starts), NULL);
}

__attribute__((weak)) int ws_rows_apart(const long long *starts, const void *other)
{
    struct rows *others = rows_of(other);
    return others != rows_of(starts) && !rows_meet(rows_of(starts), others, other);
}

__attribute__((weak)) long long warpsmith_rows(const long long *starts, const void *const **first)
{
    struct rows *rows = rows_of(starts);
    *first = (const void *const *)rows->first + rows->from;
    return rows->count - rows->from;
}

/* Arrays for the vectors at an address, which are the program's own from then on. */
struct list {
    const void *vectors;
    size_t counts[2];
    void *arrays[2];
    struct list *next;
};

static void *array_of(const void *vectors, size_t count, int which)
{
    static struct list *lists;
    struct list *list = lists;
    while (list && list->vectors != vectors)
        list = list->next;
    if (!list) {
        list = (struct list *)calloc(1, sizeof *list);
        if (!list)
            abort();
        list->vectors = vectors;
        list->next = lists;
        lists = list;
    }
    if (!list->arrays[which] || list->counts[which] < count) {
        list->arrays[which] = calloc(count + 1, sizeof(void *));
        list->counts[which] = count;
    }
    if (!list->arrays[which])
        abort();
    return list->arrays[which];
}

__attribute__((weak)) void **ws_list_rows(const void *vectors, size_t count)
{
    void **rows = (void **)array_of(vectors, count, 0);
    for (size_t i = count; i < (size_t)ws_allocation_upper(rows, sizeof *rows); i++)
        rows[i] = NULL;
    return rows;
}

__attribute__((weak)) size_t *ws_list_sizes(const void *vectors, size_t count)
{
    return (size_t *)array_of(vectors, count, 1);
}

__attribute__((weak)) void ws_list_resized(const size_t *sizes, size_t count)
{
    (void)sizes;
    (void)count;
}
