"""What int8 models need beside a tolerance.

Two right runtimes differ in the last bits of their float sums, so now and then a value next to the border between two
quanta falls on either side, and everything after it differs by more than any tolerance for sums.  Hence two tests:

    the whole model, allowed to move as far as its own outputs move under noise of a millionth (`sensitivity`);
    the model cut at every quantizer (`cut`), where no difference travels on: all floats under the f32 rule, and the
    results of all integer operators bit-equal to exact arithmetic on the same inputs.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

QUANTIZERS = ('QuantizeLinear', 'DynamicQuantizeLinear', 'DynamicQuantizeLSTM')
JITTER, SEEDS = 1e-6, range(1, 9)

# Operators with integer weights: (weight, its zero point) among the inputs.
INTEGER_WEIGHTS = {'MatMulInteger': [(1, 3)], 'ConvInteger': [(1, 3)], 'DynamicQuantizeLSTM': [(1, 9), (2, 11)]}

# Operators with an integer result: which outputs are integers, by position.
INTEGER_OUTPUTS = {'MatMulInteger': [0], 'ConvInteger': [0], 'QuantizeLinear': [0], 'DynamicQuantizeLinear': [0, 2]}


def unsigned_weights(model):
    """The same integer arithmetic with uint8 weights: w + 128 over zero point + 128.

    On CPUs without VNNI, ONNX Runtime's uint8 x int8 products saturate; its uint8 x uint8 products are always exact.
    """
    model = copy(model)
    tensors = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}

    def shifted(name, values):
        if name not in tensors:
            tensors[name] = np.asarray(values.astype(np.int16) + 128, np.uint8)
            model.graph.initializer.append(numpy_helper.from_array(tensors[name], name))
        return name
    for node in model.graph.node:
        for weight, zero in INTEGER_WEIGHTS.get(node.op_type, []):
            w = tensors.get(node.input[weight])
            if w is None or w.dtype != np.int8:
                continue
            node.input.extend([''] * (zero + 1 - len(node.input)))
            old = node.input[zero]
            node.input[zero] = shifted(f'{old or node.input[weight]}_zero_u8', tensors.get(old, np.int8(0)))
            node.input[weight] = shifted(f'{node.input[weight]}_u8', w)
    return model


def copy(message):
    other = type(message)()
    other.CopyFrom(message)
    return other


def quantized_tensors(model):
    """Names of the tensors that nodes compute and others quantize."""
    computed = {name for node in model.graph.node for name in node.output}
    return list(dict.fromkeys(n.input[0] for n in model.graph.node
                              if n.op_type in QUANTIZERS and n.input[0] in computed))


def redirected(model, names):
    """The model with its quantizers reading names[x] for x."""
    model = copy(model)
    for node in model.graph.node:
        if node.op_type in QUANTIZERS and node.input[0] in names:
            node.input[0] = names[node.input[0]]
    return model


def constant(name, value):
    return helper.make_node('Constant', [], [name], value=helper.make_tensor(name, TensorProto.FLOAT, [], [value]))


def jittered(model, seed):
    """The model with noise of JITTER of its scale added to everything that it quantizes."""
    noisy = {x: f'jitter_{i}' for i, x in enumerate(quantized_tensors(model))}
    model = redirected(model, noisy)
    nodes, stream = [constant('jitter', JITTER)], 1e4 * seed
    for node in model.graph.node:
        nodes.append(node)
        for x in set(node.output) & set(noisy):
            y = noisy[x]
            nodes += [helper.make_node('RandomUniformLike', [x], [y + '_r'], low=-1., high=1., seed=stream + len(nodes)),
                      helper.make_node('Abs', [x], [y + '_abs']),
                      helper.make_node('ReduceMax', [y + '_abs'], [y + '_max'], keepdims=0),
                      helper.make_node('Mul', [y + '_max', 'jitter'], [y + '_step']),
                      helper.make_node('Mul', [y + '_r', y + '_step'], [y + '_noise']),
                      helper.make_node('Add', [x, y + '_noise'], [y])]
    nodes = [copy(n) for n in nodes]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def sensitivity(model, sets, run):
    """How far each output moves, at most, under jitter; an integer output that moves has no right value to test."""
    moved = {}
    for seed in SEEDS:
        noisy = jittered(model, seed)
        for feeds, expected in sets:
            for name, y in run(noisy, feeds).items():
                distance = np.abs(y.astype(np.float64) - expected[name]).max(initial=0)
                if distance and y.dtype.kind != 'f':
                    raise ValueError(f'output {name}: these inputs are next to a border, choose others')
                moved[name] = max(moved.get(name, 0.0), float(distance))
    return moved


def power_of_two(values):
    """A power of two that scales the values to at most 1."""
    largest = float(np.abs(values).max(initial=0))
    return 2.0 ** -np.ceil(np.log2(largest)) if largest else 1.0


def integer_outputs(model):
    return [node.output[i] for node in model.graph.node for i in INTEGER_OUTPUTS.get(node.op_type, [])
            if i < len(node.output) and node.output[i]]


def cut(model, exact, feeds, run):
    """The model cut at its quantizers, its inputs and its outputs.

    What is quantized becomes an output, and an input for the quantizer.  Float outputs are scaled to 1, so that one
    atol fits them all.
    """
    floats = quantized_tensors(model)
    outputs = [o.name for o in model.graph.output]
    integers = [name for name in integer_outputs(model) if name not in outputs]
    values = run(with_outputs(exact, floats + integers), feeds)
    given = {x: x + '_given' for x in floats}
    model = redirected(model, given)
    feeds = {**feeds, **{given[x]: values[x] for x in floats}}
    for x in floats:
        model.graph.input.append(helper.make_tensor_value_info(given[x], TensorProto.FLOAT, values[x].shape))
    typed = {o.name: copy(o) for o in model.graph.output}
    del model.graph.output[:]
    for x in dict.fromkeys(outputs + floats):
        if values[x].dtype.kind != 'f':
            model.graph.output.append(typed[x])
            continue
        model.graph.node.extend([constant(x + '_unit', power_of_two(values[x])),
                                 helper.make_node('Mul', [x, x + '_unit'], [x + '_scaled'])])
        model.graph.output.append(helper.make_tensor_value_info(x + '_scaled', TensorProto.FLOAT, values[x].shape))
    for x in integers:
        dtype = helper.np_dtype_to_tensor_dtype(values[x].dtype)
        model.graph.output.append(helper.make_tensor_value_info(x, dtype, values[x].shape))
    return model, feeds


def with_outputs(model, names):
    model = copy(model)
    there = {o.name for o in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in there)
    return model
