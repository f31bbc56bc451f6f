#!/usr/bin/env python3
"""Models that scikit-learn, LightGBM and XGBoost have fitted, exported by skl2onnx and onnxmltools, against what the
libraries themselves predict."""
import os
import warnings

import numpy as np

warnings.filterwarnings('ignore')
os.environ.setdefault('OMP_NUM_THREADS', '1')

import lightgbm  # noqa: E402
import skl2onnx.common._container as container  # noqa: E402
import xgboost  # noqa: E402
from onnxmltools import convert_lightgbm, convert_xgboost  # noqa: E402
from onnxmltools.convert.common.data_types import FloatTensorType as MlFloats  # noqa: E402
from skl2onnx import convert_sklearn  # noqa: E402
from skl2onnx.common.data_types import (DictionaryType, DoubleTensorType, FloatTensorType, Int64TensorType,  # noqa: E402
                                        StringTensorType)
from sklearn import (calibration, cluster, compose, decomposition, discriminant_analysis, ensemble,  # noqa: E402
                     feature_extraction, feature_selection, gaussian_process, impute, linear_model, multiclass, naive_bayes,
                     neighbors, neural_network, pipeline, preprocessing, svm, tree)

from ml import strings  # noqa: E402
from one_node import Cases  # noqa: E402

OPSETS = {'': 21, 'ai.onnx.ml': 3, 'com.microsoft': 1}
f32 = np.float32
cases = Cases()
rng = np.random.default_rng(3)

# The values have few bits, so that no row lies on another side of a threshold in float32 than in double. Neighbours need
# distances that differ.
X = (rng.integers(-64, 65, (260, 6)) / 16).astype(f32)
SPREAD = rng.standard_normal((260, 6)).astype(f32)
SIGNAL = X[:, 0] - X[:, 1] * X[:, 2] / 2 + np.sin(X[:, 3])
Y2, Y3 = (SIGNAL > 0).astype(int), np.digitize(SIGNAL, [-1, 1.5])
TEXT_LABELS = np.array(['no', 'maybe', 'yes'])[Y3]
MULTI = np.stack([Y2, (X[:, 4] > 0.3).astype(int), (SIGNAL > 2).astype(int)], axis=1)
TWO = np.stack([SIGNAL, X[:, 1]], axis=1)
INTS = (X * 16).astype(np.int64)
DOUBLES = X.astype(np.float64)
WORDS = strings([f'v{int(v)}' for v in X[:, :3].ravel()], (260, 3))
TRAIN, TEST = slice(0, 200), slice(200, 260)

made_node = container.make_node


def make_node(*inputs, **attributes):
    """scikit-learn's trees have numbers and booleans of types that onnx's helper does not take."""
    whole = (np.integer, np.bool_, bool)
    plain = {k: [int(n) if isinstance(n, whole) else n for n in v] if isinstance(v, list) else v for k, v in attributes.items()}
    return made_node(*inputs, **plain)


container.make_node = make_node


def export(model, x, options, name='x'):
    kinds = {'float32': FloatTensorType, 'float64': DoubleTensorType, 'int64': Int64TensorType, 'object': StringTensorType}
    types = [(name, kinds[x.dtype.name]([None, *x.shape[1:]]))]
    return convert_sklearn(model, initial_types=types, target_opset=OPSETS, options={id(model): options} if options else None)


def zipped(labels, scores):
    return [dict(zip([v.item() for v in labels], row)) for row in scores.astype(f32)]


def as_scores(scores):
    """Of several targets, of each the probabilities of its classes; of two classes one score, that of the second."""
    if isinstance(scores, list):
        return np.stack(scores).astype(f32)
    return (np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores).astype(f32)


def expected(model, x, scores, zipmap):
    labels, values = model.predict(x), as_scores(getattr(model, scores)(x))
    labels = labels.astype(object) if labels.dtype.kind == 'U' else labels.astype(np.int64)
    return [labels, zipped(model.classes_, values) if zipmap else values]


