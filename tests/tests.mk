# Tests, and what they need of Python and the network. Everything that is fetched is pinned and kept in $(CACHE).

JOBS := $(shell nproc 2>/dev/null || echo 1)

$(VENV)/.stamp: tests/requirements.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q --require-hashes --only-binary :all: -r $< && touch $@

## test-setup        packages and the Python environment that the tests need
.PHONY: test-setup
test-setup:
	@tools/setup.sh $(PACKAGES) $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory $(VENV)/.stamp

## conformance-data  the official test data of the pinned onnx package, in build/onnx-test-data
.PHONY: conformance-data
conformance-data: $B/onnx-test-data/.stamp
$B/onnx-test-data/.stamp: tools/make_conformance_data.py tests/requirements.txt $(VENV)/.stamp
	$(PYTHON) tools/make_conformance_data.py $B/onnx-test-data

## models            real models with inputs and expected outputs, in build/models
.PHONY: models
models: $(VENV)/.stamp
	$(PYTHON) tests/models/fetch.py $B/models
	$(PYTHON) tests/models/zoo.py $B/models

# ---- test programs: tests/unit/test_*.c and .py, tests/kernels/*.c, tests/claims ----

-include tests/kernels/kernels.mk
UNIT_C    := $(patsubst tests/unit/%.c,$B/tests/%,$(filter-out tests/unit/test_cuda%,$(wildcard tests/unit/test_*.c)))
UNIT_PY   := $(wildcard tests/unit/test_*.py tests/unit/ops/test_*.py)
TEST_BINS := $(UNIT_C) $B/tests/dump_model $B/tests/claims $(KERNEL_TESTS) $(CUDA_TESTS) $(if $(NVCC),$B/tests/test_cuda_probe)

$B/tests/%: tests/unit/%.c $B/libminirt.a
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(C_FLAGS) $(if $(findstring avx2,$*),-mavx2 -mfma -mf16c) -MMD -MP -o $@ $< $B/libminirt.a -lcmocka -lquadmath $(LIBS)

