#!/usr/bin/env python3
"""The pages of docs/ are the output of the commands that write them; what README, man page and help name is there.

    tests/unit/test_docs.py [--build build]
"""
import argparse
import pathlib
import re
import subprocess
import sys

PARSER = argparse.ArgumentParser()
PARSER.add_argument('--build', default='build', type=pathlib.Path)
BUILD = PARSER.parse_args().build.resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKEFILES = [ROOT / 'Makefile', ROOT / 'tests' / 'tests.mk', ROOT / 'kernels' / 'cuda' / 'cuda.mk']
PASSED, FAILED = [], []


def check(what, ok, *details):
    (PASSED if ok else FAILED).append(what)
    if not ok:
        print(f'FAIL {what}', *details, sep='\n  ')


def minirt(*args):
    return subprocess.run([BUILD / 'minirt', *args], capture_output=True, check=True, text=True).stdout


def commands():
    """Those of `minirt --help`: a name, two spaces, what it answers."""
    return re.findall(r'^  ([a-z]+)  ', minirt('--help'), re.MULTILINE)


def options(command):
    """Those that the command takes, as the completion has them."""
    line = re.search(rf'^    {command}\) COMPREPLY=.*?"(.*?)"', minirt('completion'), re.MULTILINE)
    return [o.removeprefix('--') for o in line[1].split()]


def test_pages():
    for page, args in ('operators', ['ops', '--markdown']), ('errors', ['explain', '--markdown']):
        check(f'docs/{page}.md is current', (ROOT / 'docs' / f'{page}.md').read_text() == minirt(*args),
              f'minirt {" ".join(args)} > docs/{page}.md')


def test_commands():
    readme, man, names = (ROOT / 'README.md').read_text(), minirt('man').replace('\\-', '-'), commands()
    check('some commands', len(names) > 8, names)
    for name in names:
        check(f'README: {name}', f'`{name}`' in readme)
        check(f'man: {name}', re.search(rf'\b{name}\b', man) is not None)
        text = minirt(name, '--help')
        check(f'{name} --help: examples', 'minirt ' + name in text, text)
        for option in options(name):
            check(f'{name} --help: --{option}', re.search(rf'^ +(-\w, )?--{option}\b', text, re.MULTILINE) is not None)
            check(f'man: {name} --{option}', re.search(rf'^\.B (-\w, )?--{option}\b', man, re.MULTILINE) is not None)


def anchors(page):
    """As they are made of headings: lower case, no punctuation, dashes for blanks."""
    heads = re.findall(r'^#+ (.*)$', page.read_text(), re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', h.lower()).replace(' ', '-') for h in heads}


def test_links():
    pages = subprocess.run(['git', '-C', ROOT, 'ls-files', '*.md'], capture_output=True, check=True, text=True).stdout.split()
    for name in pages:
        page = ROOT / name
        text = re.sub(r'```.*?```', '', page.read_text(), flags=re.DOTALL)
        for link in re.findall(r'\]\(([^)\s]+)\)', text):
            path, _, anchor = link.partition('#')
            if '://' in path:
                continue
            target = (page.parent / path) if path else page
            check(f'{name}: {link}', target.exists() and (not anchor or anchor in anchors(target)))


def test_make():
    """Every target that a page names is one."""
    targets = set(re.findall(r'^([a-z][\w-]*):', ''.join(f.read_text() for f in MAKEFILES), re.MULTILINE))
    for name in 'README.md', 'CONTRIBUTING.md', 'docs/STATUS.md', 'docs/architecture.md', 'docs/performance.md':
        for target in re.findall(r'`make ([a-z][a-z-]*)', (ROOT / name).read_text()):
            check(f'{name}: make {target}', target in targets)


def main():
    for name, test in list(globals().items()):
        if name.startswith('test_'):
            test()
    print(f'{len(PASSED)} passed, {len(FAILED)} failed')
    sys.exit(bool(FAILED))


if __name__ == '__main__':
    main()
