#!/usr/bin/env python3
"""TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble: random trees of every mode, walked in Python."""
import itertools

import numpy as np

from ml import NUMBERS, TRANSFORMS, MlCases, as_labels, transform
from one_node import proto

rng = np.random.default_rng(5)
cases = MlCases()
f32 = np.float32
MODES = ['BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ', 'BRANCH_MEMBER']
COMPARE = [np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal]
AGGREGATES = ['AVERAGE', 'SUM', 'MIN', 'MAX']


class Node:
    """A leaf has votes, (target, weight) each; a branch the rest."""
    votes = None


def grow(depth, features, targets, modes, votes, positive=False):
    n = Node()
    if depth == 0 or rng.random() < 0.15:
        weights = rng.random(votes) if positive else rng.standard_normal(votes)
        n.votes = [(int(rng.integers(targets)), float(f32(w))) for w in weights]
        return n
    n.mode = int(rng.choice(modes))
    n.feature = int(rng.integers(features))
    n.value = float(rng.choice([-2, -1, -0.5, 0, 0.5, 1, 2, np.inf, -np.inf, np.nan], p=[.13] * 7 + [.03] * 3))
    n.members = [float(v) for v in rng.choice([-2, -1, 0, 0.5, 1, 2], rng.integers(0, 5))]
    n.missing = int(rng.random() < 0.3)
    n.yes, n.no = (grow(depth - 1, features, targets, modes, votes, positive) for _ in range(2))
    return n


def leaf_of(n, x):
    while n.votes is None:
        v = float(x[n.feature])
        if np.isnan(v):
            holds = n.missing
        else:
            holds = v in n.members if n.mode == 6 else COMPARE[n.mode](v, n.value)
        n = n.yes if holds else n.no
    return n


def aggregate(trees, x, targets, how, base=None):
    s = np.zeros((len(x), targets))
    for row, features in enumerate(x):
        for target in range(targets):
            votes = [w for t in trees for k, w in leaf_of(t, features).votes if k == target]
            if votes:
                s[row, target] = {'SUM': sum, 'AVERAGE': lambda v: sum(v) / len(trees), 'MIN': min, 'MAX': max}[how](votes)
    return s + (0 if base is None else np.array(base))


def nodes_of(tree):
    below = [] if tree.votes is not None else nodes_of(tree.yes) + nodes_of(tree.no)
    return [tree] + below


def by_ids(trees, prefix, shuffled=False, tensors=False, missing=True):
    """Attributes of version 1 or 3."""
    rows, votes = [], []
    for t, tree in enumerate(trees):
        nodes = nodes_of(tree)
        ids = rng.permutation(3 * len(nodes))[:len(nodes)] if shuffled else np.arange(len(nodes))
        number = {id(n): int(i) for n, i in zip(nodes, ids)}
        for n in nodes:
            leaf = n.votes is not None
            rows.append((t * 7 - 3, number[id(n)], 0 if leaf else n.feature, 'LEAF' if leaf else MODES[n.mode],
                         0.0 if leaf else n.value, 0 if leaf else number[id(n.yes)], 0 if leaf else number[id(n.no)],
                         0 if leaf else n.missing))
            votes += [(t * 7 - 3, number[id(n)], k, w) for k, w in n.votes or []]
    if shuffled:
        rows = [rows[k] for k in rng.permutation(len(rows))]
    names = ['treeids', 'nodeids', 'featureids', 'modes', 'values', 'truenodeids', 'falsenodeids', 'missing_value_tracks_true']
    a = {f'nodes_{name}': list(column) for name, column in zip(names, zip(*rows))}
    a.update({f'{prefix}_{name}': list(column) for name, column in zip(['treeids', 'nodeids', 'ids', 'weights'], zip(*votes))})
    if tensors:
        for name in ('nodes_values', f'{prefix}_weights'):
            a[name + '_as_tensor'] = proto(np.array(a.pop(name), np.float64))
    if not missing:
        del a['nodes_missing_value_tracks_true']
    return a


