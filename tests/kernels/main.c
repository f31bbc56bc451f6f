/* main.c: the kernel checker's command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/checker.h"

static int usage(void)
{
    fprintf(stderr, "usage: checker [-k PATTERN] [-v] [--list] [--bench [PATTERN]]\n"
                    "Checks every slot that a level overrides against the scalar one. PATTERN is a part of\n"
                    "LEVEL.FAMILY.KERNEL; --bench times the same slots, --list names them.\n");
    return 2;
}

int main(int argc, char **argv)
{
    ck_options o = {0};
    long passed = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-k") && i + 1 < argc)
            o.pattern = argv[++i];
        else if (!strcmp(argv[i], "-v"))
            o.verbose = true;
        else if (!strcmp(argv[i], "--list"))
            o.list = true;
        else if (!strcmp(argv[i], "--bench")) {
            o.bench = true;
            if (i + 1 < argc && argv[i + 1][0] != '-') o.pattern = argv[++i];
        } else
            return usage();
    }
    if (!ck_run(&o, &passed, &failed)) {
        fprintf(stderr, "checker: out of memory\n");
        return 2;
    }
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed != 0;
}
