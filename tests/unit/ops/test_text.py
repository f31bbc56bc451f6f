#!/usr/bin/env python3
"""StringConcat, StringSplit, StringNormalizer, RegexFullMatch and TfIdfVectorizer."""
import itertools
import re

import numpy as np
from onnx import TensorProto, helper

from one_node import WORDS, Cases

S, B, F, I32, I64 = TensorProto.STRING, TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64
rng = np.random.default_rng(17)
cases = Cases()


def strings(values, shape=None):
    flat = np.empty(len(values), object)
    flat[:] = values
    return flat if shape is None else flat.reshape(shape)


def add(op, opset, inputs, outputs, says=None, constant=(), **attributes):
    names = {f'x{i}': v for i, v in enumerate(inputs)}
    made = {f'y{i}': v for i, v in enumerate(outputs)}
    node = helper.make_node(op, list(names), list(made), name='node', **attributes)
    cases.add(node, opset, names, made, [f'x{i}' for i in constant], says)


# ---- StringConcat ----

def some(shape):
    return strings([WORDS[i] for i in rng.integers(0, len(WORDS), int(np.prod(shape)))], shape)


for a, b in [((3,), (3,)), ((), ()), ((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((1,), (2, 2)), ((0, 3), (3,)), ((2, 0), (1, 1)), ((5,), ())]:
    x, y = some(a), some(b)
    z = np.asarray(np.add(x, y), object).reshape(np.broadcast_shapes(a, b))
    for constant in ((), (0,), (1,), (0, 1)):
        add('StringConcat', 20, [(S, x), (S, y)], [(S, z)], constant=constant)
add('StringConcat', 20, [(S, some((2,))), (S, some((3,)))], [(S, some((3,)))], says='does not broadcast')

# ---- StringSplit ----

TEXTS = ['', ' ', 'a', ' a', 'a ', 'a b', '  a  b  ', 'a,b', ',', ',,', 'a,,b,', 'é\u00a0ü', 'x\u2003y\u3000z', '日本 語', 'a\tb\nc', 'a\x1cb\x1fc',
         'one two three four', 'aXXbXXXc', 'a\u200bb', '\u2028q\u0085r']


def splits(x, delimiter, most):
    parts = [s.split(delimiter or None, most) for s in x.reshape(-1)]
    counts = np.array([len(p) for p in parts], np.int64).reshape(x.shape)
    width = max([len(p) for p in parts], default=0)
    padded = strings([s for p in parts for s in p + [''] * (width - len(p))], x.shape + (width,))
    return [(S, padded), (I64, counts)]


for shape in ((20,), (4, 5), (2, 2, 5)):
    x = strings(TEXTS, shape)
    for delimiter, most in itertools.product((None, '', ',', 'XX', ' ', 'é', '語', 'absent'), (None, 0, 1, 2, 100)):
        given = {k: v for k, v in (('delimiter', delimiter), ('maxsplit', most)) if v is not None}
        y = splits(x, delimiter, -1 if most is None else most)
        add('StringSplit', 20, [(S, x)], y, **given)
add('StringSplit', 20, [(S, strings(['a b', 'c']))], splits(strings(['a b', 'c']), None, -1), constant=[0])
for shape in ((), (0,), (2, 0)):
    x = strings(['p q'] * int(np.prod(shape)), shape)
    add('StringSplit', 20, [(S, x)], splits(x, None, -1))
x = strings([' ', '', '\t'])
add('StringSplit', 20, [(S, x)], splits(x, None, -1))

# ---- StringNormalizer ----

NAMES = ['Monday', 'monday', 'MONDAY', 'tuesday', '', 'Grüße', 'GRÜßE', 'ÀÉ', 'àé', 'Ωmega', 'ἀ', 'я', 'Ж', '日', 'İ', 'ı', 'i', 'I', 'ǆ', 'ǅ', 'ɐ', '𐐀']


def mapped(s, change, turkish=False):
    """Character by character, where one becomes one."""
    special = {'lower': {'I': 'ı', 'İ': 'i'}, 'upper': {'i': 'İ'}}[change] if turkish else {'lower': {'İ': 'i'}, 'upper': {}}[change]
    return ''.join(special.get(c) or (m if len(m := getattr(c, change)()) == 1 else c) for c in s)


def normalized(x, stop, sensitive, change, turkish=False):
    fold = (lambda s: s) if sensitive else (lambda s: mapped(s, 'lower', turkish))
    gone = {fold(w) for w in stop}
    kept = [s for s in x.reshape(-1) if fold(s) not in gone] or ['']
    if change != 'NONE':
        kept = [mapped(s, change.lower(), turkish) for s in kept]
    return strings(kept, (-1,) if x.ndim == 1 else (1, -1))


for shape in ((len(NAMES),), (1, len(NAMES))):
    x = strings(NAMES, shape)
    for stop, sensitive, change, locale in itertools.product(
            ((), ('monday',), ('GRÜßE', 'Ж', ''), tuple(NAMES)), (0, 1), ('NONE', 'LOWER', 'UPPER'), (None, 'en_US', 'tr_TR.UTF-8', 'de')):
        given = {'stopwords': list(stop)} if stop else {}
        if locale:
            given['locale'] = locale
        y = normalized(x, stop, sensitive, change, locale == 'tr_TR.UTF-8')
        add('StringNormalizer', 10, [(S, x)], [(S, y)], is_case_sensitive=sensitive, case_change_action=change, **given)
add('StringNormalizer', 10, [(S, strings(['A b']))], [(S, strings(['A b']))], stopwords=['b', 'A'])
add('StringNormalizer', 10, [(S, strings([]))], [(S, strings(['']))])
add('StringNormalizer', 10, [(S, strings(['a', 'b'], (2, 1)))], [(S, strings(['']))], says='expected [C] or [1,C]')
add('StringNormalizer', 10, [(S, strings(['a', 'b'], (1, 2, 1)))], [(S, strings(['']))], says='expected rank 1 to 2')
add('StringNormalizer', 10, [(S, strings(['a']))], [(S, strings(['']))], case_change_action='TITLE', says='one of NONE, LOWER, UPPER')
add('StringNormalizer', 10, [(S, strings(['a']))], [(S, strings(['']))], locale='?!', says='is no locale')

# ---- RegexFullMatch: Python's expressions mean the same, under ASCII, where both have them ----

SUBJECTS = ['', 'a', 'b', 'ab', 'aab', 'abab', 'foo.bar', 'foobar', 'é', 'É', '日本', 'x\ny', 'x\n', 'a b', 'a1_', '123', '2020-01-31', 'me@x.org', '[', ']',
            '^', '-', '\\', 'a' * 60, 'aaa', '{', '}', 'a{', '\t', 'K', 'k', 'ſ', '٣', 'a.b', '\x0b', 'ABC', 'abc', '\u00a0', '𐐀']
SAME = ['', 'a', 'ab', 'a|ab', 'a|b|', '(a|b)*', '(?:ab)+', 'a?b', '[ab]+', '[^ab]+', '.', '..', '.*', '.+?', 'foo.bar', r'foo\.bar', r'\d+', r'\w+',
        r'\W', r'\S+', r'\d{4}-\d\d-\d\d', r'[a-z]+@[a-z]+\.org', 'a{2}', 'a{1,2}b', 'a{2,}', 'a{60}', r'[\]]', r'[\[]', '[]]', '[^]]', '[-]', '[a-]', r'[\\]',
        r'\\', r'\^', '(?i)abc', '(?i:AB)c', '(?s).*', '(?m)^x$\n^y$', '^a$', r'\Aa', r'a\b', r'(?:a\B)?b', 'é', '[é日本]+', '[\u0080-\U0010ffff]+', '(a+)+b?',
        '(a*)*', '((a|b)*c?)*', r'\x41\x42C', r'\t', r'\v', '(?P<n>a)b', '(?s:.)\n?', 'x.y', 'a{0}', '()', '(?:)', 'a{,2}', r'[\d-]+', r'[\w.]+', r'\141', '[.]', 'x\n$']
for p in SAME:
    python = re.compile(p.replace('a{,2}', r'a\{,2\}'), re.ASCII if '(?i' not in p else 0)
    y = np.array([python.fullmatch(s) is not None for s in SUBJECTS])
    if p in ('^a$', '(?m)^x$\n^y$', 'x\n$'):  # $ is not before a last line feed
        y = np.array([s == {'^a$': 'a', '(?m)^x$\n^y$': 'x\ny', 'x\n$': 'x\n'}[p] for s in SUBJECTS])
    if p == r'\S+':  # no white space of RE2's
        y |= np.array([s == '\x0b' for s in SUBJECTS])
    add('RegexFullMatch', 20, [(S, strings(SUBJECTS))], [(B, y)], pattern=p)
OWN = [(r'\pN+', '123٣'), (r'\p{Greek}', 'Ω'), (r'\p{^Greek}', 'x'), (r'\P{Greek}', 'x'), (r'[[:alpha:]]+', 'abC'), (r'[[:^alpha:]]', '1'), (r'\Q.*\E', '.*'),
       (r'\Qa', 'a'), (r'a\z', 'a'), (r'\x{10FFFF}', '\U0010ffff'), (r'(?U)a+', 'aaa'), (r'(?i)straße', 'STRAßE'), (r'[[:word:]]+', 'a_1'), (r'\a\f', '\a\f'),
       (r'(?<n>a)', 'a'), (r'(?-s).', 'x'), (r'(?i-s:A).', 'ab'), (r'(?m)x\n^', 'x\n'), (r'[\S]', '\x0b'), (r'[\pL\d]+', 'é1'), ('(?i)k', '\u212a'), ('a**'[:2], 'aa'),
       ('(?m)(x$)\n(?-m:y$)', 'x\ny'), ('((?m)x$)\ny$', 'x\ny'), ('}', '}'), ('{', '{'), ('a{b', 'a{b'), (']', ']')]
NOT = [(r'\s', '\x0b'), (r'\w', 'é'), (r'\d', '٣'), ('.', '\n'), ('a$', 'a\n'), ('((?m)x)$\ny', 'x\ny'), ('(?m)(?-m:x$)\ny', 'x\ny'), (r'[\s]', '\x0b'), ('[[:alpha:]]', 'é'), ('a', 'ab'), ('a|b', 'ab'),
       ('(a|aa)+$', 'a' * 5000 + 'b'), ('(a+)+$', 'a' * 5000 + 'b'), ('(a?){50}a{50}', 'a' * 49)]
for expected, pairs in ((True, OWN), (False, NOT)):
    for p, s in pairs:
        add('RegexFullMatch', 20, [(S, strings([s, s + '!']))], [(B, np.array([expected, False]))], pattern=p)
REFUSED = [(r'(a)\1', 'invalid escape sequence: \\1'), ('(?=a)a', 'invalid perl operator: (?='), ('(?!b)a', 'invalid perl operator: (?!'),
           ('(?<=a)b', 'invalid perl operator: (?<='), ('(?<!a)b', 'invalid perl operator: (?<!'), ('(?>a)', 'invalid perl operator: (?>'),
           ('a++', 'bad repetition operator: ++'), ('a**', 'bad repetition operator: **'), ('a{2}{3}', 'bad repetition operator'), ('*a', 'no argument'),
           ('(?R)', 'invalid perl operator'), ('(?P=n)', 'invalid perl operator'), ('(?#c)', 'invalid perl operator'), (r'\k<n>', 'invalid escape'),
           (r'\g1', 'invalid escape'), (r'\R', 'invalid escape'), (r'\K', 'invalid escape'), (r'\G', 'invalid escape'), (r'\Z', 'invalid escape'), (r'\h', 'invalid escape'),
           ('(a', 'missing )'), ('a)', 'unexpected )'), ('[a', 'missing ]'), ('a{1001}', 'invalid repetition size'), ('a{3,2}', 'invalid repetition size'),
           ('\\', 'trailing'), ('(*ACCEPT)', 'no argument for repetition'), (r'\C', 'one byte of a character'), ('(?x)a', 'invalid perl operator'), ('(?|a)', 'invalid perl operator'), ('(' * 251 + ')' * 251, 'too deep')]
for p, says in REFUSED:
    add('RegexFullMatch', 20, [(S, strings(['a']))], [(B, np.array([True]))], pattern=p, says=says)
add('RegexFullMatch', 20, [(S, strings(['a']))], [(B, np.array([True]))], says='attribute pattern is missing')
for shape in ((), (2, 0), (2, 3)):
    x = strings(['ab'] * int(np.prod(shape)), shape)
    add('RegexFullMatch', 20, [(S, x)], [(B, np.full(shape, True))], pattern='a.')

# ---- TfIdfVectorizer ----


def counted(row, grams, low, high, skip):
    """Every n-gram at every gap; single items once."""
    counts = [0] * len(grams)
    for step in range(1, skip + 2):
        for n in range(low, high + 1):
            for i in range(len(row) if n > 1 or step == 1 else 0):
                found = tuple(row[i:i + step * (n - 1) + 1:step])
                if len(found) == n:
                    counts = [c + (g == found) for c, g in zip(counts, grams)]
    return counts


def tfidf(x, grams, places, weights, mode, low, high, skip):
    rows = x if x.ndim == 2 else [x]
    y = np.zeros((len(rows), max(places) + 1), np.float64)
    for r, row in enumerate(rows):
        for k, c in enumerate(counted(list(row), grams, low, high, skip)):
            y[r, places[k]] += (min(c, 1) if mode == 'IDF' else c) * (1 if mode == 'TF' or weights is None else weights[k])
    return y.astype(np.float32).reshape(-1 if x.ndim == 1 else y.shape[0], max(places) + 1) if x.ndim == 2 else y[0].astype(np.float32)


GRAMS = [(2,), (3,), (5,), (2, 3), (3, 3), (5, 2), (7, 7), (2, 3, 5), (3, 3, 3)]
LETTERS = {2: 'b', 3: 'é', 5: '', 7: '日本', 1: 'x'}
weights = [float(np.float32(w)) for w in rng.random(len(GRAMS))]
for shape in ((9,), (3, 12), (1, 1), (2, 0), (0,), (0, 4)):
    numbers = rng.choice([1, 2, 3, 5, 7, 3, 3], shape)
    for mode, (low, high), skip, weighted, places in itertools.product(
            ('TF', 'IDF', 'TFIDF'), ((1, 1), (1, 2), (2, 2), (2, 3), (1, 3), (3, 5)), (0, 1, 5), (False, True), (list(range(9)), [3, 0, 11, 1, 2, 8, 5, 7, 6])):
        y = tfidf(numbers, GRAMS, places, weights if weighted else None, mode, low, high, skip)
        given = dict(mode=mode, min_gram_length=low, max_gram_length=high, max_skip_count=skip, ngram_counts=[0, 3, 11], ngram_indexes=places)
        if weighted:
            given['weights'] = weights
        pool = [v for g in GRAMS for v in g]
        kind = rng.integers(0, 3)
        if kind == 2:
            x = np.vectorize(LETTERS.get, otypes=[object])(numbers) if numbers.size else np.empty(shape, object)
            add('TfIdfVectorizer', 9, [(S, x)], [(F, y)], pool_strings=[LETTERS[v] for v in pool], **given)
        else:
            t, d = ((I32, np.int32), (I64, np.int64))[kind]
            add('TfIdfVectorizer', 9, [(t, numbers.astype(d))], [(F, y)], pool_int64s=pool, **given)
base = dict(mode='TF', min_gram_length=1, max_gram_length=2, max_skip_count=0, ngram_counts=[0, 2], ngram_indexes=[0, 1, 2], pool_int64s=[1, 2, 3, 4])
one = [(I64, np.array([1]))]
for says, change in [('cuts an n-gram', {'pool_int64s': [1, 2, 3]}), ('one number for each n-gram', {'ngram_indexes': [0]}), ('ascend', {'ngram_counts': [0, 9]}),
                     ('ascend', {'ngram_counts': [0, 65536, 4]}),
                     ('one of the attributes', {'pool_strings': ['a']}), ('negative', {'max_skip_count': -1}), ('weights needs', {'weights': [1.0]}),
                     ('less than min_gram_length', {'max_gram_length': 0}), ('negative number', {'ngram_indexes': [0, -1, 2]}), ('one of TF, IDF', {'mode': 'BM25'})]:
    add('TfIdfVectorizer', 9, one, [(F, np.zeros(3, 'f'))], says=says, **{**base, **change})
add('TfIdfVectorizer', 9, [(S, strings(['a']))], [(F, np.zeros(3, 'f'))], says='pool_int64s needs integers', **base)
add('TfIdfVectorizer', 9, [(I64, np.zeros((1, 1, 1), np.int64))], [(F, np.zeros(3, 'f'))], says='expected rank 1 to 2', **base)

cases.run()