def by_positions(trees, t):
    """Attributes of TreeEnsemble."""
    branches, leaves, position = [], [], {}
    for n in (n for tree in trees for n in nodes_of(tree)):
        position[id(n)] = len(branches if n.votes is None else leaves)
        (branches if n.votes is None else leaves).append(n)

    def child(n):
        return position[id(n)], int(n.votes is not None)

    yes, no = zip(*(child(n.yes) for n in branches)), zip(*(child(n.no) for n in branches))
    (yes, yes_leaf), (no, no_leaf) = yes, no
    members = [v for n in branches if n.mode == 6 for v in n.members + [np.nan]]
    return {'tree_roots': [position[id(tree)] for tree in trees], 'nodes_featureids': [n.feature for n in branches],
            'nodes_modes': proto(np.array([n.mode for n in branches], np.uint8)),
            'nodes_splits': proto(np.array([n.value for n in branches], t)), 'nodes_truenodeids': yes, 'nodes_falsenodeids': no,
            'nodes_trueleafs': yes_leaf, 'nodes_falseleafs': no_leaf,
            'nodes_missing_value_tracks_true': [n.missing for n in branches],
            'leaf_targetids': [n.votes[0][0] for n in leaves],
            'leaf_weights': proto(np.array([n.votes[0][1] for n in leaves], t)),
            'membership_values': proto(np.array(members, t)) if members else None}


def samples(t, rows, features):
    x = rng.choice([-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, np.nan, np.inf, -np.inf], (rows, features))
    return np.nan_to_num(x * 2, nan=0, posinf=9, neginf=-9).astype(t) if np.dtype(t).kind == 'i' else x.astype(t)


def forest(n, features, targets, modes, votes=1, depth=4, positive=False):
    trees = []
    while len(trees) < n:
        t = grow(depth, features, targets, modes, votes, positive)
        if t.votes is None or votes != 1:
            trees.append(t)
    return trees


# ---- TreeEnsembleRegressor ----

for version, t, how, kind, targets in itertools.product((1, 3), NUMBERS, AGGREGATES, TRANSFORMS, (1, 3)):
    trees = forest(5, 4, targets, range(6) if kind != 'NONE' else [rng.integers(2)], votes=2)
    x = samples(t, int(rng.choice([1, 7, 8, 70])), 4)
    base = [float(v) for v in rng.standard_normal(targets).astype(f32)] if rng.random() < 0.5 else None
    attributes = by_ids(trees, 'target', rng.random() < 0.5, version == 3 and rng.random() < 0.5)
    if base and version == 3 and rng.random() < 0.5:
        attributes['base_values_as_tensor'] = proto(np.array(base))
    else:
        attributes['base_values'] = base
    y = transform(kind, aggregate(trees, x, targets, how, base)).astype(f32)
    cases.node('TreeEnsembleRegressor', version, [x], [y], tolerance=(1e-5, 1e-6), n_targets=targets, aggregate_function=how,
               post_transform=kind, nodes_hitrates=[1.0] * len(attributes['nodes_treeids']), **attributes)
trees = forest(3, 4, 2, [0])
for shape in ((4,), (0, 4)):
    x = samples(f32, 1, 4)[:shape[0] if len(shape) > 1 else 1].reshape(shape)
    y = aggregate(trees, x.reshape(-1, 4), 2, 'SUM').astype(f32)
    cases.node('TreeEnsembleRegressor', 3, [x], [y], n_targets=2, **by_ids(trees, 'target', missing=False))
x = samples(np.float64, 9, 4)
cases.node('TreeEnsembleRegressor', 3, [x], [aggregate(trees, x, 2, 'SUM').astype(f32)], n_targets=2,
           **by_ids(trees, 'target', missing=True))
alone = [grow(0, 1, 2, [0], 2) for _ in range(3)]
cases.node('TreeEnsembleRegressor', 3, [np.zeros((2, 0), f32)], [aggregate(alone, np.zeros((2, 1)), 2, 'SUM').astype(f32)],
           n_targets=2, **by_ids(alone, 'target'))

# ---- TreeEnsembleClassifier ----


def classify(trees, x, n, kind, base):
    """Labels' numbers, scores: two classes of which only the first has votes are one score, of the second."""
    votes = [v for t in trees for node in nodes_of(t) for v in node.votes or []]
    if n == 2 and all(k == 0 for k, w in votes):
        s = aggregate(trees, x, 1, 'SUM', base[:1] if base else None)
        mirrored = any(w < 0 for k, w in votes) if kind == 'NONE' else kind != 'PROBIT'
        s = np.concatenate([-s if mirrored else 1 - s, s], axis=1)
    else:
        s = aggregate(trees, x, n, 'SUM', base)
    return s.argmax(1), transform(kind, s).astype(f32)


