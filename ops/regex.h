/* regex.h: regular expressions in the syntax of RE2, which ONNX asks for, on PCRE2. */
#ifndef MR_OPS_REGEX_H
#define MR_OPS_REGEX_H

#include <stdbool.h>

#include "runtime/dtype.h"

typedef struct mr_regex mr_regex;

typedef enum mr_regex_answer { MR_REGEX_NO, MR_REGEX_MATCH, MR_REGEX_LIMIT, MR_REGEX_NO_MEMORY } mr_regex_answer;

/* What matching needs beside the expression; starts as {0}. */
typedef struct mr_regex_room {
    void *data;
    int *work;
    size_t n_work;
} mr_regex_room;

/* Everything is allocated with alloc, from memory that lives long enough; nothing is freed. NULL: why says what is
 * wrong. */
mr_regex *mr_regex_new(mr_string pattern, void *(*alloc)(void *arg, size_t bytes), void *arg, char *why, size_t size);
/* Does the whole text match? A text that isn't UTF-8 doesn't. Time is linear in the text: nothing is tried twice. */
mr_regex_answer mr_regex_full_match(const mr_regex *x, mr_string text, mr_regex_room *room);
/* The leftmost match from byte `from` on, and of those that begin there the longest: [*begin, *end). */
mr_regex_answer mr_regex_find(const mr_regex *x, mr_string text, size_t from, mr_regex_room *room, size_t *begin,
                              size_t *end);
void mr_regex_room_free(mr_regex_room *room);

#endif
