/* Reports: races and errors as JSON lines in the file that WARPSMITH_EMULATION_REPORT names.

   A report is written when it first happens, so that a crash loses nothing; counts and `same_value` of races are
   written again at the end under the same id, and the reader keeps the last line of an id. Places in the program are
   offsets of return addresses in its image. */
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <set>
#include <tuple>

#include "shadow.h"
#include "timeline.h"

namespace ws {
namespace {
constexpr size_t limit = 20;

struct Place {
    uint32_t block[3], thread[3], pc;
    const char *op;
};
struct Race {
    std::string fixed;
    uint64_t count = 0;
    uint64_t unlike = 0; /* instances that are not two writes of one value */
    bool changed = false;
};
struct Reports {
    int file = -1;
    std::map<std::pair<uint32_t, uint32_t>, size_t> index;
    std::vector<Race> races;
    std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> unordered;
    std::set<uint32_t> absent;
    uint64_t beyond = 0;
    size_t events = 0;
    Race *pending = nullptr;
    Address pending_address = 0;
    size_t pending_bytes = 0;
    unsigned char before[64] = {};
};
Reports &reports() {
    static Reports *the = new Reports;
    return *the;
}

std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (const char c : text) {
        char code[8];
        if (c == '"' || c == '\\') out += '\\', out += c;
        else if ((unsigned char)c < 32 || (unsigned char)c > 126) snprintf(code, sizeof code, "\\u%04x", (unsigned char)c), out += code;
        else out += c;
    }
    return out + "\"";
}
std::string number(uint64_t value) { return std::to_string(value); }

void put(const std::string &line) {
    Reports &r = reports();
    const std::string whole = line + "\n";
    size_t done = 0;
    while (r.file >= 0 && done < whole.size()) {
        const ssize_t n = write(r.file, whole.data() + done, whole.size() - done);
        if (n <= 0) return;
        done += (size_t)n;
    }
}

/* The program's own symbols that lie in thread-local storage: the shared variables of its kernels. */
template <class F> void each_shared_symbol(F take) {
    const int file = open("/proc/self/exe", O_RDONLY);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) != 0) return;
    const size_t size = (size_t)facts.st_size;
    const char *data = static_cast<const char *>(mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0));
    close(file);
    if (data == MAP_FAILED) return;
    const auto *head = reinterpret_cast<const ElfW(Ehdr) *>(data);
    const auto *sections = reinterpret_cast<const ElfW(Shdr) *>(data + head->e_shoff);
    for (int i = 0; i < head->e_shnum; ++i) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        const auto *symbols = reinterpret_cast<const ElfW(Sym) *>(data + sections[i].sh_offset);
        const char *names = data + sections[sections[i].sh_link].sh_offset;
        for (size_t s = 0; s < sections[i].sh_size / sizeof(ElfW(Sym)); ++s) {
            if (ELF64_ST_TYPE(symbols[s].st_info) != STT_TLS) continue;
            int status = 0;
            char *plain = abi::__cxa_demangle(names + symbols[s].st_name, nullptr, nullptr, &status);
            take(std::string(plain ? plain : names + symbols[s].st_name), symbols[s].st_value, symbols[s].st_size);
            free(plain);
        }
    }
    munmap((void *)data, size);
}

/* The name of the shared variable at an offset of the thread-local block, from the program's own symbol table. */
std::string shared_name(size_t offset, size_t &start) {
    std::string found;
    each_shared_symbol([&](const std::string &name, size_t at, size_t bytes) {
        if (offset - at < bytes) start = at, found = name;
    });
    const size_t colons = found.rfind("::");
    return colons == std::string::npos ? found : found.substr(colons + 2);
}

const char *space_name(Space space) {
    switch (space) {
    case Space::global: return "global";
    case Space::managed: return "managed";
    case Space::pinned: return "pinned";
    case Space::shared:
    case Space::dynamic_shared: return "shared";
    case Space::device: return "device";
    case Space::constant: return "constant";
    default: return "host";
    }
}

/* `array`, `space`, `offset`, `index`, `size`, `extent`, `acquired` of an address. */
std::string place_text(Region *region, Address address, size_t bytes) {
    if (!region) return "\"array\":\"\",\"space\":\"host\",\"offset\":0,\"index\":0,\"size\":" + number(bytes) + ",\"extent\":0,\"acquired\":0";
    std::string name = region->name;
    size_t start = 0, extent = region->size;
    if (region->space == Space::shared) {
        name = shared_name(address - region->base, start);
        if (name.empty()) name = "shared memory";
    }
    const int64_t offset = (int64_t)(address - region->base - start);
    const int64_t index = offset / (int64_t)(bytes ? bytes : 1);
    return "\"array\":" + quoted(name) + ",\"space\":\"" + space_name(region->space) + "\",\"offset\":" + std::to_string(offset) +
           ",\"index\":" + std::to_string(index) + ",\"size\":" + number(bytes) + ",\"extent\":" + number(extent) +
           ",\"acquired\":" + number(region->pc);
}

