/* The variables of static storage, from the program's own symbol table: sorted, those that overlap as one.

       static int t[10];         the table has [t, t + 10); a program without a symbol table (strip): not known

   Variables may touch: where one ends where another begins, the address stands for both. */
#pragma once

#include <algorithm>
#include <stdint.h>
#include <string.h>
#include <vector>

#include "malloc.cu"
#include "heap.cu"

#ifdef __linux__
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct ws_variable {
    uintptr_t start, end;
};

static int ws_program_base(struct dl_phdr_info *info, size_t, void *base)
{
    *(uintptr_t *)base = info->dlpi_addr;
    return 1;
}

static void ws_read_symbols(const char *file, size_t size, std::vector<ws_variable> *found)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)file;
    uintptr_t base = 0;
    if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(ElfW(Shdr)) ||
        head->e_shoff > size || (size - head->e_shoff) / sizeof(ElfW(Shdr)) < head->e_shnum)
        return;
    dl_iterate_phdr(ws_program_base, &base);
    const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++) {
        const ElfW(Shdr) *section = &sections[i];
        if (section->sh_type != SHT_SYMTAB || section->sh_offset > size || section->sh_size > size - section->sh_offset)
            continue;
        const ElfW(Sym) *symbol = (const ElfW(Sym) *)(file + section->sh_offset);
        for (size_t left = section->sh_size / sizeof *symbol; left > 0; left--, symbol++)
            if ((symbol->st_info & 15) == STT_OBJECT && symbol->st_size > 0 && symbol->st_shndx != SHN_UNDEF &&
                symbol->st_shndx < SHN_LORESERVE)
                found->push_back({base + symbol->st_value, base + symbol->st_value + symbol->st_size});
    }
}

static std::vector<ws_variable> ws_all_variables(void)
{
    std::vector<ws_variable> found, merged;
    struct stat about;
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0) {
        void *text = mmap(nullptr, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (text != MAP_FAILED) {
            ws_read_symbols((const char *)text, (size_t)about.st_size, &found);
            munmap(text, (size_t)about.st_size);
        }
    }
    if (file >= 0)
        close(file);
    std::sort(found.begin(), found.end(), [](const ws_variable &a, const ws_variable &b) { return a.start < b.start; });
    for (const ws_variable &one : found)
        if (!merged.empty() && one.start < merged.back().end)
            merged.back().end = std::max(merged.back().end, one.end);
        else
            merged.push_back(one);
    return merged;
}

/* Find the variable that `at` points into, or one past the end of; two, where one ends where the other begins. */
static bool ws_variable_find(const void *at, uintptr_t *start, size_t *bytes)
{
    static const std::vector<ws_variable> all = ws_all_variables();
    const uintptr_t place = (uintptr_t)at;
    auto next =
        std::upper_bound(all.begin(), all.end(), place, [](uintptr_t a, const ws_variable &b) { return a < b.start; });
    if (next == all.begin())
        return false;
    const ws_variable *one = &*(next - 1);
    if (place > one->end)
        return false;
    *start = one->start;
    if (place == one->start && one != &all.front() && (one - 1)->end == place)
        *start = (one - 1)->start;
    *bytes = one->end - *start;
    return true;
}
#else
static bool ws_variable_find(const void *, uintptr_t *, size_t *)
{
    return false;
}
#endif

static bool ws_allocation_of(const void *at, uintptr_t *start, size_t *bytes, bool row = false)
{
    ws_allocations_settle();
    return ws_allocation_find(at, start, bytes, row) || ws_variable_find(at, start, bytes);
}
