/* The reasons why CUDA cannot be used, each with a driver that gives it.
 *
 * usage: test_cuda_probe PLUGIN.so FOLDER, the folder with the fake libcuda.so.1. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/device.h"

static const mr_device_plugin *plugin;
static const char *folder;
static int *version, *init, *count;

static void assert_why(int index, const char *expected)
{
    char why[512] = "";
    assert_int_not_equal(plugin->probe(index, why, sizeof why), 0);
    if (!strstr(why, expected)) fail_msg("no '%s' in: %s", expected, why);
}

static void no_driver(void **state)
{
    (void)state;
    char why[512] = "";
    if (!plugin->probe(0, why, sizeof why) || !strstr(why, "cannot be loaded")) skip(); /* there is a driver here */
    assert_why(0, "the driver library libcuda.so.1 cannot be loaded (libcuda.so.1: cannot open shared object file");
}

/* From here on the loader finds the fake: a library is known by its name once it is loaded. */
static void load_fake(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    void *fake = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!fake) fail_msg("%s", dlerror());
    version = dlsym(fake, "fake_version");
    init = dlsym(fake, "fake_init");
    count = dlsym(fake, "fake_count");
}

static void answers(void **state)
{
    (void)state;
    load_fake();
    *version = 11080;
    assert_why(0, "the driver is for CUDA 11.8, this plugin was built with CUDA ");
    *version = 1000000, *init = 100;
    assert_why(0, "the driver finds no CUDA device");
    *init = 803;
    assert_why(0, "the driver library does not fit the kernel's NVIDIA module");
    *init = 999;
    assert_why(0, "the driver does not start: the driver's own words (error 999)");
    *init = 0, *count = 0;
    assert_why(0, "the driver finds no CUDA device");
    *count = 2;
    assert_why(2, "there is no device 2: the driver finds 2, numbered from 0");
}

int main(int argc, char **argv)
{
    if (argc != 3) return fprintf(stderr, "usage: test_cuda_probe PLUGIN.so FOLDER\n"), 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    plugin = dlsym(library, "mr_plugin_v1");
    folder = argv[2];
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_driver), cmocka_unit_test(answers)};
    return cmocka_run_group_tests_name("cuda_probe", tests, NULL, NULL);
}
