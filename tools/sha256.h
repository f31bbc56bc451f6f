/* sha256.h: FIPS 180-4. */
#ifndef MR_TOOLS_SHA256_H
#define MR_TOOLS_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct mr_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
} mr_sha256;

void mr_sha256_start(mr_sha256 *s);
void mr_sha256_add(mr_sha256 *s, const void *data, size_t n);
void mr_sha256_hex(mr_sha256 *s, char hex[65]);

#endif
