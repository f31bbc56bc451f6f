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

# ---- test programs in C: tests/unit/test_*.c, each prints "N passed, N failed" ----

UNIT_C   := $(patsubst tests/unit/%.c,$B/tests/%,$(wildcard tests/unit/test_*.c))
UNIT_PY  := $(wildcard tests/unit/test_*.py tests/unit/ops/test_*.py)

$B/tests/%: tests/unit/%.c $B/libminirt.a
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(C_FLAGS) $(if $(findstring avx2,$*),-mavx2 -mfma -mf16c) -MMD -MP -o $@ $< $B/libminirt.a -lcmocka -lquadmath $(LIBS)
-include $(wildcard $B/tests/*.d)

SUITES = \
  $(foreach t,$(UNIT_C),"$(notdir $(t))=$(t)") \
  $(foreach t,$(UNIT_PY),"$(notdir $(t))=$(PYTHON) $(t) --build $B") \
  "conformance fast=$B/minirt-conformance --mode fast --expected tests/conformance/expected/cpu.txt $B/onnx-test-data/*" \
  "conformance reference=$B/minirt-conformance --mode reference --expected tests/conformance/expected/cpu.txt $B/onnx-test-data/*"

## test              everything: set up, build, every kind of test; ends in "N passed, N failed, N skipped"
.PHONY: test
test: test-setup
	@$(MAKE) --no-print-directory -j$(JOBS) all conformance-data $(UNIT_C) $B/tests/dump_model
	@$(PYTHON) tests/run.py $(SUITES)
