#!/usr/bin/env python3
"""`minirt devices`: what it says of the CPU at every level, and why there is no CUDA. usage: test_devices.py --build BUILD"""
import json, os, subprocess, sys

build = sys.argv[sys.argv.index('--build') + 1]
passed = failed = 0


def check(what, ok, shown=''):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print('FAIL', what, shown)


def devices(isa=None, *options):
    environment = {**os.environ, **({'MINIRT_ISA': isa} if isa else {})}
    return subprocess.run([f'{build}/minirt', 'devices', *options], capture_output=True, text=True, env=environment)


for isa in (None, 'scalar', 'scalar,noblas', 'avx2', 'avx512'):
    p = devices(isa)
    check(f'{isa}: usable', p.returncode == 0 and p.stdout.startswith('cpu        usable: '), p.stdout + p.stderr)
    check(f'{isa}: the kernels were tested', 'nodes agree with the reference' in p.stdout, p.stdout)
    check(f'{isa}: it says what is masked', (f'masked by MINIRT_ISA={isa}' in p.stdout) == bool(isa), p.stdout)
    p = devices(isa, '--json')
    d = json.loads(p.stdout)
    cpu = d['devices'][0]
    check(f'{isa}: the document', d['schema'] == 'minirt.devices/1' and cpu['name'] == 'cpu' and cpu['usable'], p.stdout)
    check(f'{isa}: the test in it', cpu['selftest']['failed'] == 0 and cpu['selftest']['nodes'] >= 20, cpu['selftest'])
    check(f'{isa}: slots add up', sum(cpu['kernels'].values()) == cpu['slots'], cpu['kernels'])
    if isa and isa.startswith('scalar'):
        check(f'{isa}: no vectors', cpu['kernels']['avx2'] == cpu['kernels']['avx512'] == 0, cpu['kernels'])
cuda = next(x for x in d['devices'] if x['name'] == 'cuda')
check('CUDA is usable, or there is a reason', cuda['usable'] or cuda['reason'], cuda)

print(f'{passed} passed, {failed} failed')
sys.exit(failed > 0)
