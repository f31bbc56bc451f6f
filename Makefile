# minirt: `make demo` and `make test` do everything on a fresh Debian machine; `make help` lists the rest.
#
# Sources are found by wildcard: a new operator, kernel or command is a new file. ISA flags go by file name.

B      ?= build
CACHE  ?= $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/minirt
VENV   := $(CACHE)/venv
PYTHON := $(VENV)/bin/python
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
JOBS   ?= $(shell nproc 2>/dev/null || echo 1)
VERSION := 0.1.0
Q      := $(if $(V),,@)

WARN   := -Wall -Wextra -Werror
# No contraction of a*b+c: reference mode has the same bits on every machine. The SIMD levels say fma when they mean it.
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -DMR_VERSION='"$(VERSION)"' $(WARN) $(CFLAGS) $(SAN) -fPIC -ffp-contract=off -I. -I$B/gen $(DEP_CFLAGS)
KERNEL_CFLAGS := -O3 -fno-math-errno -fno-trapping-math

MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
comma     := ,
BLAS_DIR  := /usr/lib/$(MULTIARCH)/openblas-serial
# OpenBLAS without threads of its own: minirt's pool calls it on tiles.
BLAS_LIBS := $(if $(wildcard $(BLAS_DIR)/libopenblas.so.0),-L$(BLAS_DIR) -Wl$(comma)-rpath$(comma)$(BLAS_DIR)) -lopenblas
LIBS      := -lprotobuf-c -lpthreadpool $(BLAS_LIBS) -lm -lpthread -ldl
TOOL_LIBS := -lzip -ljansson -ljpeg -lpng

LIB_SRC  := $(wildcard runtime/*.c ops/*.c kernels/cpu/*.c)
TOOL_SRC := $(filter-out tools/minirt.c tools/conformance.c,$(wildcard tools/*.c tools/io/*.c tools/conformance/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$B/obj/%.o) $B/obj/gen/onnx.pb-c.o
TOOL_OBJ := $(TOOL_SRC:%.c=$B/obj/%.o)

.PHONY: all
all: $B/minirt $B/minirt-conformance $B/libminirt.so $B/libminirt.a plugins

# ---- objects ----

$B/obj/%.o: %.c | $B/gen/onnx.pb-c.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ISA_CFLAGS) -MMD -MP -c $< -o $@

$B/obj/kernels/%.o: CFLAGS += $(KERNEL_CFLAGS)
$B/obj/%_avx2.o: ISA_CFLAGS := -mavx2 -mfma -mf16c
$B/obj/%_avx512.o: ISA_CFLAGS := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c

$B/gen/onnx.pb-c.c $B/gen/onnx.pb-c.h &: runtime/onnx.proto
	@mkdir -p $B/gen
	protoc-c --c_out=$B/gen -Iruntime onnx.proto

$B/obj/gen/onnx.pb-c.o: $B/gen/onnx.pb-c.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

# ---- what is built ----

$B/libminirt.a: $(LIB_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

$B/libminirt.so: $(LIB_OBJ)
	$(Q)$(CC) $(SAN) -shared -Wl,-soname,libminirt.so.0 -o $@ $^ $(LIBS)
	$(Q)ln -sf libminirt.so $B/libminirt.so.0

$B/minirt: $B/obj/tools/minirt.o $(TOOL_OBJ) $B/libminirt.a
	$(Q)$(CC) $(SAN) -rdynamic -o $@ $^ $(TOOL_LIBS) $(LIBS)

$B/minirt-conformance: $B/obj/tools/conformance.o $(TOOL_OBJ) $B/libminirt.a
	$(Q)$(CC) $(SAN) -rdynamic -o $@ $^ $(TOOL_LIBS) $(LIBS)

.PHONY: plugins
plugins:
-include kernels/cuda/cuda.mk

-include $(shell find $B/obj -name '*.d' 2>/dev/null)

include tests/tests.mk

# ---- the rest ----

.PHONY: clean help
clean:
	rm -rf $B

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)
