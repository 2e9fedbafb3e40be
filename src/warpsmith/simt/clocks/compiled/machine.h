/* The data of the machine with clocks: what encode.py hands over, and what the machine holds. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The width is known when this is compiled, so that loops over lanes become vector instructions. */
#ifdef WS_WIDTH
#define WIDTH(m) ((void)(m), (int64_t)WS_WIDTH)
#else
#define WIDTH(m) ((m)->p.width)
#endif

enum op {
    MOV, UTOF, ADD_F32, SUB_F32, MUL_F32, MAD_F32, LERP, DIV_F32, ABS_F32, CLAMP, LEN, NORM, ADD_U32, SUB_U32, MUL_U32,
    MAD_U32, DIV_U32, AND, OR, LT_F32, GT_F32, LT_U32, GT_U32, LD, ST, SAMPLE, PUSH_MASK, POP_MASK, MASK_NZ, BR_PUSH, JMP,
    RET
};
enum unit { ALU, MEMORY, SAMPLER, CONTROL };
enum source { REGISTER, CONSTANT, THREAD_ID, LANE_ID, WAVE_ID, CLOCK };
enum state { EMPTY, ACTIVE, WAITS_MEMORY, WAITS_RESULT, READY };
enum thread_state { ISSUES, MASKED_OFF, STALLED, WAITS_ITS_TURN, THREAD_STATES };
enum fault { NONE, UNDERFLOW_, OVERFLOW_, OUTSIDE, MISALIGNED, PIXEL, ENDLESS };
enum scheduler { GREEDY, ROUND_ROBIN, OLDEST, MAJORITY };
enum formation { FIXED, HOMES, CROSSBAR };
enum { WIDEST = 64, NAN_BITS = 0x7fc00000 };

/* As encode.py writes them. */
struct source_of { int32_t kind, number, count, components[4], words[4]; };
struct instruction {
    int32_t op, unit, clocks, writes, destination, count, components[4];
    int32_t sources;
    struct source_of source[3];
    int32_t view, is_pixel, moved, which[4], target[2], locked_count, locked[4];
};
struct cache_shape { int64_t sets, ways, latency, is_lru; };
struct parameters {
    int64_t width, lanes_per_alu, cores, slots, alus, issue, interleaved, scheduler, pipe, stack, control, line, registers,
        formation, late;
    struct cache_shape l1, l2, sampler;
    int64_t dram_latency, dram_bandwidth, recorded, instructions, waves;
};
struct view { uint32_t *words; int64_t size, width, height, base; };

/* What is recorded; Python has the same rows of eight words. */
struct row { int64_t word[8]; };
struct rows { struct row *row; int64_t count, room; };

struct line { int64_t number, arrives; };
struct cache { struct cache_shape shape; struct line *lines; int32_t *held; int64_t counts[3]; int kind; };
struct entry { uint64_t mask; int64_t target; };
struct way { uint64_t mask; int64_t pc, depth; };
struct slot {
    int64_t wave, age, pc, depth, next_issue, recheck, first_thread;
    uint64_t exec, shown_mask;
    int64_t shown_index;
    int blocked, present, ended;
    struct entry *stack;
    uint32_t *registers, *mask_words, *threads, *lane_ids, *wave_ids;
    int64_t *ready, *latest; /* until * 2 + (by memory) */
    int64_t state, start, seen_wave, seen_index;
    uint64_t seen_mask;
    /* of a formed wave: the home of the thread in each lane, and where threads go from a control instruction */
    int32_t *place, *home;
    uint32_t *seen_threads;
    struct way way[2];
    int ways, pooled, entering;
};
struct core {
    struct slot *slots;
    struct cache l1, sampler;
    int64_t *alu_free, *current, *order, first, memory_free, sampler_free;
    int64_t used; /* slots, or rows of formed waves that there ever were */
    /* threads by their homes: [place][register][component][lane], [place][lane], [place] */
    uint32_t *home_registers, *home_threads;
    int64_t *home_ready, *home_wave, *alive;
};
struct machine {
    struct parameters p;
    struct instruction *program;
    struct view *views;
    int64_t *waves; /* first thread, lanes */
    uint32_t *constants, *rows_of_builtins;
    struct core *cores;
    int *state;
    int64_t *lanes_at; /* lanes of ready waves by instruction */
    struct cache l2;
    int64_t chime, line_shift, dram_free, dram_bytes, now, begun, running, rows, formed, has_room;
    int64_t instructions, lane_instructions, slot_clocks[5], alu_clocks;
    int64_t fault[6]; /* kind, index, wave, lane, two words */
    int64_t *thread_clocks; /* of each thread by thread_state */
    struct rows stretches, alus, events, left;
};
