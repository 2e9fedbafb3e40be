/* The address space of the emulated device.

   Invariant: device memory is readable and writable only while a kernel or an API call runs; a host access in between
   faults, and the fault handler says so. No address is ever used twice, so a stale pointer is always distinguished from a live one.

       arena   | array 1 | gap | array 2 | gap | freed .... |      each in whole pages, bounds kept to the byte

   Limit: the arena's reserve (512 GiB of addresses where the system allows it) bounds what a run may allocate in all. */
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "emulator.h"

namespace ws {

__attribute__((init_priority(101))) Device device; /* made before any constructor of the program runs */

namespace {
struct Range {
    Address low, high;
};
struct Memory {
    Address next = 0;
    std::vector<std::unique_ptr<Region>> regions;
    std::vector<std::unique_ptr<Region>> variables;
    Address variables_low = ~(Address)0, variables_high = 0;
    std::vector<Range> read_only;
    std::map<Address, std::unique_ptr<Region>> host_ranges; /* pinned, managed and registered memory */
    Address tls_from_thread = 0; /* from the thread pointer: every host thread has its own block */
    size_t tls_bytes = 0;
    Region arguments;
    int open = 0;
    int poison_file = -1;
};
Memory &memory() {
    static Memory *the = new Memory;
    return *the;
}
constexpr size_t page = 4096;
constexpr size_t poison_bytes = 64u << 20;
size_t whole_pages(size_t bytes) { return (bytes + page - 1) / page * page; }

/* Note the program's image, its constants and its thread-local block, which holds the shared variables. */
int note_image(dl_phdr_info *info, size_t, void *) {
    Memory &m = memory();
    const Address base = info->dlpi_addr;
    Address low = ~(Address)0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) &h = info->dlpi_phdr[i];
        const Address start = base + h.p_vaddr;
        if (h.p_type == PT_LOAD) low = std::min(low, start);
        if (h.p_type == PT_LOAD && !(h.p_flags & PF_W)) m.read_only.push_back({start, start + h.p_memsz});
        if (h.p_type == PT_GNU_RELRO) m.read_only.push_back({start, start + h.p_memsz});
        if (h.p_type == PT_TLS) {
            m.tls_from_thread = (Address)info->dlpi_tls_data - (Address)__builtin_thread_pointer();
            m.tls_bytes = h.p_memsz;
        }
    }
    device.image = base;
    return 1;
}

/* Where the fault happened, as if it were the return address of a call there. */
uint32_t fault_pc(const void *context) {
    const ucontext_t *c = static_cast<const ucontext_t *>(context);
#if defined(__x86_64__)
    return offset_of((const void *)(c->uc_mcontext.gregs[REG_RIP] + 1));
#elif defined(__aarch64__)
    return offset_of((const void *)(c->uc_mcontext.pc + 1));
#else
    return c ? 0 : 0;
#endif
}

Address fault_stack(const void *context) {
    const ucontext_t *c = static_cast<const ucontext_t *>(context);
#if defined(__x86_64__)
    return (Address)c->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (Address)c->uc_mcontext.sp;
#else
    return c ? device.stack : 0;
#endif
}