def classifier(name, model, y=Y3, x=X, tolerance=(1e-4, 1e-5), zipmap=False, scores='predict_proba', **options):
    model.fit(x[TRAIN], y[TRAIN])
    if scores == 'decision_function':
        options['raw_scores'] = True
    if not isinstance(model, (svm.LinearSVC, pipeline.Pipeline)) or zipmap:
        options['zipmap'] = zipmap
    if isinstance(model, pipeline.Pipeline) and not zipmap:
        options['zipmap'] = False
    cases.add_model(name, export(model, x, options), [x[TEST]], expected(model, x[TEST], scores, zipmap), tolerance)


def regressor(name, model, y=SIGNAL, x=X, tolerance=(1e-4, 1e-4), outputs=None, **options):
    model.fit(x[TRAIN], y[TRAIN])
    want = outputs(model, x[TEST]) if outputs else [model.predict(x[TEST]).reshape(60, -1).astype(
        np.float64 if x is DOUBLES else f32)]
    cases.add_model(name, export(model, x, options), [x[TEST]], want, tolerance)


def outliers(model, x):
    return [model.predict(x).reshape(-1, 1), model.decision_function(x).astype(f32).reshape(-1, 1)]


def transformer(name, model, x=X, y=None, tolerance=(1e-4, 1e-5), dtype=f32, **options):
    model.fit(x[TRAIN], None if y is None else y[TRAIN])
    want = model.transform(x[TEST])
    want = want.toarray() if hasattr(want, 'toarray') else want
    cases.add_model(name, export(model, x, options), [x[TEST]], [want.astype(dtype)], tolerance)


R = {'random_state': 0}
classifier('forest', ensemble.RandomForestClassifier(20, **R))
classifier('forest_of_two', ensemble.RandomForestClassifier(20, max_depth=5, **R), Y2, zipmap=True)
classifier('forest_of_text', ensemble.RandomForestClassifier(20, max_depth=5, **R), TEXT_LABELS, zipmap=True)
classifier('forest_on_double', ensemble.RandomForestClassifier(20, **R), x=DOUBLES)
classifier('forest_on_ints', ensemble.RandomForestClassifier(20, **R), x=INTS)
classifier('forest_of_labels', ensemble.RandomForestClassifier(10, **R), MULTI)
regressor('forest_regressor', ensemble.RandomForestRegressor(20, **R))
regressor('forest_regressor_of_2', ensemble.RandomForestRegressor(20, **R), TWO)
classifier('extra_trees', ensemble.ExtraTreesClassifier(20, **R))
regressor('extra_trees_regressor', ensemble.ExtraTreesRegressor(20, **R))
classifier('tree', tree.DecisionTreeClassifier(**R))
regressor('tree_regressor', tree.DecisionTreeRegressor(**R))
for scores in ('predict_proba', 'decision_function'):
    classifier('boosting', ensemble.GradientBoostingClassifier(n_estimators=20, **R), scores=scores)
    classifier('boosting_of_2', ensemble.GradientBoostingClassifier(n_estimators=20, **R), Y2, scores=scores)
    classifier('hist_boosting', ensemble.HistGradientBoostingClassifier(max_iter=20, **R), scores=scores)
    classifier('hist_boosting_of_2', ensemble.HistGradientBoostingClassifier(max_iter=20, **R), Y2, scores=scores)
    classifier('logistic', linear_model.LogisticRegression(), scores=scores)
    classifier('logistic_of_2', linear_model.LogisticRegression(), Y2, scores=scores)
regressor('boosting_regressor', ensemble.GradientBoostingRegressor(n_estimators=20, **R))
regressor('hist_boosting_regressor', ensemble.HistGradientBoostingRegressor(max_iter=20, **R))
HOLES = np.where(rng.random(X.shape) < 0.1, f32('nan'), X)
classifier('hist_boosting_with_holes', ensemble.HistGradientBoostingClassifier(max_iter=20, **R), x=HOLES)
classifier('ada_boost', ensemble.AdaBoostClassifier(n_estimators=10, **R))
regressor('ada_boost_regressor', ensemble.AdaBoostRegressor(n_estimators=10, **R))
classifier('bagging', ensemble.BaggingClassifier(n_estimators=5, **R))
regressor('bagging_regressor', ensemble.BaggingRegressor(n_estimators=5, **R))
SOME = [('a', linear_model.LogisticRegression()), ('b', tree.DecisionTreeClassifier(max_depth=3))]
classifier('voting', ensemble.VotingClassifier(SOME, voting='soft', flatten_transform=False))
classifier('stacking', ensemble.StackingClassifier(SOME))
regressor('isolation_forest', ensemble.IsolationForest(n_estimators=10, **R), outputs=outliers)

