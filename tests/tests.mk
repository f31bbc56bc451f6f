# What needs Python or the network: the virtual environment, the official data, the tests.

$(VENV)/.stamp: tests/requirements.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q --require-hashes --only-binary :all: -r $<
	touch $@

## conformance-data  write the official test data of the pinned onnx package to build/onnx-test-data
.PHONY: conformance-data
conformance-data: $B/onnx-test-data/.stamp
$B/onnx-test-data/.stamp: tools/make_conformance_data.py tests/requirements.txt $(VENV)/.stamp
	$(PYTHON) tools/make_conformance_data.py $B/onnx-test-data
