/* The variables of static storage, from the program's own symbol table, as a port's run time reads it (emit/runtime/allocations.cu):
   sorted, those that overlap as one. A program that is no port is asked about them here. */
#include "ws_log.h"

#include <stdlib.h>
#include <string.h>

#if defined __linux__ && defined __GLIBC__
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct variable {
    uintptr_t start, end;
};

static struct variable *variables;
static size_t variable_count;

static int program_base(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1;
}

static int by_start(const void *one, const void *other)
{
    const struct variable *a = (const struct variable *)one, *b = (const struct variable *)other;
    return (a->start > b->start) - (a->start < b->start);
}

/* Read the objects of one symbol table; count them alone where there is no room yet. */
static void read_table(const ElfW(Sym) *symbol, size_t left, uintptr_t base, int counts)
{
    for (; left > 0; left--, symbol++) {
        if ((symbol->st_info & 15) != STT_OBJECT || symbol->st_size == 0 || symbol->st_shndx == SHN_UNDEF ||
            symbol->st_shndx >= SHN_LORESERVE)
            continue;
        if (!counts) {
            variables[variable_count].start = base + symbol->st_value;
            variables[variable_count].end = base + symbol->st_value + symbol->st_size;
        }
        variable_count++;
    }
}

static void read_tables(const char *file, size_t size, int counts)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)file;
    uintptr_t base = 0;
    if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shoff > size)
        return;
    dl_iterate_phdr(program_base, &base);
    const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file + head->e_shoff);
    variable_count = 0;
    for (int i = 0; i < head->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB)
            read_table((const ElfW(Sym) *)(file + sections[i].sh_offset), sections[i].sh_size / sizeof(ElfW(Sym)), base,
                       counts);
}

static void read_variables(void)
{
    struct stat about;
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (fstat(file, &about) == 0 && about.st_size > 0) {
        const size_t size = (size_t)about.st_size;
        void *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (text != MAP_FAILED) {
            read_tables((const char *)text, size, 1);
            variables = (struct variable *)ws_pages((variable_count + 1) * sizeof *variables);
            if (variables)
                read_tables((const char *)text, size, 0);
            munmap(text, size);
        }
    }
    close(file);
    if (!variables)
        variable_count = 0;
    qsort(variables, variable_count, sizeof *variables, by_start);
    size_t kept = 0;
    for (size_t i = 0; i < variable_count; i++)
        if (kept > 0 && variables[i].start < variables[kept - 1].end) {
            if (variables[i].end > variables[kept - 1].end)
                variables[kept - 1].end = variables[i].end;
        } else
            variables[kept++] = variables[i];
    variable_count = kept;
}

static void know_variables(void)
{
    static int read;
    if (!read++)
        read_variables();
}

/* Find the variable that the byte at `at` belongs to. */
int ws_variable_around(const void *at, uintptr_t *start, size_t *size)
{
    const uintptr_t place = (uintptr_t)at;
    know_variables();
    for (size_t i = 0; i < variable_count; i++)
        if (variables[i].start <= place && place < variables[i].end) {
            *start = variables[i].start;
            *size = variables[i].end - variables[i].start;
            return 1;
        }
    return 0;
}

/* Find the variable that `at` points into, or one past the end of; two, where one ends where the other begins. */
int ws_variable_find(const void *at, uintptr_t *start, size_t *size)
{
    const uintptr_t place = (uintptr_t)at;
    know_variables();
    for (size_t i = 0; i < variable_count; i++) {
        if (place < variables[i].start || place > variables[i].end)
            continue;
        const int two = i + 1 < variable_count && place == variables[i].end && variables[i + 1].start == place;
        *start = variables[i].start;
        *size = variables[i + two].end - *start;
        return 1;
    }
    return 0;
}

/* Visit every variable. */
void ws_variable_each(void (*visit)(uintptr_t start, size_t size))
{
    know_variables();
    for (size_t i = 0; i < variable_count; i++)
        visit(variables[i].start, variables[i].end - variables[i].start);
}

#else

void ws_variable_each(void (*visit)(uintptr_t start, size_t size))
{
    (void)visit;
}

int ws_variable_find(const void *at, uintptr_t *start, size_t *size)
{
    (void)at;
    (void)start;
    (void)size;
    return 0;
}

int ws_variable_around(const void *at, uintptr_t *start, size_t *size)
{
    return ws_variable_find(at, start, size);
}

#endif
