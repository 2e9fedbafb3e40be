/* The caches of a GPU, fed by the requests of warps: reference.py, compiled. Both have to be changed together.
 *
 *     ws_begin      the shape and the requests; returns the machine, NULL where there is no memory for it
 *     ws_advance    so many turns more; returns whether requests are left
 *     ws_end        what is dirty goes to memory, and the machine is freed
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD, STORE, ATOMIC };
enum { LINE_BITS = 2, LINE_SECTORS = 1 << LINE_BITS };
enum { LOADS, FIRST_HITS, SECOND_HITS, READ, STORES, WRITTEN, ATOMICS, COLUMNS };

/* A line of 128 bytes: which of its sectors are there, and which were written since. `used`: when it was asked for. */
typedef struct {
    int64_t number, used;
    int32_t array;
    uint8_t there, dirty;
} line_t;

typedef struct {
    line_t *lines;
    int64_t sets, ways;
} cache_t;

typedef struct {
    int64_t units, resident, first_sets, first_ways, second_sets, second_ways, blocks;
} shape_t;

/* `starts`: of the records of each block. Of a record: kind, array, where its sectors begin (one more at the end). */
typedef struct {
    const int64_t *starts;
    const int32_t *kinds, *arrays;
    const int64_t *places, *sectors;
} requests_t;

typedef struct {
    shape_t shape;
    requests_t given;
    cache_t *first, second;
    int64_t *next, *end; /* of each slot: its next record, and the end of those of its block */
    int64_t following, turn, clock;
    int64_t *counts;
} machine_t;

static int make(cache_t *cache, int64_t sets, int64_t ways)
{
    cache->sets = sets;
    cache->ways = ways;
    cache->lines = calloc((size_t)(sets * ways) + 1, sizeof *cache->lines);
    for (int64_t at = 0; cache->lines != NULL && at < sets * ways; at++)
        cache->lines[at].number = -1;
    return cache->lines != NULL;
}

/* Return the line with this number, NULL where it is not there; `oldest` becomes the one that would make room. */
static line_t *find(const cache_t *cache, int64_t number, line_t **oldest)
{
    *oldest = NULL;
    if (!cache->sets)
        return NULL;
    const uint64_t hash = ((uint64_t)number * 0x9E3779B97F4A7C15u) >> 32;
    line_t *const set = cache->lines + (int64_t)(hash % (uint64_t)cache->sets) * cache->ways;
    for (int64_t way = 0; way < cache->ways; way++) {
        if (set[way].number == number)
            return &set[way];
        if (*oldest == NULL || set[way].used < (*oldest)->used)
            *oldest = &set[way];
    }
    return NULL;
}

static int64_t *row(machine_t *machine, int32_t array) { return machine->counts + (int64_t)array * COLUMNS; }

static void write_back(machine_t *machine, line_t *line)
{
    row(machine, line->array)[WRITTEN] += __builtin_popcount(line->dirty);
    line->dirty = 0;
}

/* Return a line of the second cache for a number: the one that is there, or an empty one in place of the oldest. */
static line_t *second_line(machine_t *machine, int64_t number, int32_t array)
{
    line_t *oldest, *found = find(&machine->second, number, &oldest);
    if (found == NULL && oldest != NULL) {
        write_back(machine, oldest);
        *oldest = (line_t){.number = number, .array = array};
        found = oldest;
    }
    if (found != NULL)
        found->used = ++machine->clock;
    return found;
}

/* A sector is asked of the second cache, by a load or an atomic. */
static void read_second(machine_t *machine, int64_t sector, int32_t array, int dirty)
{
    const uint8_t bit = 1 << (sector & (LINE_SECTORS - 1));
    line_t *const line = second_line(machine, sector >> LINE_BITS, array);
    if (line != NULL && (line->there & bit))
        row(machine, array)[SECOND_HITS]++;
    else
        row(machine, array)[READ]++;
    if (line == NULL) {
        row(machine, array)[WRITTEN] += dirty;
        return;
    }
    line->there |= bit;
    line->dirty |= dirty ? bit : 0;
}