std::string three(const uint32_t v[3]) { return "[" + number(v[0]) + "," + number(v[1]) + "," + number(v[2]) + "]"; }
std::string access_text(const Place &p) {
    return std::string("{\"op\":\"") + p.op + "\",\"block\":" + three(p.block) + ",\"thread\":" + three(p.thread) + ",\"pc\":" + number(p.pc) + "}";
}

Place place_of(uint32_t block, uint32_t thread, uint32_t pc, const char *op) {
    Place p = {};
    p.pc = pc;
    p.op = op;
    const ws_launch_t *l = device.launch;
    if (!l) return p;
    p.block[0] = block % l->grid[0];
    p.block[1] = block / l->grid[0] % l->grid[1];
    p.block[2] = block / l->grid[0] / l->grid[1];
    p.thread[0] = thread % l->block[0];
    p.thread[1] = thread / l->block[0] % l->block[1];
    p.thread[2] = thread / l->block[0] / l->block[1];
    return p;
}
Place here(uint32_t pc, const char *op) { return place_of(device.block, device.now.thread(), pc, op); }

std::string kernel_text() {
    return "\"kernel\":" + quoted(device.launch ? device.launch->name : "") + ",\"launch\":" + number(device.launches);
}

void put_race(size_t id) {
    Race &race = reports().races[id];
    race.changed = false;
    put("{\"id\":" + number(id) + ",\"kind\":\"race\"," + race.fixed + ",\"count\":" + number(race.count) +
        ",\"same_value\":" + (race.unlike == 0 ? "true" : "false") + "}");
}

void at_end() { flush_reports(); }
} // namespace

void start_reports() {
    const char *path = getenv("WARPSMITH_EMULATION_REPORT");
    if (path && *path) reports().file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    atexit(at_end);
}

/* {"op", "pc" of the access, "actor": a kernel, a call or the host, "issued": where the host asked for it}; a copy touches
   memory where it was asked for. */
static std::string side_text(const Side &side) {
    const Operation *o = side.operation;
    const uint32_t issued = o ? o->pc : 0;
    const char *kind = !o                              ? "host"
                       : o->kind == Kind::kernel        ? "kernel"
                       : o->kind == Kind::host_function ? "host_function"
                                                        : "call";
    return std::string("{\"op\":\"") + (side.write ? "write" : "read") + "\",\"pc\":" + number(side.pc ? side.pc : issued) +
           ",\"actor\":\"" + kind + "\",\"name\":" + quoted(o ? o->name : "") +
           ",\"issued\":" + number(issued) + "}";
}

/* Two operations, or an operation and the host, touch the same memory with nothing that orders them. */
void report_unordered(const Side &first, const Side &second, Region *region, Address address, size_t bytes) {
    Reports &r = reports();
    const auto issued = [](const Side &side) { return side.operation ? side.operation->pc : 0; };
    if (r.unordered.size() >= limit || !r.unordered.insert({first.pc, second.pc, issued(first), issued(second)}).second) return;
    put("{\"id\":" + number(1000 + r.events++) + ",\"kind\":\"unordered\"," + place_text(region, address, bytes) +
        ",\"accesses\":[" + side_text(first) + "," + side_text(second) + "],\"count\":1}");
}

void report_race(const Entry &before, const char *before_op, const char *op, Region &region, Address address, size_t bytes) {
    Reports &r = reports();
    Device &d = device;
    const uint32_t pc = d.now.pc;
    if (before.stamp < d.own_first) {
        const Side other = side_of(before.stamp, strcmp(before_op, "read") != 0, before.pc);
        return report_unordered(other, {running_kernel(), strcmp(op, "read") != 0, pc}, &region, address, bytes);
    }
    const auto key = std::make_pair(before.pc, pc);
    auto found = r.index.find(key);
    if (found == r.index.end()) {
        if (r.races.size() >= limit) {
            ++r.beyond;
            return;
        }
        found = r.index.emplace(key, r.races.size()).first;
        Race race;
        const uint32_t owner = before.stamp == d.now.stamp ? d.block : owner_of(before.stamp);
        race.fixed = kernel_text() + "," + place_text(&region, address, bytes) + ",\"accesses\":[" +
                     access_text(place_of(owner, before.thread(), before.pc, before_op)) + "," + access_text(here(pc, op)) + "]";
        r.races.reserve(limit);
        r.races.push_back(race);
        r.races.back().count = 1;
        r.races.back().unlike = 1;
        put_race(found->second);
        r.races.back().count = r.races.back().unlike = 0;
    }
    Race &race = r.races[found->second];
    ++race.count;
    race.changed = true;
    if (strcmp(before_op, "write") != 0 || strcmp(op, "write") != 0 || bytes > sizeof r.before) {
        ++race.unlike;
        return;
    }
    r.pending = &race;
    r.pending_address = address;
    r.pending_bytes = bytes;
    __builtin_memcpy(r.before, (const void *)address, bytes);
    d.pending = true;
}

