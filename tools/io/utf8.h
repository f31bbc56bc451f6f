/* utf8.h: code points as bytes and back. */
#ifndef MR_TOOLS_IO_UTF8_H
#define MR_TOOLS_IO_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Writes 1 to 4 bytes; how many. */
static inline size_t mr_utf8_encode(uint32_t point, char *to)
{
    if (point < 0x80) {
        to[0] = (char)point;
        return 1;
    }
    size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    for (size_t i = more; i > 0; i--, point >>= 6) to[i] = (char)(0x80 | (point & 0x3f));
    to[0] = (char)(0xff00 >> (more + 1) | point);
    return more + 1;
}

/* Reads one code point of at most n > 0 bytes; how many, 0: the bytes are no UTF-8. */
static inline size_t mr_utf8_decode(const char *from, size_t n, uint32_t *point)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*from;
    size_t more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : n;
    if (more >= n) return 0;
    *point = more ? first & (0x3fu >> more) : first;
    for (size_t i = 1; i <= more; i++) {
        if (((unsigned char)from[i] & 0xc0) != 0x80) return 0;
        *point = *point << 6 | ((unsigned char)from[i] & 0x3f);
    }
    return *point < least[more] || *point > 0x10ffff ? 0 : more + 1;
}

#endif