static void load(machine_t *machine, cache_t *cache, int64_t sector, int32_t array)
{
    const uint8_t bit = 1 << (sector & (LINE_SECTORS - 1));
    line_t *oldest, *line = find(cache, sector >> LINE_BITS, &oldest);
    row(machine, array)[LOADS]++;
    if (line == NULL && oldest != NULL) {
        *oldest = (line_t){.number = sector >> LINE_BITS, .array = array};
        line = oldest;
    }
    if (line != NULL)
        line->used = ++machine->clock;
    if (line != NULL && (line->there & bit)) {
        row(machine, array)[FIRST_HITS]++;
        return;
    }
    if (line != NULL)
        line->there |= bit;
    read_second(machine, sector, array, 0);
}

static void store(machine_t *machine, int64_t sector, int32_t array)
{
    const uint8_t bit = 1 << (sector & (LINE_SECTORS - 1));
    line_t *const line = second_line(machine, sector >> LINE_BITS, array);
    row(machine, array)[STORES]++;
    if (line == NULL) {
        row(machine, array)[WRITTEN]++;
        return;
    }
    line->there |= bit;
    line->dirty |= bit;
}

static void serve(machine_t *machine, cache_t *cache, int64_t record)
{
    const requests_t *const given = &machine->given;
    const int32_t array = given->arrays[record];
    for (int64_t at = given->places[record]; at < given->places[record + 1]; at++) {
        if (given->kinds[record] == LOAD) {
            load(machine, cache, given->sectors[at], array);
        } else if (given->kinds[record] == STORE) {
            store(machine, given->sectors[at], array);
        } else {
            row(machine, array)[ATOMICS]++;
            read_second(machine, given->sectors[at], array, 1);
        }
    }
}

/* Give a slot the next block that has requests; return whether there was one. */
static int take_block(machine_t *machine, int64_t slot)
{
    while (machine->next[slot] == machine->end[slot] && machine->following < machine->shape.blocks) {
        const int64_t block = machine->following++;
        machine->next[slot] = machine->given.starts[block];
        machine->end[slot] = machine->given.starts[block + 1];
    }
    return machine->next[slot] < machine->end[slot];
}

static void release(machine_t *machine)
{
    for (int64_t unit = 0; machine->first != NULL && unit < machine->shape.units; unit++)
        free(machine->first[unit].lines);
    free(machine->first);
    free(machine->second.lines);
    free(machine->next);
    free(machine->end);
    free(machine);
}

machine_t *ws_begin(const shape_t *shape, const requests_t *given, int64_t *counts)
{
    machine_t *machine = calloc(1, sizeof *machine);
    if (machine == NULL)
        return NULL;
    const int64_t slots = shape->units * shape->resident;
    *machine = (machine_t){.shape = *shape, .given = *given, .counts = counts};
    machine->first = calloc((size_t)shape->units, sizeof *machine->first);
    machine->next = calloc((size_t)slots, sizeof *machine->next);
    machine->end = calloc((size_t)slots, sizeof *machine->end);
    int good = machine->first != NULL && machine->next != NULL && machine->end != NULL;
    good = make(&machine->second, shape->second_sets, shape->second_ways) && good;
    for (int64_t unit = 0; good && unit < shape->units; unit++)
        good = make(&machine->first[unit], shape->first_sets, shape->first_ways);
    if (!good) {
        release(machine);
        return NULL;
    }
    return machine;
}

/* In a turn each slot has one request served: those of all multiprocessors for their first block, then the second. */
int ws_advance(machine_t *machine, int64_t turns)
{
    const int64_t slots = machine->shape.units * machine->shape.resident;
    for (int64_t end = machine->turn + turns; machine->turn < end; machine->turn++) {
        int left = 0;
        for (int64_t slot = 0; slot < slots; slot++) {
            if (!take_block(machine, slot))
                continue;
            serve(machine, &machine->first[slot % machine->shape.units], machine->next[slot]++);
            left = 1;
        }
        if (!left)
            return 0;
    }
    return 1;
}

void ws_end(machine_t *machine)
{
    for (int64_t at = 0; at < machine->second.sets * machine->second.ways; at++)
        write_back(machine, &machine->second.lines[at]);
    release(machine);
}
