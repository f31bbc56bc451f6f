/* symbol.c: names of the functions of this program, from its own symbol table: kernels are static, so that the dynamic
 * linker does not know them. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kernels/checker.h"

typedef struct table {
    const Elf64_Sym *symbols;
    size_t n;
    const char *names;
    uintptr_t base;
} table;

static int base_of(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uintptr_t *)arg = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

static const char *map_self(void)
{
    struct stat s;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s)) return NULL;
    void *p = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return p == MAP_FAILED ? NULL : p;
}

static table read_table(void)
{
    table t = {0};
    const char *file = map_self();
    if (!file) return t;
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)file;
    const Elf64_Shdr *section = (const Elf64_Shdr *)(file + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++) {
        if (section[i].sh_type != SHT_SYMTAB) continue;
        t.symbols = (const Elf64_Sym *)(file + section[i].sh_offset);
        t.n = section[i].sh_size / sizeof *t.symbols;
        t.names = file + section[section[i].sh_link].sh_offset;
    }
    dl_iterate_phdr(base_of, &t.base);
    return t;
}

const char *ck_symbol(ck_fn f)
{
    static table t;
    if (!t.symbols) t = read_table();
    for (size_t i = 0; i < t.n; i++)
        if (ELF64_ST_TYPE(t.symbols[i].st_info) == STT_FUNC && t.base + t.symbols[i].st_value == (uintptr_t)f)
            return t.names + t.symbols[i].st_name;
    return NULL;
}