for version, t, kind, n, text in itertools.product((1, 3), NUMBERS, TRANSFORMS, (1, 2, 3), (False, True)):
    for single, positive in {(False, False), (n == 2, False), (n == 2, True)}:
        trees = forest(4, 4, 1 if single else n, range(6), votes=2, positive=positive)
        x = samples(t, int(rng.choice([1, 7, 8, 70])), 4)
        n_base = int(rng.choice([0, n, 1 if single else n]))
        base = [float(v) for v in rng.standard_normal(n_base).astype(f32)]
        labels = [f'class {k}' for k in range(n)] if text else [10 * k - 5 for k in range(n)]
        top, scores = classify(trees, x, n, kind, base if n_base else None)
        attributes = by_ids(trees, 'class', rng.random() < 0.5, version == 3 and rng.random() < 0.5)
        cases.node('TreeEnsembleClassifier', version, [x], [as_labels(labels, top), scores], tolerance=(1e-5, 1e-6),
                   post_transform=kind, base_values=base or None, **attributes,
                   **{'classlabels_strings' if text else 'classlabels_int64s': labels})

# ---- TreeEnsemble ----

for t, how, kind, targets in itertools.product((np.float16, f32, np.float64), range(4), range(5), (1, 3)):
    trees = forest(5, 4, targets, range(7) if kind % 2 else [0])
    x = samples(t, int(rng.choice([1, 7, 8, 70])), 4)
    attributes = by_positions(trees, t)
    weights = {id(n): n for tree in trees for n in nodes_of(tree)}
    for n in weights.values():
        if n.votes:
            n.votes = [(n.votes[0][0], float(t(n.votes[0][1])))]
    y = transform(['NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT'][kind], aggregate(trees, x, targets, AGGREGATES[how]))
    with np.errstate(over='ignore'):
        y = y.astype(t)
    cases.node('TreeEnsemble', 5, [x], [y], tolerance=(1e-3, 1e-3) if t is np.float16 else (1e-5, 1e-6), n_targets=targets,
               aggregate_function=how, post_transform=kind, **attributes)
leaf = {'tree_roots': [0], 'nodes_featureids': [0], 'nodes_modes': proto(np.array([0], np.uint8)),
        'nodes_splits': proto(np.array([0], f32)), 'nodes_truenodeids': [0], 'nodes_falsenodeids': [0], 'nodes_trueleafs': [1],
        'nodes_falseleafs': [1], 'leaf_targetids': [0], 'leaf_weights': proto(np.array([2.5], f32)), 'n_targets': 1}
x = np.array([[1], [-1], [np.nan]], f32)
cases.node('TreeEnsemble', 5, [x], [np.full((3, 1), 2.5, f32)], **leaf)
member = {**leaf, 'nodes_modes': proto(np.array([6], np.uint8)), 'leaf_targetids': [0, 0],
          'leaf_weights': proto(np.array([1, 2], f32)), 'nodes_falsenodeids': [1]}
for values in ([0.0, 1.0, np.nan], [1.0, 0.0]):  # the last set may do without its NaN
    cases.node('TreeEnsemble', 5, [x], [np.array([[1], [2], [2]], f32)], membership_values=proto(np.array(values, f32)), **member)

# ---- what is no ensemble ----

tree = {'nodes_treeids': [0, 0, 0], 'nodes_nodeids': [0, 1, 2], 'nodes_featureids': [0, 0, 0],
        'nodes_modes': ['BRANCH_LEQ', 'LEAF', 'LEAF'], 'nodes_values': [0.5, 0.0, 0.0], 'nodes_truenodeids': [1, 0, 0],
        'nodes_falsenodeids': [2, 0, 0], 'target_treeids': [0, 0], 'target_nodeids': [1, 2], 'target_ids': [0, 0],
        'target_weights': [1.0, 2.0], 'n_targets': 1}
