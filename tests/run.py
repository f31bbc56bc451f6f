#!/usr/bin/env python3
"""Runs test programs, as many at a time as there are cores, and sums what they say.

usage: run.py NAME=COMMAND ...

NAME!=COMMAND runs alone, before the others: what it measures is time.

Each command ends with a line `N passed, N failed` (`, N skipped` may follow) or is a cmocka program; one that says neither,
or that exits with another status than its counts ask for, counts as one failure. What a failing command printed is shown,
of the others one line and those that begin with "skipped". The last line is the sum.
"""
import os, re, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor, as_completed

CMOCKA = re.compile(r'\[  (PASSED|FAILED|SKIPPED)  \] (\d+) test')
LINE = re.compile(r'(\d+) passed, (\d+) failed(?:, (\d+) skipped)?')


def run(name, command):
    """(passed, failed, skipped), and what is to be printed."""
    start = time.monotonic()
    p = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
    lines = p.stdout.rstrip().split('\n')
    found = next((m for m in map(LINE.search, reversed(lines)) if m), None)
    passed, failed, skipped = (int(x or 0) for x in found.groups()) if found else (0, 1, 0)
    cmocka = {} if found else dict(CMOCKA.findall(p.stdout))
    if cmocka:
        passed, failed, skipped = (int(cmocka.get(k, 0)) for k in ('PASSED', 'FAILED', 'SKIPPED'))
    if p.returncode and not failed:
        failed = 1
    report = [f'{"FAIL" if failed else "ok":4} {name:34} {passed} passed, {failed} failed, {skipped} skipped'
              f'  {time.monotonic() - start:.1f} s']
    shown = lines if failed else [l for l in lines if l.startswith('skipped')]
    return (passed, failed, skipped), report + [f'     | {line}' for line in shown[-60:]]


def main():
    suites = [arg.split('=', 1) for arg in sys.argv[1:]]
    alone = [(name[:-1], command) for name, command in suites if name.endswith('!')]
    together = [(name, command) for name, command in suites if not name.endswith('!')]
    total = [0, 0, 0]

    def note(result):
        counts, report = result
        print(*report, sep='\n', flush=True)
        total[:] = [a + b for a, b in zip(total, counts)]

    for name, command in alone:
        note(run(name, command))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in as_completed([pool.submit(run, name, command) for name, command in together]):
            note(done.result())
    print('{} passed, {} failed, {} skipped'.format(*total))
    sys.exit(1 if total[1] else 0)


main()