/* The write that raced is done by now: did it change anything? */
void settle_pending() {
    Reports &r = reports();
    device.pending = false;
    if (r.pending && memcmp(r.before, (const void *)r.pending_address, r.pending_bytes) != 0) ++r.pending->unlike;
    r.pending = nullptr;
}

void report_bad_access(const char *kind, Address address, size_t bytes, const char *op, uint32_t pc, Region *region) {
    const bool by_host = strcmp(kind, "host_dereference") == 0 || strcmp(kind, "host_touches_device_variable") == 0;
    std::string line = "{\"id\":" + number(1000 + reports().events++) + ",\"kind\":\"" + kind + "\"," + kernel_text() + "," +
                       place_text(region, address, bytes) + ",\"accesses\":[";
    if (device.stack_bytes && !by_host) line += access_text(here(pc, op));
    else line += "{\"op\":\"" + std::string(op) + "\",\"pc\":" + number(pc) + "}";
    put(line + "],\"count\":1}");
    fprintf(stderr, "warpsmith emulation: %s\n",
            strcmp(kind, "host_dereference") == 0 ? "the host dereferenced device memory" : kind);
}

/* Threads were waited for at `pc` and had ended; one of them, and the place of its last access (0: of no interest). */
void report_absent(const char *kind, uint32_t block, uint32_t thread, uint32_t pc, uint32_t last_pc) {
    Reports &r = reports();
    if (r.absent.size() >= limit || !r.absent.insert(pc).second) return;
    put("{\"id\":" + number(1000 + r.events++) + ",\"kind\":\"" + kind + "\"," + kernel_text() + ",\"accesses\":[" +
        access_text(place_of(block, thread, pc, "wait")) + "," + access_text(place_of(block, thread, last_pc, "end")) +
        "],\"count\":1}");
}

void report_event(const char *kind, const std::string &message, uint32_t pc, uint32_t other_pc) {
    Reports &r = reports();
    if (r.events > 200) return;
    std::string line = "{\"id\":" + number(1000 + r.events++) + ",\"kind\":\"" + kind + "\"," + kernel_text() +
                       ",\"message\":" + quoted(message) + ",\"accesses\":[";
    if (device.stack_bytes) line += access_text(here(pc, kind)) + (other_pc ? "," + access_text(here(other_pc, kind)) : "");
    else line += "{\"op\":\"call\",\"pc\":" + number(pc) + "}";
    put(line + "],\"count\":1}");
}

void report_declared(const char *space, const Declared &declared, const std::string &message) {
    Reports &r = reports();
    if (r.events > 200) return;
    put("{\"id\":" + number(1000 + r.events++) + ",\"kind\":\"too_large\"," + kernel_text() + ",\"array\":" + quoted(declared.variable) +
        ",\"space\":" + quoted(space) + ",\"message\":" + quoted(message) + ",\"accesses\":[],\"count\":1}");
}

std::map<std::string, Declared> shared_memory_of_functions() {
    std::map<std::string, Declared> found;
    each_shared_symbol([&](const std::string &name, size_t, size_t size) {
        const size_t end = name.rfind("::");
        if (end != std::string::npos) found[name.substr(0, end)].add(name.substr(end + 2), size);
    });
    return found;
}

void flush_reports() {
    Reports &r = reports();
    if (device.pending) settle_pending();
    for (size_t id = 0; id < r.races.size(); ++id)
        if (r.races[id].changed) put_race(id);
    if (r.beyond) put("{\"id\":999,\"kind\":\"more_races\",\"count\":" + number(r.beyond) + ",\"accesses\":[]}");
}

void stop(int code) {
    flush_reports();
    fflush(nullptr);
    _exit(code);
}

} // namespace ws