classifier('logistic_of_text', linear_model.LogisticRegression(), TEXT_LABELS, zipmap=True)
classifier('logistic_on_ints', linear_model.LogisticRegression(), x=INTS)
classifier('sgd', linear_model.SGDClassifier(loss='log_loss', **R))
classifier('perceptron', linear_model.Perceptron(), scores='decision_function')
classifier('ridge_classifier', linear_model.RidgeClassifier(), scores='decision_function')
regressor('linear', linear_model.LinearRegression())
regressor('linear_of_2', linear_model.LinearRegression(), TWO)
regressor('linear_on_ints', linear_model.LinearRegression(), x=INTS)
regressor('lasso', linear_model.Lasso(0.1))
regressor('poisson', linear_model.PoissonRegressor(), np.abs(SIGNAL))

classifier('svc', svm.SVC(probability=True, **R))
classifier('svc_of_2', svm.SVC(probability=True, **R), Y2)
classifier('svc_of_text', svm.SVC(probability=True, kernel='poly', **R), TEXT_LABELS)
classifier('svc_linear', svm.SVC(kernel='linear', decision_function_shape='ovo'), scores='decision_function')
classifier('svc_rbf', svm.SVC(kernel='rbf'), scores='decision_function')
classifier('svc_sigmoid', svm.SVC(kernel='sigmoid'), Y2, scores='decision_function')
classifier('nu_svc', svm.NuSVC(probability=True, **R))
classifier('linear_svc', svm.LinearSVC(), scores='decision_function')
classifier('linear_svc_of_2', svm.LinearSVC(), Y2, scores='decision_function')
for kernel in ('rbf', 'poly', 'linear', 'sigmoid'):
    regressor(f'svr_{kernel}', svm.SVR(kernel=kernel))
regressor('nu_svr', svm.NuSVR(kernel='sigmoid'))
regressor('linear_svr', svm.LinearSVR())
regressor('one_class_svm', svm.OneClassSVM(), outputs=outliers)

for optim in ({}, {'optim': 'cdist'}):
    classifier('neighbors', neighbors.KNeighborsClassifier(5), x=SPREAD, **optim)
    classifier('neighbors_of_labels', neighbors.KNeighborsClassifier(3), MULTI, x=SPREAD, **optim)
    regressor('neighbors_regressor', neighbors.KNeighborsRegressor(5), x=SPREAD, **optim)
    regressor('radius_regressor', neighbors.RadiusNeighborsRegressor(20.0), x=SPREAD, **optim)
classifier('neighbors_manhattan', neighbors.KNeighborsClassifier(3, metric='manhattan'), x=SPREAD)

classifier('gaussian_nb', naive_bayes.GaussianNB())
classifier('multinomial_nb', naive_bayes.MultinomialNB(), x=np.abs(X))
classifier('bernoulli_nb', naive_bayes.BernoulliNB())
classifier('mlp', neural_network.MLPClassifier((8,), max_iter=50, **R))
regressor('mlp_regressor', neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=50, **R))
classifier('lda', discriminant_analysis.LinearDiscriminantAnalysis())
classifier('calibrated', calibration.CalibratedClassifierCV(linear_model.LogisticRegression(), cv=2))
classifier('one_vs_rest', multiclass.OneVsRestClassifier(linear_model.LogisticRegression()))
classifier('one_vs_rest_of_labels', multiclass.OneVsRestClassifier(linear_model.LogisticRegression()), MULTI)
regressor('gaussian_process', gaussian_process.GaussianProcessRegressor(alpha=0.5), x=DOUBLES)
regressor('kmeans', cluster.KMeans(3, n_init=1, **R),
          outputs=lambda m, x: [m.predict(x).astype(np.int64), m.transform(x).astype(f32)])

