/* map.c: mapping and reading of whole files. */
#include "map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads all of what cannot be mapped. */
static bool slurp(mr_map *m, int fd)
{
    for (size_t cap = 0;;) {
        if (m->size == cap) {
            cap = cap ? cap * 2 : 1 << 16;
            void *data = realloc(m->data, cap);
            if (!data) return false;
            m->data = data;
        }
        ssize_t n = read(fd, (char *)m->data + m->size, cap - m->size);
        if (n == 0) return true;
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) m->size += (size_t)n;
    }
}

static bool fill(mr_map *m, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return false;
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (!S_ISREG(st.st_mode)) return slurp(m, fd);
    if (st.st_size == 0) return true;
    m->size = (size_t)st.st_size;
    m->data = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (m->data == MAP_FAILED) m->data = NULL;
    m->mapped = m->data != NULL;
    return m->mapped;
}

mr_status mr_map_open(const char *path, mr_map **out, mr_error *e)
{
    *out = NULL;
    mr_map *m = calloc(1, sizeof *m);
    if (!m) return mr_fail(e, MR_E_MEMORY, "no memory to open %s", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fill(m, fd);
    if (ok && !(m->path = realpath(path, NULL))) m->path = strdup(path); /* a pipe has no name */
    int why = errno;
    if (fd >= 0) close(fd);
    if (!ok || !m->path) {
        mr_map_close(m);
        return mr_fail(e, MR_E_IO, "cannot open %s: %s", path, strerror(why));
    }
    *out = m;
    return MR_OK;
}

void mr_map_close(mr_map *m)
{
    if (!m) return;
    if (m->mapped)
        munmap(m->data, m->size);
    else
        free(m->data);
    free(m->path);
    free(m);
}

void mr_map_forget(const mr_map *m, size_t offset, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = (offset + page - 1) / page * page, to = (offset + size) / page * page;
    if (m->mapped && from < to) madvise((char *)m->data + from, to - from, MADV_DONTNEED);
}
