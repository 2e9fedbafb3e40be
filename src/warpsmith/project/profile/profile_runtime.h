/* Counts entries, iterations and time of loops, for `warpsmith survey --run`. Included in front of instrumented text, so
   it includes nothing itself; functions of the C library are declared under names of their own.

   The counters lie in a file that is mapped and shared: whatever ends the program, they are there. Each thread has a
   row of its own for every loop, but for the last set of rows, which all further threads share. */
#pragma GCC system_header
#ifndef WS_PROFILE_RUNTIME
#define WS_PROFILE_RUNTIME
#ifdef __cplusplus
extern "C" {
#endif

struct ws_row { long entries, iterations, ticks, self; };
struct ws_scope { struct ws_row *row; long n; long weight; long saved; unsigned long start; };
struct ws_outer { struct ws_scope s; struct ws_outer *up; unsigned long mark; };

extern int ws_open(const char *, int, ...) __asm__("open");
extern int ws_ftruncate(int, long) __asm__("ftruncate");
extern void *ws_mmap(void *, unsigned long, int, int, int, long) __asm__("mmap");
extern int ws_clock_gettime(int, void *) __asm__("clock_gettime");
extern int ws_getpid(void) __asm__("getpid");
extern int ws_close(int) __asm__("close");
extern int ws_omp_thread(void) __asm__("omp_get_thread_num") __attribute__((weak));

__attribute__((weak)) struct ws_row *ws_rows;
__attribute__((weak)) long ws_threads;
__attribute__((weak)) long ws_cost;
__attribute__((weak)) __thread struct ws_row *ws_mine;
__attribute__((weak)) __thread long ws_inner;
__attribute__((weak)) __thread int ws_shared;
__attribute__((weak)) __thread struct ws_outer *ws_open_loops;

#define WS_ADD(place, amount) \
    ((void)(__builtin_expect(ws_shared, 0) ? __atomic_fetch_add(&(place), (amount), __ATOMIC_RELAXED) : ((place) += (amount))))

static __inline__ __attribute__((always_inline)) unsigned long ws_now(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    long at[2] = { 0, 0 };
    ws_clock_gettime(1, at);
    return (unsigned long)at[0] * 1000000000ul + (unsigned long)at[1];
#endif
}

/* Head of the file: ticks in a second; then WS_SLOTS sets of WS_LOOPS rows. Without a file, rows in plain memory. */
__attribute__((weak, noinline, cold)) struct ws_row *ws_map(void)
{
    static struct ws_row nowhere[WS_LOOPS * WS_SLOTS];
    long bytes = 64 + (long)sizeof(struct ws_row) * WS_LOOPS * WS_SLOTS;
    char name[sizeof(WS_FOLDER) + 48];
    long at[2], from[2];
    unsigned long k = 0, number, ticks;
    long *head;
    int file;
    for (k = 0; WS_FOLDER[k]; k++)
        name[k] = WS_FOLDER[k];
    ws_clock_gettime(1, from);
    number = (unsigned long)ws_getpid();
    for (file = 0; file < 2; file++) {
        name[k++] = file ? '-' : '/';
        for (; number; number /= 16)
            name[k++] = "0123456789abcdef"[number % 16];
        number = (unsigned long)from[0] * 1000000000ul + (unsigned long)from[1];
    }
    name[k] = 0;
    file = ws_open(name, 0302, 0600);
    if (file < 0 || ws_ftruncate(file, bytes) != 0)
        return nowhere;
    head = (long *)ws_mmap((void *)0, (unsigned long)bytes, 3, 1, file, 0);
    ws_close(file);
    if (head == (long *)-1)
        return nowhere;
    ws_clock_gettime(1, from);
    ticks = ws_now();
    do
        ws_clock_gettime(1, at);
    while ((at[0] - from[0]) * 1000000000 + at[1] - from[1] < 4000000);
    ticks = ws_now() - ticks;
    head[1] = (long)((double)ticks * 1e9 / (double)((at[0] - from[0]) * 1000000000 + at[1] - from[1]));
    /* What reading the clock twice takes is no time of a loop. */
    ws_cost = 1 << 30;
    for (k = 0; k < 1000; k++) {
        ticks = ws_now();
        ticks = ws_now() - ticks;
        if ((long)ticks < ws_cost)
            ws_cost = (long)ticks;
    }
    head[0] = 0x7773; /* last: what has no mark is not used */
    return (struct ws_row *)(head + 8);
}

__attribute__((weak, noinline, cold)) struct ws_row *ws_attach(void)
{
    struct ws_row *rows = __atomic_load_n(&ws_rows, __ATOMIC_ACQUIRE), *none = (struct ws_row *)0;
    long number;
    if (!rows) {
        rows = ws_map();
        if (!__atomic_compare_exchange_n(&ws_rows, &none, rows, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            rows = none;
    }
    number = __atomic_fetch_add(&ws_threads, 1, __ATOMIC_RELAXED);
    if (number >= WS_SLOTS - 1) {
        number = WS_SLOTS - 1;
        ws_shared = 1;
    }
    ws_mine = rows + number * WS_LOOPS;
    return ws_mine;
}

/* The first entries are timed all, and long ones; of many short ones, one in 64 stands for 64. */
static __inline__ __attribute__((always_inline)) struct ws_scope ws_enter(int loop, long trips)
{
    struct ws_scope s;
    struct ws_row *mine = ws_mine ? ws_mine : ws_attach();
    long entry;
    s.row = mine + loop;
    s.n = trips;
    entry = s.row->entries;
    WS_ADD(s.row->entries, 1);
    s.weight = entry < 256 || (s.row->ticks >> 12) > entry ? 1 : (entry & 63) ? 0 : 64;
    s.saved = ws_inner;
    ws_inner = 0;
    s.start = s.weight ? ws_now() : 0;
    return s;
}

static __inline__ __attribute__((always_inline)) void ws_leave(struct ws_scope *s)
{
    long spent = 0;
    if (!s->row)
        return;
    WS_ADD(s->row->iterations, s->n);
    if (s->weight) {
        spent = (long)(ws_now() - s->start) - ws_cost;
        if (spent < 0)
            spent = 0;
        WS_ADD(s->row->ticks, spent * s->weight);
        WS_ADD(s->row->self, (spent - ws_inner) * s->weight);
        spent *= s->weight;
    }
    ws_inner = s->saved + spent;
}

/* Loops that hold more than arithmetic are also in a list, so that what is open when the program calls exit is counted.
   A longjmp may leave dead ones in it: the mark tells. */
static __inline__ __attribute__((always_inline)) struct ws_outer ws_enter_outer(int loop)
{
    struct ws_outer o;
    o.s = ws_enter(loop, 0);
    o.up = ws_open_loops;
    o.mark = 0;
    return o;
}

static __inline__ __attribute__((always_inline)) int ws_list(struct ws_outer *o)
{
    o->mark = (unsigned long)o ^ 0x57535753ul;
    ws_open_loops = o;
    return 0;
}

static __inline__ __attribute__((always_inline)) void ws_leave_outer(struct ws_outer *o)
{
    o->mark = 0;
    ws_open_loops = o->up;
    ws_leave(&o->s);
}

__attribute__((weak, destructor)) void ws_finish(void)
{
    struct ws_outer *o = ws_open_loops, *up;
    for (; o && o->mark == ((unsigned long)o ^ 0x57535753ul); o = up) {
        up = o->up;
        o->mark = 0;
        if (o->s.row >= ws_rows && o->s.row < ws_rows + WS_LOOPS * WS_SLOTS)
            ws_leave(&o->s);
    }
    ws_open_loops = (struct ws_outer *)0;
}

/* A loop that a team shares: its first thread stands for all. */
static __inline__ __attribute__((always_inline)) struct ws_scope ws_enter_team(int loop, long trips)
{
    struct ws_scope s;
    if (!ws_omp_thread || ws_omp_thread() == 0)
        return ws_enter(loop, trips);
    s.row = (struct ws_row *)0;
    s.n = s.weight = s.saved = 0;
    s.start = 0;
    return s;
}

/* An iteration of a loop that threads share, counted by the thread that runs it. */
static __inline__ __attribute__((always_inline)) void ws_step(int loop)
{
    struct ws_row *mine = ws_mine ? ws_mine : ws_attach();
    WS_ADD(mine[loop].iterations, 1);
}

#define WS_LOOP(loop, trips) struct ws_scope ws_s##loop __attribute__((cleanup(ws_leave))) = ws_enter(loop, trips)
#define WS_OUTER(loop) \
    struct ws_outer ws_s##loop##o __attribute__((cleanup(ws_leave_outer))) = ws_enter_outer(loop); \
    ws_list(&ws_s##loop##o)
#define WS_TEAM(loop, trips) struct ws_scope ws_s##loop __attribute__((cleanup(ws_leave))) = ws_enter_team(loop, trips)
#define WS_UP(from, to, by) ((from) < (to) ? (long)(((to) - (from) + ((by) - 1)) / (by)) : 0)
#define WS_UP_TO(from, to, by) ((from) <= (to) ? (long)(((to) - (from)) / (by)) + 1 : 0)
#define WS_NOT(from, to, by) ((from) < (to) ? (long)(((to) - (from)) / (by)) : (long)(((from) - (to)) / (by)))
#ifdef __cplusplus
}
#endif
#endif
