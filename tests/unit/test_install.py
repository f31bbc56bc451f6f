#!/usr/bin/env python3
"""`make install`: what is installed runs, and the README's program builds with what minirt.pc says. usage: test_install.py --build BUILD"""
import os, re, shutil, subprocess, sys, tempfile

build = os.path.abspath(sys.argv[sys.argv.index('--build') + 1])
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
passed = failed = 0


def check(what, ok, shown=''):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print('FAIL', what, shown)


def run(*command, **how):
    return subprocess.run(command, capture_output=True, text=True, **how)


PROGRAM = '''
#include <stdio.h>
#include <stdlib.h>
%s
int main(void)
{
    float *pixels = calloc(64, sizeof *pixels);
%s
    printf("%%d of %%lld, first %%g\\n", mr_value_rank(mr_run_output(run, 0)), (long long)mr_value_count(mr_run_output(run, 0)), y[0]);
    mr_value_release(x);
    mr_run_destroy(run), mr_model_destroy(model), mr_env_destroy(env), mr_error_free(e);
    free(pixels);
    return 0;
}
'''

with tempfile.TemporaryDirectory() as folder:
    prefix = f'{folder}/usr'
    p = run('make', '-s', '-C', root, f'B={build}', f'PREFIX={prefix}', 'install')
    check('make install', p.returncode == 0, p.stderr[-500:])
    for file in ('bin/minirt', 'bin/minirt-conformance', 'lib/libminirt.so', 'lib/libminirt.so.0', 'lib/libminirt.a', 'include/minirt.h',
                 'lib/pkgconfig/minirt.pc', 'share/man/man1/minirt.1', 'share/bash-completion/completions/minirt'):
        check(f'{file} is there', os.path.exists(f'{prefix}/{file}'))
    p = run(f'{prefix}/bin/minirt', 'run', f'{root}/examples/digits/digits.onnx', f'{root}/examples/digits/seven.npy', '--top', '1')
    check('the command runs', p.returncode == 0 and '7  0.99' in p.stdout, p.stdout + p.stderr)
    p = run(f'{prefix}/bin/minirt', 'run', f'{root}/examples/digits/digits.onnx', f'{root}/examples/digits/seven.npy', '--device', 'cuda-host')
    check('and finds its plugins', p.returncode == 0, p.stderr)

    readme = open(f'{root}/README.md').read()
    code = re.search(r'```c\n(#include <minirt.h>)\n(.*?)```', readme, re.S)
    check('the README has a program', code)
    if code and shutil.which('pkg-config'):
        source = PROGRAM % (code.group(1), code.group(2).replace('"digits.onnx"', f'"{root}/examples/digits/digits.onnx"'))
        open(f'{folder}/p.c', 'w').write(source)
        environment = {**os.environ, 'PKG_CONFIG_PATH': f'{prefix}/lib/pkgconfig', 'LD_LIBRARY_PATH': f'{prefix}/lib'}
        for what, more in (('shared', []), ('static', ['--static'])):
            flags = run('pkg-config', '--cflags', '--libs', *more, 'minirt', env=environment)
            check(f'pkg-config, {what}', flags.returncode == 0, flags.stderr)
            flags = flags.stdout.split()
            if more:
                flags = [f'{prefix}/lib/libminirt.a' if f == '-lminirt' else f for f in flags]
            p = run('cc', '-Wall', '-Wextra', '-Werror', '-o', f'{folder}/p', f'{folder}/p.c', *flags)
            check(f'it builds, {what}', p.returncode == 0, p.stderr[:800])
            p = run(f'{folder}/p', env=environment)
            check(f'and runs, {what}', p.returncode == 0 and p.stdout.startswith('2 of 10, first '), p.stdout + p.stderr)

print(f'{passed} passed, {failed} failed')
sys.exit(failed > 0)
