/* Watches what a proof lacks while a program runs, for `warpsmith survey --run`. Included in front of instrumented text,
   so it includes nothing itself; functions of the C library are declared under names of their own.

   What was seen lies in a file that is mapped and shared: whatever ends the program, it is there. A lock of its own lets
   threads watch one after the other. */
#pragma GCC system_header
#ifndef WS_WATCH_RUNTIME
#define WS_WATCH_RUNTIME
#ifdef __cplusplus
extern "C" {
#endif

/* Of one assumption: executions of its loop, what was seen in them, and the first time that it did not hold: there the
   two iterations (or the one, and the overlap), the value, and which execution it was. `lost`: what was not looked at. */
struct ws_seen { long executions, seen, violated, first, second, value, execution, lost; };
/* A value of a table, with the element that holds it and the iteration that read it; or a piece of memory, with the
   iterations that wrote it, and that read it, the first and another one (-1: none). Each in one execution of the loop. */
struct ws_held { long execution, key, place, iteration, other; };
struct ws_range { unsigned long lower, upper; long first, last; /* the iterations that touched the ends */ };
struct ws_state { struct ws_held *table; long inside, iteration, used; struct ws_range range[2]; };
struct ws_watching { int watch; };

extern int ws_open_(const char *, int, ...) __asm__("open");
extern int ws_ftruncate_(int, long) __asm__("ftruncate");
extern void *ws_mmap_(void *, unsigned long, int, int, int, long) __asm__("mmap");
extern int ws_clock_gettime_(int, void *) __asm__("clock_gettime");
extern int ws_getpid_(void) __asm__("getpid");
extern int ws_close_(int) __asm__("close");

enum { WS_TABLE = 1 << 22 };
__attribute__((weak)) struct ws_seen *ws_all_seen;
__attribute__((weak)) struct ws_state ws_states[WS_WATCHES];
__attribute__((weak)) int ws_watch_lock;

__attribute__((weak, noinline, cold)) struct ws_seen *ws_map_seen(void)
{
    static struct ws_seen nowhere[WS_WATCHES];
    long bytes = 64 + (long)sizeof(struct ws_seen) * WS_WATCHES, from[2], *head;
    char name[sizeof(WS_WATCH_FOLDER) + 48];
    unsigned long k = 0, number = (unsigned long)ws_getpid_();
    int file;
    for (k = 0; WS_WATCH_FOLDER[k]; k++)
        name[k] = WS_WATCH_FOLDER[k];
    ws_clock_gettime_(1, from);
    for (file = 0; file < 2; file++) {
        name[k++] = file ? '-' : '/';
        for (; number; number /= 16)
            name[k++] = "0123456789abcdef"[number % 16];
        number = (unsigned long)from[0] * 1000000000ul + (unsigned long)from[1];
    }
    name[k] = 0;
    file = ws_open_(name, 0302, 0600);
    if (file < 0 || ws_ftruncate_(file, bytes) != 0)
        return nowhere;
    head = (long *)ws_mmap_((void *)0, (unsigned long)bytes, 3, 1, file, 0);
    ws_close_(file);
    if (head == (long *)-1)
        return nowhere;
    head[0] = 0x7774; /* what has no mark is not used */
    return (struct ws_seen *)(head + 8);
}

static __inline__ struct ws_seen *ws_take(int watch)
{
    while (__atomic_exchange_n(&ws_watch_lock, 1, __ATOMIC_ACQUIRE)) {}
    if (!ws_all_seen)
        ws_all_seen = ws_map_seen();
    return ws_all_seen + watch;
}

static __inline__ void ws_give(void) { __atomic_store_n(&ws_watch_lock, 0, __ATOMIC_RELEASE); }

static __inline__ void ws_break(struct ws_seen *seen, long first, long second, long value)
{
    if (!seen->violated++) {
        seen->first = first;
        seen->second = second;
        seen->value = value;
        seen->execution = seen->executions;
    }
}

/* A loop is entered; one that is entered while it runs (recursion) is not looked at. */
__attribute__((weak, noinline)) struct ws_watching ws_begin(int watch)
{
    struct ws_watching entered;
    struct ws_seen *seen = ws_take(watch);
    struct ws_state *state = ws_states + watch;
    entered.watch = watch;
    if (state->inside++) {
        seen->lost++;
    } else {
        seen->executions++;
        state->iteration = -1;
        state->used = 0;
        state->range[0].upper = state->range[1].upper = 0;
    }
    ws_give();
    return entered;
}

__attribute__((weak, noinline)) void ws_end(struct ws_watching *entered)
{
    ws_take(entered->watch);
    ws_states[entered->watch].inside--;
    ws_give();
}

__attribute__((weak, noinline)) void ws_next(int watch)
{
    ws_take(watch);
    ws_states[watch].iteration++;
    ws_give();
}

/* Returns the entry of a key in this execution, a new one has execution 0; nothing where there is no room. */
static __inline__ struct ws_held *ws_find(struct ws_seen *seen, struct ws_state *state, long key)
{
    unsigned long at = (unsigned long)key * 0x9e3779b97f4a7c15ul;
    struct ws_held *held;
    if (state->inside == 1 && !state->table) {
        state->table = (struct ws_held *)ws_mmap_((void *)0, sizeof(struct ws_held) * WS_TABLE, 3, 0x22, -1, 0);
        if (state->table == (struct ws_held *)-1)
            state->table = (struct ws_held *)0;
    }
    if (state->inside != 1 || !state->table || state->used > WS_TABLE / 2)
        return (struct ws_held *)0;
    held = state->table + (at >> 42);
    while (held->execution == seen->executions && held->key != key)
        held = held + 1 == state->table + WS_TABLE ? state->table : held + 1;
    if (held->execution != seen->executions) {
        held->execution = 0;
        held->key = key;
        held->place = held->iteration = held->other = -1;
        state->used++;
    }
    return held;
}

/* injective: no two elements that an execution reads hold the same value. */
__attribute__((weak, noinline)) void ws_value(int watch, const volatile void *place, long value)
{
    struct ws_seen *seen = ws_take(watch);
    struct ws_held *held = ws_find(seen, ws_states + watch, value);
    if (!held) {
        seen->lost++;
    } else {
        seen->seen++;
        if (!held->execution) {
            held->execution = seen->executions;
            held->place = (long)place;
            held->iteration = ws_states[watch].iteration;
        } else if (held->place != (long)place) {
            ws_break(seen, held->iteration, ws_states[watch].iteration, value);
        }
    }
    ws_give();
}

/* parallel: no two iterations of an execution touch one piece of memory, one of them writing. Pieces have four bytes,
   elements of less than four are pieces of their own. */
__attribute__((weak, noinline)) void ws_access(int watch, int writes, const volatile void *place, unsigned long size, int line)
{
    struct ws_seen *seen = ws_take(watch);
    unsigned long from = (unsigned long)place, to = from + size, step = size < 4 ? 1 : 4;
    long now = ws_states[watch].iteration;
    for (from -= from % step; from < to; from += step) {
        struct ws_held *held = ws_find(seen, ws_states + watch, (long)(from * 2 + (step == 1)));
        if (!held) {
            seen->lost++;
            break;
        }
        held->execution = seen->executions;
        if (held->place >= 0 && held->place != now)
            ws_break(seen, held->place, now, line);
        else if (writes && held->iteration >= 0 && held->iteration != now)
            ws_break(seen, held->iteration, now, line);
        else if (writes && held->other >= 0 && held->other != now)
            ws_break(seen, held->other, now, line);
        if (writes)
            held->place = now;
        else if (held->iteration < 0)
            held->iteration = now;
        else if (held->iteration != now)
            held->other = now;
    }
    seen->seen++;
    ws_give();
}

/* noalias: what an execution touches through one pointer lies apart from what it touches through the other. */
__attribute__((weak, noinline)) void ws_touch(int watch, int side, const volatile void *place, unsigned long size)
{
    struct ws_seen *seen = ws_take(watch);
    struct ws_state *state = ws_states + watch;
    if (state->inside != 1) {
        seen->lost++;
    } else {
        struct ws_range *mine = state->range + side, *other = state->range + !side;
        unsigned long lower = (unsigned long)place, upper = lower + size;
        seen->seen++;
        if (!mine->upper || lower < mine->lower) {
            mine->lower = lower;
            mine->first = state->iteration;
        }
        if (upper > mine->upper) {
            mine->upper = upper;
            mine->last = state->iteration;
        }
        if (other->upper && mine->lower < other->upper && other->lower < mine->upper)
            ws_break(seen, mine->lower < other->lower ? other->first : other->last, state->iteration,
                     (long)(state->range[1].lower - state->range[0].lower));
    }
    ws_give();
}

/* A condition, where the loop is entered. */
__attribute__((weak, noinline)) void ws_hold(int watch, int holds)
{
    struct ws_seen *seen = ws_take(watch);
    seen->seen++;
    if (!holds)
        ws_break(seen, -1, -1, 0);
    ws_give();
}

#define WS_WATCH(watch) struct ws_watching ws_w##watch __attribute__((cleanup(ws_end))) = ws_begin(watch)
#define WS_VALUE(watch, at) \
    __extension__({ __typeof__(at) ws_at = (at); ws_value(watch, (const volatile void *)ws_at, (long)*ws_at); ws_at; })
#define WS_TOUCH(watch, side, at) \
    __extension__({ __typeof__(at) ws_at = (at); ws_touch(watch, side, (const volatile void *)ws_at, sizeof *ws_at); ws_at; })
#define WS_ACCESS(watch, writes, at) \
    __extension__({ \
        __typeof__(at) ws_at = (at); \
        ws_access(watch, writes, (const volatile void *)ws_at, sizeof *ws_at, __LINE__); \
        ws_at; \
    })
#ifdef __cplusplus
}
#endif
#endif