void on_fault(int signal_number, siginfo_t *info, void *context) {
    const Address address = (Address)info->si_addr;
    const uint32_t pc = fault_pc(context);
    const bool kernel = fault_stack(context) - device.stack < device.stack_bytes;
    Device &d = device;
    if (address - d.arena < d.arena_bytes && !kernel) {
        report_bad_access("host_dereference", address, 1, "access", pc, region_at((void *)address));
    } else if (kernel) {
        report_bad_access("wild_pointer", address, 1, "access", pc, nullptr);
    } else {
        report_event("crash", signal_number == SIGFPE ? "arithmetic fault" : "invalid memory access", pc, 0);
    }
    flush_reports();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void catch_faults() {
    static char stack[64 * 1024];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
    sigaction(SIGFPE, &action, nullptr);
}

/* Large arrays are poisoned by mapping one poisoned file over them again and again, privately: no memory is used
   until a page is written. */
bool map_poison(Address at, size_t bytes) {
    Memory &m = memory();
    if (m.poison_file < 0) {
        m.poison_file = memfd_create("poison", 0);
        if (m.poison_file < 0) return false;
        std::vector<char> chunk(1 << 20);
        fill_poison(chunk.data(), chunk.size());
        for (size_t done = 0; done < poison_bytes; done += chunk.size())
            if (write(m.poison_file, chunk.data(), chunk.size()) != (ssize_t)chunk.size()) return false;
    }
    for (size_t done = 0; done < bytes; done += poison_bytes) {
        const size_t part = std::min(poison_bytes, bytes - done);
        if (mmap((void *)(at + done), part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, m.poison_file, 0) ==
            MAP_FAILED)
            return false;
    }
    return true;
}
} // namespace

/* What memory holds that nobody has written. NaN spreads through sums and products, but no comparison takes it and fmax
   drops it: a maximum, a test or a clamp would be right in spite of it. So one schedule in three has NaN, one has larger
   numbers than any program, one smaller ones; each half of the word is such a float, and such an integer. */
uint64_t poison_word() {
    const uint64_t mark = (device.seed * 0x9e3779b97f4a7c15u >> 40) & 0xffff;
    constexpr uint64_t words[] = {0x7ff400007fa10000u, 0x7f7000007f700000u, 0xff700000ff700000u};
    return words[std::max(device.schedule, 0) % 3] | mark << 32 | mark;
}

void fill_poison(void *to, size_t bytes) {
    const uint64_t word = poison_word();
    char *p = static_cast<char *>(to);
    for (; bytes >= 8; bytes -= 8, p += 8) __builtin_memcpy(p, &word, 8);
    for (size_t i = 0; i < bytes; ++i) p[i] = (char)(word >> (8 * i));
}

void start_memory() {
    Device &d = device;
    dl_iterate_phdr(note_image, nullptr);
    for (size_t bytes = (size_t)512 << 30; bytes >= (size_t)1 << 30; bytes /= 2) {
        void *arena = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena == MAP_FAILED) continue;
        void *pages = mmap(nullptr, bytes / page * sizeof(Region *), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (pages == MAP_FAILED) {
            munmap(arena, bytes);
            continue;
        }
        d.arena = (Address)arena;
        d.arena_bytes = bytes;
        d.pages = static_cast<Region **>(pages);
        break;
    }
    memory().next = d.arena;
    catch_faults();
}

void open_memory() {
    Memory &m = memory();
    if (m.open++ == 0 && m.next > device.arena)
        mprotect((void *)device.arena, m.next - device.arena, PROT_READ | PROT_WRITE);
}
void close_memory() {
    Memory &m = memory();
    if (--m.open == 0 && m.next > device.arena) mprotect((void *)device.arena, m.next - device.arena, PROT_NONE);
}

OpenPages::OpenPages(const void *pointer, size_t bytes) {
    const Address at = (Address)pointer;
    if (memory().open > 0 || bytes == 0 || at < device.arena || at >= memory().next) return;
    begin_ = at / page * page;
    bytes_ = std::min(whole_pages(at + bytes - begin_), (size_t)(memory().next - begin_));
    mprotect((void *)begin_, bytes_, PROT_READ | PROT_WRITE);
}
OpenPages::~OpenPages() {
    if (bytes_) mprotect((void *)begin_, bytes_, PROT_NONE);
}