transformer('standard_scaler', preprocessing.StandardScaler())
transformer('robust_scaler', preprocessing.RobustScaler())
transformer('min_max_scaler', preprocessing.MinMaxScaler())
transformer('max_abs_scaler', preprocessing.MaxAbsScaler())
transformer('standard_scaler_on_ints', preprocessing.StandardScaler(), INTS)
transformer('normalizer_l1', preprocessing.Normalizer('l1'))
transformer('normalizer_l2', preprocessing.Normalizer('l2'))
transformer('normalizer_max', preprocessing.Normalizer('max'), np.abs(X) + f32(1))
transformer('binarizer', preprocessing.Binarizer(threshold=0.5))
transformer('polynomial', preprocessing.PolynomialFeatures(2))
transformer('bins', preprocessing.KBinsDiscretizer(4, encode='ordinal', quantile_method='linear'))
transformer('pca', decomposition.PCA(3))
transformer('imputer', impute.SimpleImputer(), HOLES)
transformer('select', feature_selection.SelectKBest(k=3), y=Y3)
transformer('one_hot', preprocessing.OneHotEncoder(handle_unknown='ignore'), WORDS)
transformer('one_hot_ints', preprocessing.OneHotEncoder(handle_unknown='ignore'), X[:, :3].astype(np.int64))
FEW = X[:, :3].astype(np.int64) % 3
transformer('ordinal', preprocessing.OrdinalEncoder(), strings([f'v{v}' for v in FEW.ravel()], FEW.shape))
transformer('ordinal_ints', preprocessing.OrdinalEncoder(), FEW)

# ---- pipelines ----

classifier('scaled_forest', pipeline.make_pipeline(preprocessing.MinMaxScaler(), ensemble.RandomForestClassifier(10, **R)),
           zipmap=True)
classifier('scaled_svc', pipeline.make_pipeline(preprocessing.MinMaxScaler(), decomposition.PCA(4), svm.SVC(probability=True, **R)))
classifier('encoded', pipeline.make_pipeline(preprocessing.OneHotEncoder(handle_unknown='ignore', sparse_output=False),
                                             linear_model.LogisticRegression()), x=WORDS)


# Two inputs: numbers that are scaled and words that are encoded.
table = np.concatenate([X[:, :3].astype(object), WORDS], axis=1)
for name, last in (('columns_forest', ensemble.RandomForestClassifier(10, **R)), ('columns_logistic', linear_model.LogisticRegression()),
                   ('columns_boosting', ensemble.GradientBoostingClassifier(n_estimators=10, **R))):
    prepare = compose.ColumnTransformer([('number', preprocessing.StandardScaler(), [0, 1, 2]),
                                         ('word', preprocessing.OneHotEncoder(handle_unknown='ignore'), [3, 4, 5])])
    model = pipeline.make_pipeline(prepare, last).fit(table[TRAIN], TEXT_LABELS[TRAIN])
    types = [('number', FloatTensorType([None, 3])), ('word', StringTensorType([None, 3]))]
    made = convert_sklearn(model, initial_types=types, target_opset=OPSETS)
    cases.add_model(name, made, [X[TEST, :3], WORDS[TEST]], expected(model, table[TEST], 'predict_proba', True), (1e-4, 1e-5))

union = pipeline.make_union(preprocessing.StandardScaler(), decomposition.PCA(2))
transformer('union', union)

vectorizer = feature_extraction.DictVectorizer(sparse=False)
dicts = [dict(zip(words[:2], [f32(k), f32(2 * k)])) for k, words in enumerate(WORDS[:60])]
vectorizer.fit(dicts)
made = convert_sklearn(vectorizer, initial_types=[('x', DictionaryType(StringTensorType([1]), FloatTensorType([1])))],
                       target_opset=OPSETS)
for k in (0, 7):
    cases.add_model('dict_vectorizer', made, [dicts[k]], [vectorizer.transform(dicts[k]).astype(f32)[0]])

# ---- text ----

NOUNS, VERBS = ['tree', 'forest', 'vector', 'Kernel', 'label', 'x2'], ['grows', 'votes', 'splits', 'maps to']
TEXTS = strings([f'The {NOUNS[a]} {VERBS[b]} a {NOUNS[c]}, {NOUNS[a]}!' for a, b, c in zip(rng.integers(0, 6, 260), rng.integers(0, 4, 260),
                                                                                          rng.integers(0, 6, 260))])
