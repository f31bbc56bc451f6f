# minirt: `make demo` and `make test` do everything on a fresh Debian machine; `make help` lists the rest.
#
# Sources are found by wildcard: a new operator, kernel or command is a new file. ISA flags go by file name.

B       ?= build
CACHE   ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/minirt
VENV    := $(CACHE)/venv
PYTHON  := $(VENV)/bin/python
PREFIX  ?= /usr/local
VERSION := 0.1.0
Q       := $(if $(V),,@)
comma   := ,

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif

# What Debian has and minirt builds with; the README says what each is for. OpenBLAS is opened while running.
PACKAGES := gcc g++ libc6-dev protobuf-c-compiler libprotobuf-c-dev libopenblas0-serial \
            libzip-dev libjansson-dev libjpeg62-turbo-dev libpng-dev libtiff-dev libwebp-dev libopenjp2-7-dev \
            libpcre2-dev libunistring-dev
TEST_PACKAGES := libcmocka-dev libsimde-dev python3 python3-venv
FULL_PACKAGES := clang gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user

# No contraction of a*b+c: reference mode has the same bits on every machine. The SIMD levels say fma when they mean it.
CFLAGS     ?= -O2 -g
WARN       := -Wall -Wextra -Werror
BASE_FLAGS  = $(WARN) $(CFLAGS) $(SAN) -fPIC -ffp-contract=off -I. -I$B/gen
C_FLAGS     = -std=gnu17 -D_GNU_SOURCE -DMR_VERSION='"$(VERSION)"' $(BASE_FLAGS)
KERNEL_FLAGS := -O3 -fno-math-errno -fno-trapping-math

# Regular expressions (PCRE2) and what Unicode says of characters (libunistring) are too wide to be written again by hand.
TEXT_LIBS := -lpcre2-8 -lunistring
LIBS      := -lprotobuf-c $(TEXT_LIBS) -lm -lpthread -ldl
TOOL_LIBS := -lzip -ljansson -ljpeg -lpng

X86      := $(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null))
OTHERS   := $(if $(X86),,%_avx2.c %_avx512.c)
LIB_SRC  := $(filter-out $(OTHERS),$(wildcard runtime/*.c ops/*.c kernels/cpu/*.c))
TOOL_SRC := $(filter-out tools/minirt.c tools/conformance.c $(OTHERS),$(wildcard tools/*.c tools/io/*.c tools/conformance/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$B/obj/%.o) $B/obj/gen/onnx.pb-c.o
TOOL_OBJ := $(TOOL_SRC:%.c=$B/obj/%.o)

## all               build/minirt, build/minirt-conformance, build/libminirt.{so,a} and the device plugins
.PHONY: all
all: $B/minirt $B/minirt-conformance $B/libminirt.so $B/libminirt.a plugins $B/examples/custom_op.so

## setup             install the Debian packages that are missing (or say how)
.PHONY: setup
setup:
	@tools/setup.sh $(PACKAGES)

## demo              set up, build, and read a digit from a picture with a real model
.PHONY: demo
demo: setup
	@$(MAKE) --no-print-directory all
	examples/digits/demo.sh $B/minirt

# ---- objects ----

$B/obj/%.o: %.c | $B/gen/onnx.pb-c.h
	@mkdir -p $(@D)
	$(if $(V),,@echo "  cc $<")
	$(Q)$(CC) $(C_FLAGS) $(ISA_FLAGS) -MMD -MP -c $< -o $@

$B/obj/kernels/%.o: CFLAGS += $(KERNEL_FLAGS)
$B/obj/%_avx2.o: ISA_FLAGS := -mavx2 -mfma -mf16c
$B/obj/%_avx512.o: ISA_FLAGS := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c

$B/gen/onnx.pb-c.c $B/gen/onnx.pb-c.h &: runtime/onnx.proto
	@mkdir -p $B/gen
	@command -v protoc-c >/dev/null || { echo "protoc-c is missing: run 'make setup'" >&2; exit 1; }
	$(Q)protoc-c --c_out=$B/gen -Iruntime onnx.proto

$B/obj/gen/onnx.pb-c.o: $B/gen/onnx.pb-c.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) -c $< -o $@

# ---- what is built ----

$B/libminirt.a: $(LIB_OBJ)
	@echo "  ar $@"
	$(Q)rm -f $@ && ar rcs $@ $^

$B/libminirt.so: $(LIB_OBJ)
	@echo "  ld $@"
	$(Q)$(CC) $(SAN) -shared -Wl,-soname,libminirt.so.0 -o $@ $^ $(LIBS)
	$(Q)ln -sf libminirt.so $B/libminirt.so.0

$B/minirt: $B/obj/tools/minirt.o $(TOOL_OBJ) $B/libminirt.a
	@echo "  ld $@"
	$(Q)$(CC) $(SAN) -rdynamic -o $@ $^ $(TOOL_LIBS) $(LIBS)

$B/minirt-conformance: $B/obj/tools/conformance.o $(TOOL_OBJ) $B/libminirt.a
	@echo "  ld $@"
	$(Q)$(CC) $(SAN) -rdynamic -o $@ $^ $(TOOL_LIBS) $(LIBS)

# A plugin of operators, as its users would build it: against the public headers, and nothing else.
$B/examples/custom_op.so: examples/custom_op/custom_op.c runtime/minirt_op.h runtime/minirt.h
	@mkdir -p $(@D)
	@echo "  ld $@"
	$(Q)$(CC) -std=c17 $(WARN) $(CFLAGS) -fPIC -shared -Iruntime -o $@ $< -lm

.PHONY: plugins
plugins:
-include kernels/cuda/cuda.mk
-include kernels/image/image.mk
-include $(shell find $B/obj -name '*.d' 2>/dev/null)

include tests/tests.mk

## install           under PREFIX (/usr/local): command, libraries, headers, minirt.pc, man page, completion
.PHONY: install
install: all
	install -Dm755 $B/minirt $(DESTDIR)$(PREFIX)/bin/minirt
	install -Dm755 $B/minirt-conformance $(DESTDIR)$(PREFIX)/bin/minirt-conformance
	install -Dm755 $B/libminirt.so $(DESTDIR)$(PREFIX)/lib/libminirt.so.0
	ln -sf libminirt.so.0 $(DESTDIR)$(PREFIX)/lib/libminirt.so
	install -Dm644 $B/libminirt.a $(DESTDIR)$(PREFIX)/lib/libminirt.a
	install -Dm644 runtime/minirt.h $(DESTDIR)$(PREFIX)/include/minirt.h
	install -Dm644 runtime/minirt_op.h $(DESTDIR)$(PREFIX)/include/minirt_op.h
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	printf '%s\n' 'prefix=$(abspath $(PREFIX))' 'Name: minirt' 'Description: runs ONNX models, exactly and fast' \
	  'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -lminirt' 'Libs.private: $(LIBS)' \
	  > $(DESTDIR)$(PREFIX)/lib/pkgconfig/minirt.pc
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$B/minirt man > $(DESTDIR)$(PREFIX)/share/man/man1/minirt.1
	$B/minirt completion > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/minirt
	for p in $(wildcard $B/libminirt_*.so); do install -m755 $$p $(DESTDIR)$(PREFIX)/bin/; install -m755 $$p $(DESTDIR)$(PREFIX)/lib/; done

## clean             remove build/
.PHONY: clean help
clean:
	rm -rf $B

help:
	@sed -n 's/^## //p' Makefile tests/tests.mk tests/kernels/kernels.mk kernels/cuda/cuda.mk
