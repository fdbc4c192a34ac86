// The lab's commands as they are typed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bin/pointsman', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../../examples/hello.yaml', import.meta.url));
const NAME = `pt-${process.pid}-cli`;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function pointsman(...args: readonly string[]): Promise<Ended> {
  const child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], out, err] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, out, err };
}

after(() => pointsman('lab', 'down', '--name', NAME));

test('a lab is built, looked at, used and taken down by commands', async () => {
  const up = await pointsman('lab', 'up', '--name', NAME, '--nodes', '1', '-f', EXAMPLE, '--', '--v=4');
  assert.equal(up.code, 0, up.err);
  assert.match(up.out, /^Lab \S+ is up after/);

  const status = await pointsman('lab', 'status', '--name', NAME, '-o', 'json');
  assert.equal(status.code, 0, status.err);
  const [lab] = JSON.parse(status.out).labs;
  assert.deepEqual([lab.name, lab.nodes.length, lab.nodes[0].pointsman.health], [NAME, 1, 'healthy']);

  const kubectl = await pointsman(
    'lab',
    'kubectl',
    '--name',
    NAME,
    'get',
    'services',
    '-n',
    'hello',
    '-o',
    'name',
  );
  assert.deepEqual(kubectl, {
    code: 0,
    out: 'service/echo\nservice/empty\nservice/sticky\n',
    err: '',
  });

  const exec = await pointsman(
    'lab',
    'exec',
    '--name',
    NAME,
    'node-a',
    '--',
    'sh',
    '-c',
    'echo "$1"; exit 7',
    '-',
    '--v',
  );
  assert.deepEqual(exec, { code: 7, out: '--v\n', err: '' });
  const nobody = await pointsman('lab', 'exec', '--name', NAME, 'nobody', 'true');
  assert.equal(nobody.code, 1);
  assert.match(nobody.err, /^pointsman: the lab has nothing called nobody \([^\n]+\)\n$/);

  const down = await pointsman('lab', 'down', '--name', NAME);
  assert.deepEqual([down.code, down.out], [0, `Lab ${NAME} is down.\n`]);
  const gone = await pointsman('lab', 'kubectl', '--name', NAME, 'get', 'pods');
  assert.equal(gone.code, 1);
  assert.match(gone.err, /^pointsman: no lab \S+ is up/);
});
