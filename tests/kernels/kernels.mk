# The kernel checker: tests/kernels/*.c against the library; and the same with the AVX-512 level made of AVX2 by SIMDe, so
# that it is checked on machines without AVX-512.

CHECKER_SRC := $(wildcard tests/kernels/*.c)
CHECKER_OBJ := $(CHECKER_SRC:%.c=$B/obj/%.o)
SIMDE_OBJ   := $(patsubst %.c,$B/obj/simde/%.o,$(wildcard kernels/cpu/*_avx512.c)) \
               $(patsubst $B/obj/tests/kernels/checker.o,$B/obj/simde/tests/kernels/checker.o,$(CHECKER_OBJ))

ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),)
KERNEL_TESTS := $B/tests/checker $B/tests/checker_simde
endif

$B/tests/checker: $(CHECKER_OBJ) $B/libminirt.a
	@mkdir -p $(@D)
	@echo "  ld $@"
	$(Q)$(CC) $(SAN) -o $@ $^ $(LIBS)

# The archive's own AVX-512 objects are not taken: what they define is there.
$B/tests/checker_simde: $(SIMDE_OBJ) $B/libminirt.a
	@mkdir -p $(@D)
	@echo "  ld $@"
	$(Q)$(CC) $(SAN) -o $@ $^ $(LIBS)

# -Wno-psabi: vectors of 512 bits are passed, between functions of one file.
$B/obj/simde/kernels/%.o: kernels/%.c tests/kernels/simde/immintrin.h | $B/gen/onnx.pb-c.h
	@mkdir -p $(@D)
	$(if $(V),,@echo "  cc $< (SIMDe)")
	$(Q)$(CC) $(C_FLAGS) $(KERNEL_FLAGS) -Wno-psabi -mavx2 -mfma -mf16c -DSIMDE_ENABLE_NATIVE_ALIASES \
	  -isystem tests/kernels/simde -MMD -MP -c $< -o $@

$B/obj/simde/tests/kernels/checker.o: tests/kernels/checker.c | $B/gen/onnx.pb-c.h
	@mkdir -p $(@D)
	$(if $(V),,@echo "  cc $< (SIMDe)")
	$(Q)$(CC) $(C_FLAGS) -DMR_SIMDE -MMD -MP -c $< -o $@

## bench-kernels     times every kernel of every level against scalar: build/tests/checker --bench [PATTERN]
.PHONY: bench-kernels
bench-kernels: $B/tests/checker
	$B/tests/checker --bench
