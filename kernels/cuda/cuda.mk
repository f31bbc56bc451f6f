# The CUDA plugins. libminirt_cuda_host.so is always built: the .cu files by the host's C++ compiler, see host/.
# libminirt_cuda.so where nvcc is. The names of what the tests are: CUDA_TESTS.

CXX  ?= g++
NVCC ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))

CUDA_SRC      := $(filter-out kernels/cuda/probe.cu,$(wildcard kernels/cuda/*.cu))
CUDA_HOST_SRC := $(wildcard kernels/cuda/host/*.cc)
CUDA_HOST_OBJ := $(CUDA_SRC:%.cu=$B/obj/cuda_host/%.o) $(CUDA_HOST_SRC:%.cc=$B/obj/cuda_host/%.o)

plugins: $B/libminirt_cuda_host.so

CXXFLAGS ?= -O2 -g
ALL_CXXFLAGS = -std=gnu++17 $(WARN) $(CXXFLAGS) $(SAN) -fPIC -fvisibility=hidden -ffp-contract=off -I.

$B/obj/cuda_host/%.o: %.cu
	@mkdir -p $(@D)
	$(if $(V),,@echo "  c++ $<")
	$(Q)$(CXX) -x c++ $(ALL_CXXFLAGS) -MMD -MP -c $< -o $@

$B/obj/cuda_host/%.o: %.cc
	@mkdir -p $(@D)
	$(if $(V),,@echo "  c++ $<")
	$(Q)$(CXX) $(ALL_CXXFLAGS) -MMD -MP -c $< -o $@

$B/libminirt_cuda_host.so: $(CUDA_HOST_OBJ)
	@echo "  ld $@"
	$(Q)$(CXX) $(SAN) -shared -o $@ $^ -lpthread

ifneq ($(NVCC),)
# Code for these (80 runs on 86 and 89 too); PTX for the newest, from which drivers make code for what is newer.
CUDA_ARCHS  ?= 75 80 90
CUDA_NEWEST := $(lastword $(CUDA_ARCHS))
CUDA_CODE   := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$a,code=sm_$a) -gencode arch=compute_$(CUDA_NEWEST),code=compute_$(CUDA_NEWEST)
# 186: comparing an unsigned number with 0, which one body for many types does.
NVCC_FLAGS  := -std=c++17 -O3 $(CUDA_CODE) -Werror all-warnings -diag-suppress 186 -DMR_CUDA_LEAST=$(firstword $(CUDA_ARCHS)) \
	-Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra,-Werror -I.
CUDA_OBJ    := $(patsubst kernels/cuda/%.cu,$B/obj/cuda/%.o,$(CUDA_SRC) kernels/cuda/probe.cu)

plugins: $B/libminirt_cuda.so

$B/obj/cuda/%.o: kernels/cuda/%.cu
	@mkdir -p $(@D)
	$(if $(V),,@echo "  nvcc $<")
	$(Q)$(NVCC) $(NVCC_FLAGS) -MMD -MP -c $< -o $@

# The CUDA runtime is linked statically, and it opens the driver by itself: the plugin loads where there is none.
$B/libminirt_cuda.so: $(CUDA_OBJ)
	@echo "  ld $@"
	$(Q)$(NVCC) -shared -cudart static $(CUDA_CODE) -o $@ $^ -Xlinker -z,defs -ldl -lpthread -lrt
endif

# ---- tests: of the machinery, with both ways to switch stacks, and of the kernels ----

CUDA_TESTS := $B/tests/test_cuda_host $B/tests/test_cuda_host_ucontext $B/tests/test_cuda_kernels

$B/tests/test_cuda_host: tests/unit/test_cuda_host.cc $(CUDA_HOST_SRC) kernels/cuda/host/cuda_host.h kernels/cuda/host/fiber.h
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CXX) $(ALL_CXXFLAGS) -o $@ $(filter %.cc,$^) -lcmocka -lpthread

$B/tests/test_cuda_host_ucontext: tests/unit/test_cuda_host.cc $(CUDA_HOST_SRC) kernels/cuda/host/cuda_host.h kernels/cuda/host/fiber.h
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CXX) $(ALL_CXXFLAGS) -DMR_FIBER_UCONTEXT -o $@ $(filter %.cc,$^) -lcmocka -lpthread

$B/tests/test_cuda_kernels: tests/unit/test_cuda_kernels.cc kernels/cuda/cuda.h $B/libminirt_cuda_host.so
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CXX) $(ALL_CXXFLAGS) -o $@ $< -lcmocka -ldl

ifneq ($(NVCC),)
# The fake driver's folder must not be on anybody's library path.
$B/tests/fake_driver/libcuda.so.1: tests/unit/fake_driver.c
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(WARN) -shared -fPIC -Wl,-soname,libcuda.so.1 -o $@ $<

$B/tests/test_cuda_probe: tests/unit/test_cuda_probe.c runtime/device.h $B/libminirt_cuda.so $B/tests/fake_driver/libcuda.so.1
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) -std=gnu17 $(WARN) $(CFLAGS) $(SAN) -I. -o $@ $< -lcmocka -ldl
endif

# Several orders of threads; the plugin for the GPU says why it is skipped where there is none.
.PHONY: test-cuda
test-cuda: $(CUDA_TESTS) $(if $(NVCC),$B/tests/test_cuda_probe)
	$B/tests/test_cuda_host
	$B/tests/test_cuda_host_ucontext
	for seed in 1 2 3; do MINIRT_CUDA_SEED=$$seed $B/tests/test_cuda_kernels || exit 1; done
ifneq ($(NVCC),)
	$B/tests/test_cuda_probe $B/libminirt_cuda.so $B/tests/fake_driver
	$B/tests/test_cuda_kernels $B/libminirt_cuda.so
endif

## test-gpu          on a machine with a GPU: its kernels against the CPU's, and the official data on device cuda
.PHONY: test-gpu
test-gpu: test-setup
	@$(if $(NVCC),,echo "there is no nvcc: the CUDA plugin cannot be built (NVCC=/path/to/nvcc)" >&2; exit 1)
	@$(MAKE) --no-print-directory -j$(JOBS) all conformance-data $B/tests/test_cuda_kernels $B/tests/test_cuda_probe
	$B/tests/test_cuda_probe $B/libminirt_cuda.so $B/tests/fake_driver
	$B/tests/test_cuda_kernels $B/libminirt_cuda.so
	$(CONFORMS)/cuda.txt --device cuda -j 1 $(OFFICIAL)