ABOUT = np.array([('forest' in t or 'votes' in t) + ('Kernel' in t) for t in TEXTS])
TOKENS = {'token_pattern': '[a-zA-Z0-9_]+'}
text = feature_extraction.text
for name, vectorizer in (('counts', text.CountVectorizer(**TOKENS)), ('pairs', text.CountVectorizer(ngram_range=(1, 2), **TOKENS)),
                         ('binary_counts', text.CountVectorizer(binary=True, **TOKENS)), ('tfidf', text.TfidfVectorizer(**TOKENS)),
                         ('tfidf_triples', text.TfidfVectorizer(ngram_range=(1, 3), norm='l1', **TOKENS)),
                         ('case', text.TfidfVectorizer(lowercase=False, norm=None, **TOKENS)),
                         ('stop_words', text.TfidfVectorizer(stop_words=['the', 'a'], **TOKENS)),
                         ('letters', text.CountVectorizer(analyzer='char', ngram_range=(1, 2)))):
    transformer(name, vectorizer, TEXTS)
    classifier(f'{name}_logistic', pipeline.make_pipeline(vectorizer, linear_model.LogisticRegression()), ABOUT, TEXTS, zipmap=True)
classifier('tfidf_forest', pipeline.make_pipeline(text.TfidfVectorizer(**TOKENS), ensemble.RandomForestClassifier(10, **R)), ABOUT, TEXTS)
classifier('tfidf_naive_bayes', pipeline.make_pipeline(text.CountVectorizer(**TOKENS), naive_bayes.MultinomialNB()), ABOUT, TEXTS)
transformer('tfidf_of_counts', pipeline.make_pipeline(text.CountVectorizer(**TOKENS), text.TfidfTransformer()), TEXTS)

# ---- LightGBM, XGBoost ----


def boosted(name, convert, model, y, x=X, tolerance=(1e-4, 1e-5), zipmap=False):
    model.fit(x[TRAIN], y[TRAIN])
    made = convert(model, initial_types=[('x', MlFloats([None, 6]))], target_opset=15, **({'zipmap': zipmap} if convert is convert_lightgbm else {}))
    if hasattr(model, 'predict_proba'):
        want = expected(model, x[TEST], 'predict_proba', zipmap)
    else:
        want = [model.predict(x[TEST]).astype(f32).reshape(-1, 1)]
    cases.add_model(name, made, [x[TEST]], want, tolerance)


G = {'n_estimators': 25, 'random_state': 0, 'n_jobs': 1}
quiet = {'verbose': -1, 'min_child_samples': 5, **G}
for x, name in ((X, ''), (HOLES, '_with_holes')):
    for y, kind in ((Y2, 'of_2'), (Y3, 'of_3')):
        boosted(f'lightgbm_{kind}{name}', convert_lightgbm, lightgbm.LGBMClassifier(**quiet), y, x)
        boosted(f'xgboost_{kind}{name}', convert_xgboost, xgboost.XGBClassifier(**G), y, x)
    boosted(f'lightgbm_regressor{name}', convert_lightgbm, lightgbm.LGBMRegressor(**quiet), SIGNAL, x)
    boosted(f'xgboost_regressor{name}', convert_xgboost, xgboost.XGBRegressor(**G), SIGNAL, x)
boosted('lightgbm_zipmap', convert_lightgbm, lightgbm.LGBMClassifier(**quiet), Y3, zipmap=True)
boosted('lightgbm_dart', convert_lightgbm, lightgbm.LGBMRegressor(boosting_type='dart', **quiet), SIGNAL)
boosted('lightgbm_deep', convert_lightgbm, lightgbm.LGBMClassifier(num_leaves=200, **quiet), Y2)
boosted('lightgbm_poisson', convert_lightgbm, lightgbm.LGBMRegressor(objective='poisson', **quiet), np.abs(SIGNAL))
boosted('xgboost_forest', convert_xgboost, xgboost.XGBRFRegressor(**G), SIGNAL)
boosted('xgboost_poisson', convert_xgboost, xgboost.XGBRegressor(objective='count:poisson', **G), np.abs(SIGNAL))
boosted('xgboost_leafwise', convert_xgboost, xgboost.XGBClassifier(grow_policy='lossguide', max_leaves=40, max_depth=0, **G), Y3)

cases.run()
