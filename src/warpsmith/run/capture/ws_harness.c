/* What the generated harness calls: arguments for functions of a program that has no main, and their comparison.

        | guard | element 0 ... element count-1 | guard |

   Buffers hold deterministic data without zeros (integers: a permutation of 0..count-1, so that they may serve as
   subscripts). The guards' content differs from run to run: a function whose result depends on it reads outside what
   it was given. Every buffer, global and result is logged after the call under the case's label. */
#include "ws_log.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GUARD 4096
#define MAX_OBJECTS 64
#define MAX_BYTES (64LL << 20)

struct object {
    const char *name;
    unsigned char *data, *pages;
    long long count;
    size_t mapped;
    int kind, size;
    const char *gaps;
};

static struct object objects[MAX_OBJECTS];
static int object_count, special, fits;
static const char *label;
static int current;

static int skipped(int number)
{
    const char *list = getenv("WS_SKIP");
    while (list && *list) {
        if (atoi(list) == number)
            return 1;
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return 0;
}

/* Begin case `number`; return 0 where it is to be left out. */
int ws_harness_begin(const char *text, int number, int with_special_values)
{
    if (!ws_log_open() || skipped(number))
        return 0;
    label = text;
    current = number;
    special = with_special_values;
    object_count = 0;
    fits = 1;
    ws_log_mark("begin", label, number);
    ws_log_flush();
    return 1;
}

/* Note how many elements buffer `slot` has; the original computes it, the candidate is given it. */
long long ws_harness_count(const char *name, long long count, int size)
{
    if (count < 0)
        count = 0;
    if (count > MAX_BYTES / size)
        fits = 0;
    ws_log_mark(label, name, count);
    return count;
}

/* Return whether all buffers of this case are small enough; note it where they are not. */
int ws_harness_fits(void)
{
    if (!fits)
        ws_log_mark("too large", label, current);
    return fits;
}

static uint64_t scatter(uint64_t word)
{
    word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
    return word ^ (word >> 31);
}

static double real_value(uint64_t random, long long index)
{
    static const double zero = 0.0;
    if (special && index % 7 == 3)
        return index % 2 ? zero / zero : (index % 4 ? -1.0 : 1.0) / zero;
    double value = 0.5 + 1.5 * (double)(random >> 12) / 4503599627370496.0;
    return random & 1 ? value : -value;
}

static void fill_real(unsigned char *data, long long count, int size, uint64_t seed)
{
    for (long long i = 0; i < count; i++) {
        double value = real_value(scatter(seed + (uint64_t)i), i);
        float small = (float)value;
        long double large = (long double)value;
        if (size == 4)
            memcpy(data + i * size, &small, 4);
        else if (size == 8)
            memcpy(data + i * size, &value, 8);
        else if (size == (int)sizeof large)
            memcpy(data + i * size, &large, sizeof large);
    }
}

static long long divisor(long long a, long long b)
{
    while (b) {
        long long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void fill_whole(unsigned char *data, long long count, int size, uint64_t seed)
{
    long long step = 0x5DEECE5 % (count > 0 ? count : 1) + 1, start = count ? (long long)(seed % 1000) % count : 0;
    while (count > 0 && divisor(step, count) != 1)
        step++;
    for (long long i = 0; i < count; i++) {
        long long value = (start + (i % count) * (step % count)) % count;
        if (size == 1)
            value = 1 + value % 120;
        for (int b = 0; b < size; b++)
            data[i * size + b] = b < 8 ? (unsigned char)((unsigned long long)value >> (8 * b)) : 0;
    }
}

static void fill(unsigned char *data, long long count, int kind, int size)
{
    uint64_t seed = scatter((uint64_t)current * 64 + (uint64_t)object_count);
    if (kind == WS_FLOAT)
        fill_real(data, count, size, seed);
    else
        fill_whole(data, count, size, seed);
}

static int guard_byte(void)
{
    const char *text = getenv("WS_POISON");
    return 0xC3 ^ ((text ? atoi(text) : 1) * 29 & 0x7F);
}

static void enlist(const char *name, unsigned char *data, long long count, int kind, int size)
{
    struct object fresh = {name, data, NULL, count, 0, kind, size, NULL};
    if (object_count < MAX_OBJECTS)
        objects[object_count++] = fresh;
}

/* Return a filled buffer of `count` elements between guards; it is logged and released by ws_harness_end. */
void *ws_harness_buffer(const char *name, long long count, int kind, int size)
{
    size_t bytes = (size_t)count * (size_t)size, mapped = bytes + 2 * GUARD;
    unsigned char *pages = (unsigned char *)ws_pages(mapped);
    if (!pages)
        _exit(97);
    memset(pages, guard_byte(), mapped);
    if (size == 1)
        pages[GUARD + bytes] = 0;
    fill(pages + GUARD, count, kind, size);
    ws_heap_note(pages + GUARD, bytes);
    enlist(name, pages + GUARD, count, kind, size);
    objects[object_count - 1].pages = pages;
    objects[object_count - 1].mapped = mapped;
    return pages + GUARD;
}

/* Give one member of every struct of a buffer its own data: `size` bytes at `offset` of each `stride`. */
void ws_harness_member(void *buffer, long long count, int stride, int offset, int kind, int size)
{
    size_t bytes = (size_t)count * (size_t)size;
    unsigned char *values = bytes ? (unsigned char *)ws_pages(bytes) : NULL;
    if (!values)
        return;
    fill(values, count, kind, size);
    for (long long i = 0; i < count; i++)
        memcpy((unsigned char *)buffer + i * stride + offset, values + i * size, (size_t)size);
    ws_pages_free(values, bytes);
}

/* Say which bytes of the structs of the buffer handed out last belong to no member: they are not compared. */
void ws_harness_padding(const char *gaps)
{
    if (object_count)
        objects[object_count - 1].gaps = gaps;
}

/* Log a global object of `bytes` after the call; fill it first where asked for. */
void ws_harness_object(const char *name, void *object, long long bytes, int kind, int size, int filled)
{
    if (filled)
        fill((unsigned char *)object, bytes / size, kind, size);
    enlist(name, (unsigned char *)object, bytes / size, kind, size);
}

static void log_one(const struct object *o)
{
    struct ws_view view = {o->data, o->kind, o->size, o->pages ? WS_FROM_ALLOCATION : WS_FROM_TYPE, 0, o->count,
                           0, o->count};
    ws_log_view(label, o->name, 0, &view, 1, NULL, 0);
}

/* Log what the function returned. */
void ws_harness_value(const void *value, int kind, int size)
{
    unsigned char copy[64];
    struct object result = {"its return value", copy, NULL, 1, 0, kind, size, NULL};
    memcpy(copy, value, (size_t)size);
    log_one(&result);
}

static void check_guards(const struct object *o)
{
    size_t bytes = (size_t)o->count * (size_t)o->size;
    unsigned char expected = (unsigned char)guard_byte();
    for (size_t i = 0; i < GUARD; i++) {
        if (o->pages[i] != expected) {
            ws_log_mark("guard", o->name, -(long long)((GUARD - i + (size_t)o->size - 1) / (size_t)o->size));
            ws_log_mark("outside", label, current);
        }
        if (o->pages[GUARD + bytes + i] != (o->size == 1 && i == 0 ? 0 : expected)) {
            ws_log_mark("guard", o->name, o->count + (long long)(i / (size_t)o->size));
            ws_log_mark("outside", label, current);
            return;
        }
    }
}

/* End the case: log and release every object. */
void ws_harness_end(void)
{
    for (int i = 0; i < object_count; i++) {
        struct object *o = &objects[i];
        ws_log_clear(o->data, o->count, o->size, o->gaps);
        log_one(o);
        if (o->pages) {
            check_guards(o);
            ws_heap_forget(o->data);
            ws_pages_free(o->pages, o->mapped);
        }
    }
    ws_log_mark("end", label, current);
}