Cell *make_cells(Region &region) {
    const size_t count = (region.size + ((size_t)1 << region.shift) - 1) >> region.shift;
    region.cell_bytes = whole_pages((count + 1) * sizeof(Cell));
    void *cells = mmap(nullptr, region.cell_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (cells == MAP_FAILED) {
        report_event("out_of_host_memory", "no memory for the shadow of an array", 0, 0);
        stop(125);
    }
    return region.cells = static_cast<Cell *>(cells);
}

void drop_cells(Region &region) {
    if (region.cells) munmap(region.cells, region.cell_bytes);
    region.cells = nullptr;
}

/* Split the cells until the access covers whole ones; each part inherits what the whole knew. */
bool refine(Region &region, Address offset, size_t bytes) {
    int shift = region.shift;
    while (shift > 0 && ((offset | bytes) & (((size_t)1 << shift) - 1))) --shift;
    Cell *old = region.cells;
    const size_t old_bytes = region.cell_bytes;
    const int split = region.shift - shift;
    const size_t count = (region.size + ((size_t)1 << region.shift) - 1) >> region.shift;
    region.shift = shift;
    make_cells(region);
    const uint32_t first = std::min(device.first, oldest_stamp());
    for (size_t i = 0; i < count; ++i) {
        const Cell &c = old[i];
        if (c.write.stamp < first && c.read.stamp < first) continue;
        const auto several = device.atomics.find(&old[i]);
        for (size_t j = i << split; j < (i + 1) << split && (j << shift) < region.size; ++j) {
            region.cells[j] = c;
            if (several != device.atomics.end()) device.atomics[&region.cells[j]] = Cell(several->second);
        }
    }
    munmap(old, old_bytes);
    return true;
}

Region *acquire(size_t bytes, Space space, const char *name, uint32_t pc) {
    Memory &m = memory();
    Device &d = device;
    auto region = std::make_unique<Region>();
    region->size = bytes;
    region->space = space;
    region->name = name;
    region->pc = pc;
    if (space != Space::global) {
        void *p = mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return nullptr;
        region->base = (Address)p;
        if (space == Space::managed) fill_poison(p, bytes);
        Region *made = region.get();
        m.host_ranges[made->base] = std::move(region);
        watch_host(made->base, made->base + bytes);
        return made;
    }
    const size_t span = whole_pages(bytes) + page;
    if (d.used + bytes > d.capacity || span > d.arena + d.arena_bytes - m.next) return nullptr;
    region->base = m.next;
    m.next += span;
    const bool opened = m.open > 0;
    if (bytes < (1u << 20) || !map_poison(region->base, whole_pages(bytes))) {
        mprotect((void *)region->base, span, PROT_READ | PROT_WRITE);
        fill_poison((void *)region->base, whole_pages(bytes));
    }
    if (!opened) mprotect((void *)region->base, span, PROT_NONE);
    for (size_t i = 0; i < span / page; ++i) d.pages[(region->base - d.arena) / page + i] = region.get();
    d.used += bytes;
    m.regions.push_back(std::move(region));
    return m.regions.back().get();
}

bool release(Address address, Space space) {
    Memory &m = memory();
    Device &d = device;
    if (address - d.arena < d.arena_bytes) {
        Region *region = d.pages[(address - d.arena) / page];
        if (space != Space::global || !region || region->guard == Guard::freed || region->base != address) return false;
        note_stays(*region);
        region->guard = Guard::freed;
        drop_cells(*region);
        d.used -= region->size;
        mmap((void *)address, whole_pages(region->size), m.open ? PROT_READ | PROT_WRITE : PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        return true;
    }
    const auto found = m.host_ranges.find(address);
    if (found == m.host_ranges.end()) return false;
    const Space kind = found->second->space;
    if ((space == Space::pinned) != (kind == Space::pinned)) return false;
    drop_cells(*found->second);
    munmap((void *)address, whole_pages(found->second->size));
    m.host_ranges.erase(found);
    return true;
}

bool add_host_range(void *pointer, size_t bytes) {
    const Address low = (Address)pointer;
    for (const auto &range : memory().host_ranges)
        if (range.second->base < low + bytes && low < range.second->base + range.second->size) return false;
    auto region = std::make_unique<Region>();
    region->base = (Address)pointer;
    region->size = bytes;
    region->space = Space::arguments;
    region->name = "registered host memory";
    watch_host(region->base, region->base + bytes);
    return memory().host_ranges.emplace(region->base, std::move(region)).second;
}
bool drop_host_range(void *pointer) {
    const auto found = memory().host_ranges.find((Address)pointer);
    if (found == memory().host_ranges.end() || found->second->space != Space::arguments) return false;
    drop_cells(*found->second);
    memory().host_ranges.erase(found);
    return true;
}

/* The region that holds an address, for the API and for reports; freed ones too. */
Region *region_at(const void *pointer) {
    const Address address = (Address)pointer;
    if (address - device.arena < device.arena_bytes) return device.pages[(address - device.arena) / page];
    Memory &m = memory();
    if (address >= m.variables_low && address < m.variables_high)
        for (const auto &v : m.variables)
            if (address - v->base < v->size) return v.get();
    auto after = m.host_ranges.upper_bound(address);
    if (after == m.host_ranges.begin()) return nullptr;
    Region *region = std::prev(after)->second.get();
    return address - region->base < region->size ? region : nullptr;
}

/* The region of a device access outside the arena. nullptr: private to the thread or constant, nothing to check.
   Any other address belongs to the host: that is reported and ends the launch. */
Region *slow_region(Address address, size_t bytes, bool write) {
    Memory &m = memory();
    Device &d = device;
    if (address - shared_base() < m.tls_bytes) return &d.slot->shared;
    const Address dynamic = (Address)ws_dynamic_shared();
    if (address - dynamic < 256 * 1024) {
        if (address - dynamic + bytes <= d.launch->shared) return &d.slot->dynamic_shared;
        report_bad_access("out_of_bounds", address, bytes, write ? "write" : "read", d.now.pc, &d.slot->dynamic_shared);
        abort_launch(cudaErrorIllegalAddress);
    }
    const Address arguments = (Address)d.launch->arguments;
    if (address - arguments < d.launch->arguments_bytes) return nullptr;
    Region *region = region_at((const void *)address);
    if (region && address - region->base + bytes <= region->size) {
        if (region->space != Space::constant || !write) return region;
        report_bad_access("writes_constant", address, bytes, "write", d.now.pc, region);
        abort_launch(cudaErrorIllegalAddress);
    }
    if (!write)
        for (const Range &r : m.read_only)
            if (address >= r.low && address + bytes <= r.high) return nullptr;
    report_bad_access(region ? "out_of_bounds" : "host_memory", address, bytes, write ? "write" : "read", d.now.pc,
                      region);
    abort_launch(cudaErrorIllegalAddress);
}

/* Visit every live piece of memory that kernels may have written. */
void each_region(void (*visit)(Region &)) {
    Memory &m = memory();
    for (const auto &r : m.regions)
        if (r->guard != Guard::freed) visit(*r);
    for (const auto &v : m.variables) visit(*v);
    for (const auto &h : m.host_ranges) visit(*h.second);
}

const std::vector<std::unique_ptr<Region>> &variables() { return memory().variables; }
bool touches_variable(Address address) {
    Memory &m = memory();
    if (address < m.variables_low || address >= m.variables_high) return false;
    for (const auto &v : m.variables)
        if (address - v->base < v->size) return v->space != Space::managed;
    return false;
}
Address shared_base() { return memory().tls_from_thread + (Address)__builtin_thread_pointer(); }
size_t shared_bytes() { return memory().tls_bytes; }

} // namespace ws

extern "C" void ws_register(const void *address, size_t bytes, const char *name, int kind) {
    using namespace ws;
    Memory &m = memory();
    auto region = std::make_unique<Region>();
    region->base = (Address)address;
    region->size = bytes;
    region->name = name;
    region->space = kind == constant_variable  ? Space::constant
                    : kind == managed_variable ? Space::managed
                                               : Space::device;
    m.variables_low = std::min(m.variables_low, region->base);
    m.variables_high = std::max(m.variables_high, region->base + bytes);
    if (region->space == Space::managed) watch_host(region->base, region->base + bytes);
    m.variables.push_back(std::move(region));
}