$B/tests/claims: tests/claims/claims.c tests/claims/values.c $(TOOL_OBJ) $B/libminirt.a
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(C_FLAGS) -MMD -MP -rdynamic -o $@ $(filter %.c,$^) $(TOOL_OBJ) $B/libminirt.a $(TOOL_LIBS) $(LIBS)
-include $(wildcard $B/tests/*.d)

# Small and of many kinds; `make test-full` runs all.
SOME_MODELS := silero_vad magika dnsmos lac rapidocr_rec smart_turn tashkeel_rawi

EXPECTED := tests/conformance/expected
CONFORMS  = $B/minirt-conformance --expected $(EXPECTED)
OFFICIAL  = $B/onnx-test-data/node $B/onnx-test-data/simple $B/onnx-test-data/pytorch-converted \
            $B/onnx-test-data/pytorch-operator $B/onnx-test-data/light

# What measures time runs alone.
TIMED := test_load.py test_bench.py
MARK   = $(notdir $1)$(if $(filter $(notdir $1),$(TIMED)),!)

SUITES = \
  $(foreach t,$(UNIT_C),"$(notdir $(t))=$(t)") \
  $(foreach t,$(KERNEL_TESTS),"$(notdir $(t))=$(t)") \
  $(foreach t,$(UNIT_PY),"$(call MARK,$(t))=$(PYTHON) $(t) --build $B") \
  $(foreach t,$(CUDA_TESTS),"$(notdir $(t))=MINIRT_CUDA_SEED=1 $(t)") \
  $(if $(NVCC),"test_cuda_probe=$B/tests/test_cuda_probe $B/libminirt_cuda.so $B/tests/fake_driver") \
  "conformance, fast=$(CONFORMS)/cpu.txt --mode fast $(OFFICIAL)" \
  "conformance, reference=$(CONFORMS)/cpu.txt --mode reference $(OFFICIAL)" \
  "conformance, cuda-host=$(CONFORMS)/cuda.txt --device cuda-host $(OFFICIAL)"

# What `make test` runs a sample of, with a fixed seed, and what `make test-full` runs in its place.
SAMPLED = \
  "models=sh tests/models.sh $B $(PYTHON) $(SOME_MODELS)" \
  "claims=$(PYTHON) tests/claims/claims.py --build $B" \
  "random models=$(PYTHON) tests/random/one_op.py --build $B" \
  "digests=sh tests/digests.sh $B threads"
FULL = \
  "models=sh tests/models.sh $B $(PYTHON)" \
  "claims=$(PYTHON) tests/claims/claims.py --build $B --full" \
  "random models=$(PYTHON) tests/random/one_op.py --build $B --full" \
  "sweep=sh tests/sweep.sh $B $(PYTHON)" \
  "digests=sh tests/digests.sh $B" \
  "mutated models=$(PYTHON) tests/unit/test_invalid.py --build $B --full" \
  "memory of all cases=$(PYTHON) tests/unit/test_memory.py --build $B --full" \
  "floats=$B/tests/sweep_math 1"

## test              everything: set up, build, every kind of test; ends in "N passed, N failed, N skipped"
.PHONY: test
test: test-setup
	@$(MAKE) --no-print-directory -j$(JOBS) all conformance-data $(TEST_BINS)
	@$(PYTHON) tests/run.py $(SUITES) $(SAMPLED)

## test-full         the same in full: all models, all floats, all builds; hours
.PHONY: test-full
test-full:
	@tools/setup.sh $(PACKAGES) $(TEST_PACKAGES) $(FULL_PACKAGES)
	@$(MAKE) --no-print-directory test-setup
	@$(MAKE) --no-print-directory -j$(JOBS) all conformance-data $(TEST_BINS) $B/tests/sweep_math
	@$(PYTHON) tests/run.py $(SUITES) $(FULL)

## test-models       MODELS=DIR: any folder of test folders, both modes (build/models without it)
.PHONY: test-models
test-models: all
	$B/minirt-conformance --mode fast --timeout 600 $(or $(MODELS),$B/models)
	$B/minirt-conformance --mode reference --timeout 600 $(or $(MODELS),$B/models)

## bench             minirt against ONNX Runtime, [MODELS=DIR] [BENCH='--threads 1 -k PATTERN']; build/bench.json
.PHONY: bench
bench: test-setup
	@$(MAKE) --no-print-directory -j$(JOBS) all $(if $(MODELS),,models)
	$(PYTHON) tests/bench/bench.py $B $(or $(MODELS),$B/models) $B/bench.json $(BENCH)

## lint              formatter, cppcheck, and the greps that guard the design
.PHONY: lint
lint:
	@sh tests/lint.sh
	@$(if $(wildcard $(PYTHON)),$(PYTHON) tools/gen_schema.py --check)

## asan              the official data and the unit tests under AddressSanitizer and UBSan
.PHONY: asan
asan: test-setup conformance-data
	@$(MAKE) --no-print-directory -j$(JOBS) B=$B/asan SAN="-fsanitize=address,undefined -fno-sanitize-recover=undefined" \
	  CFLAGS="-O1 -g" $B/asan/minirt $B/asan/minirt-conformance
	$B/asan/minirt-conformance --mode fast --timeout 300 $(OFFICIAL) | tail -3
	$B/asan/minirt-conformance --mode reference --timeout 300 $(OFFICIAL) | tail -3

## fuzz              SECONDS=60: libFuzzer over the readers (needs clang)
SECONDS ?= 60
.PHONY: fuzz
fuzz:
	@$(MAKE) --no-print-directory -j$(JOBS) B=$B/fuzz CC=clang SAN="-fsanitize=fuzzer-no-link,address,undefined" \
	  CFLAGS="-O1 -g" $B/fuzz/libminirt.a
	clang -std=gnu17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. -I$B/fuzz/gen -o $B/fuzz/fuzz_model \
	  tests/fuzz/fuzz_model.c $B/fuzz/libminirt.a $(LIBS)
	mkdir -p $B/fuzz/corpus
	$B/fuzz/fuzz_model -max_total_time=$(SECONDS) -rss_limit_mb=4096 $B/fuzz/corpus