x = np.array([[0], [1]], f32)
cases.node('TreeEnsembleRegressor', 3, [x], [np.array([[1], [2]], f32)], **tree)
for says, change in [
        ('tree 0 has no root: its nodes go on in a cycle',
         {'nodes_modes': ['BRANCH_LEQ'] * 3, 'nodes_truenodeids': [1, 2, 0], 'nodes_falsenodeids': [1, 2, 0]}),
        ('node 1 is reached twice', {'nodes_modes': ['BRANCH_LEQ', 'BRANCH_LEQ', 'LEAF'], 'nodes_truenodeids': [1, 1, 0],
                                     'nodes_falsenodeids': [2, 2, 0]}),
        ('node 1 is reached twice', {'nodes_modes': ['BRANCH_LEQ', 'BRANCH_LEQ', 'LEAF'], 'nodes_truenodeids': [1, 2, 0],
                                     'nodes_falsenodeids': [1, 2, 0]}),
        ('nodes_truenodeids[0] = 7: tree 0 has no such node', {'nodes_truenodeids': [7, 0, 0]}),
        ('nodes_falsenodeids[0] = -1: tree 0 has no such node', {'nodes_falsenodeids': [-1, 0, 0]}),
        ('tree 0 has two nodes 1', {'nodes_nodeids': [0, 1, 1]}),
        ('nodes_values has 2 elements, nodes_treeids has 3', {'nodes_values': [0.5, 0.0]}),
        ('nodes_modes has 2 elements', {'nodes_modes': ['BRANCH_LEQ', 'LEAF']}),
        ('nodes_nodeids has 4 elements', {'nodes_nodeids': [0, 1, 2, 3]}),
        ('nodes_missing_value_tracks_true has 1 elements', {'nodes_missing_value_tracks_true': [1]}),
        ('nodes_modes[1] "LEAVE" unknown', {'nodes_modes': ['BRANCH_LEQ', 'LEAVE', 'LEAF']}),
        ('tests feature -2', {'nodes_featureids': [-2, 0, 0]}),
        ('has 1 features, a tree tests feature 5', {'nodes_featureids': [5, 0, 0]}),
        ('target_weights has 1 elements', {'target_weights': [1.0]}),
        ('target_nodeids[1] = 9: tree 0 has no such node', {'target_nodeids': [1, 9]}),
        ('target_ids[0] = 1 out of range [0,0]', {'target_ids': [1, 0]}),
        ('n_targets = 0, must be positive', {'n_targets': 0}),
        ('base_values has 2 numbers for 1 targets', {'base_values': [1.0, 2.0]}),
        ('both attributes nodes_values and nodes_values_as_tensor', {'nodes_values_as_tensor': proto(np.zeros(3))}),
        ('nodes_treeids is missing', {'nodes_treeids': None}),
        ('aggregate_function "MEAN" unknown', {'aggregate_function': 'MEAN'})]:
    cases.refuse('TreeEnsembleRegressor', 3, [x], says, **{**tree, **change})
for says, change in [
        ('node 0 is reached twice', {'nodes_trueleafs': [0]}),
        ('nodes_truenodeids[0] = 3: there are 1 leaves', {'nodes_truenodeids': [3]}),
        ('nodes_falsenodeids[0] = 1: there are 1 nodes', {'nodes_falseleafs': [0], 'nodes_falsenodeids': [1]}),
        ('tree_roots[0] = 4: there are 1 nodes', {'tree_roots': [4]}),
        ('leaf_targetids[0] = 1 out of range [0,0]', {'leaf_targetids': [1]}),
        ('leaf_weights has 1 elements', {'leaf_targetids': [0, 0]}),
        ('nodes_modes[0] = 7 out of range [0,6]', {'nodes_modes': proto(np.array([7], np.uint8))}),
        ('expected uint8', {'nodes_modes': proto(np.array([0], np.int64))}),
        ('0 sets for 1 nodes', {'nodes_modes': proto(np.array([6], np.uint8))}),
        ('2 sets for 0 nodes', {'membership_values': proto(np.array([np.nan, 1], f32))}),
        ('aggregate_function = 4 out of range', {'aggregate_function': 4}),
        ('post_transform = -1 out of range', {'post_transform': -1}),
        ('nodes_splits has elements of type int64', {'nodes_splits': proto(np.array([0]))}),
        ('n_targets = 0', {'n_targets': None})]:
    cases.refuse('TreeEnsemble', 5, [x], says, **{**leaf, **change})

# ---- large ones: reading them takes no longer than their size says ----

n = 100000
chain = {'nodes_treeids': [0] * (2 * n + 1), 'nodes_nodeids': list(range(2 * n + 1)), 'nodes_featureids': [0] * (2 * n + 1),
         'nodes_modes': ['BRANCH_LEQ', 'LEAF'] * n + ['LEAF'], 'nodes_values': [float(k) for k in range(n) for _ in (0, 1)] + [0.0],
         'nodes_truenodeids': [v for k in range(n) for v in (2 * k + 1, 0)] + [0],
         'nodes_falsenodeids': [v for k in range(n) for v in (2 * k + 2, 0)] + [0],
         'target_treeids': [0, 0], 'target_nodeids': [1, 2 * n], 'target_ids': [0, 0], 'target_weights': [1.0, 2.0], 'n_targets': 1}
order = [int(k) for k in rng.permutation(2 * n + 1)]
mixed = {k: [v[i] for i in order] if k.startswith('nodes_') else v for k, v in chain.items()}
x = np.array([[-1], [0.5], [1e9]], f32)
for attributes in (chain, mixed):
    cases.node('TreeEnsembleRegressor', 3, [x], [np.array([[1], [0], [2]], f32)], **attributes)

cases.run()
