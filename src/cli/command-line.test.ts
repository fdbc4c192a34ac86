import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { PointsmanError } from '../base/errors.ts';
import { runCommandLine } from './command-line.ts';
import { printError, type Terminal } from './terminal.ts';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(...args: readonly string[]): Promise<Ended> {
  const said = { out: '', err: '' };
  const terminal: Terminal = {
    env: {},
    own: false,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
  };
  const code = await runCommandLine(args, terminal);
  return { code, ...said };
}

test('a wrong flag of the proxy is one line and exit code 1, as in kube-proxy', async () => {
  for (const args of [
    ['--kubconfig=x'],
    ['--v=many'],
    ['--config=/etc/kube-proxy.yaml'],
    ['--proxy-mode=ipvs'],
    ['--cluster-cidr=10.0.0.0'],
    ['--hostname-override= '],
    ['--v=1', 'lab'],
  ]) {
    const { code, out, err } = await run(...args);
    assert.deepEqual([code, out], [1, ''], args.join(' '));
    assert.match(err, /^pointsman: [^\n]+\n$/, args.join(' '));
  }
});

test('an unknown command is one line with the nearest one, and exit code 2', async () => {
  assert.deepEqual(await run('versoin'), {
    code: 2,
    out: '',
    err: "pointsman: unknown command 'versoin' (did you mean version? See pointsman help)\n",
  });
  const { code, err } = await run('frobnicate');
  assert.deepEqual([code, err], [2, "pointsman: unknown command 'frobnicate' (see pointsman help)\n"]);
});

test('wrong options and arguments of commands are one line and exit code 2', async () => {
  for (const args of [
    ['version', '--outptu', 'json'],
    ['version', '-o', 'yaml'],
    ['completion'],
    ['completion', 'tcsh'],
    ['version', 'extra'],
    ['lab', 'upp'],
    ['lab', 'up', '--nods', '2'],
    ['lab', 'up', '--nodes', 'two'],
  ]) {
    const { code, out, err } = await run(...args);
    assert.deepEqual([code, out], [2, ''], args.join(' '));
    assert.match(err, /^pointsman: [^\n]+\n$/, args.join(' '));
  }
});

test('help fits a terminal of a hundred columns and names commands and flags', async () => {
  for (const args of [['--help'], ['help'], ['-h']]) {
    const { code, out, err } = await run(...args);
    assert.deepEqual([code, err], [0, ''], args.join(' '));
    for (const line of out.split('\n')) assert.ok(line.length <= 100, line);
    for (const word of ['version', 'completion', 'lab', 'demo', '--kubeconfig string', '-v, --v int'])
      assert.ok(out.includes(word), `${args.join(' ')}: ${word}`);
  }
});

test('help of a command tells its exit codes', async () => {
  for (const args of [
    ['version', '--help'],
    ['help', 'completion'],
    ['lab', 'up', '--help'],
  ]) {
    const { code, out } = await run(...args);
    assert.equal(code, 0);
    assert.match(out, /Exit codes: 0 fine, 1 an error, 2 wrong usage/);
  }
});

test('the version is told as a command and as a flag', async () => {
  const { out } = await run('version');
  assert.match(out, /^Pointsman v\d+\.\d+\.\d+\n$/);
  assert.equal((await run('--version')).out, out);
  const raw = (await run('--version=raw')).out;
  assert.equal((await run('version', '-o', 'json')).out, raw);
  assert.match(JSON.parse(raw).version, /^v\d/);
});

test("bash completes commands, their options and the proxy's flags", async () => {
  const { out } = await run('completion', 'bash');
  const completed = (...words: readonly string[]): readonly string[] => {
    const script = `${out}\nCOMP_WORDS=(pointsman ${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length}; _pointsman; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    assert.equal(stderr, '');
    return stdout.trim().split('\n');
  };
  assert.deepEqual(completed('ver'), ['version']);
  assert.deepEqual(completed('--kubec'), ['--kubeconfig=']);
  assert.deepEqual(completed('completion', 'b'), ['bash']);
  assert.deepEqual(completed('lab', 'sta'), ['status']);
  assert.deepEqual(completed('version', '--out'), ['--output']);
  assert.ok(completed('--con').includes('--config='));
});

test('every shell gets a script', async () => {
  for (const shell of ['zsh', 'fish']) assert.match((await run('completion', shell)).out, /pointsman/);
});

test('an error is one line, and with details what it came from', () => {
  const error = new PointsmanError('E_API', 'it\nfailed', {
    hint: 'try again',
    facts: { status: 500 },
    cause: new Error('below'),
  });
  const said: string[] = [];
  const terminal: Terminal = { env: {}, own: false, out() {}, err: (text) => said.push(text) };
  printError(terminal, error, false);
  assert.deepEqual(said, ['pointsman: it failed (try again)\n']);
  printError(terminal, error, true);
  assert.equal(
    said.slice(1).join(''),
    'pointsman: it failed (try again)\n  code: E_API\n  status: 500\n  caused by: below\n',
  );
});
