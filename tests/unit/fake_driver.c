/* A CUDA driver that gives the answers that a test sets: built as libcuda.so.1. */
int fake_version, fake_init, fake_count;

int cuInit(unsigned flags)
{
    return (void)flags, fake_init;
}
int cuDriverGetVersion(int *version)
{
    return *version = fake_version, 0;
}
int cuDeviceGetCount(int *n)
{
    return *n = fake_count, 0;
}
int cuGetErrorString(int status, const char **text)
{
    return (void)status, *text = "the driver's own words", 0;
}
