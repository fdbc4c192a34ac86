import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FLAGS } from './flag-table.ts';
import { DEFAULT_VALUES } from './flag-values.ts';
import { flagsMarkdown } from './flags-markdown.ts';

test('no two flags have the same name or letter', () => {
  const names = FLAGS.map((flag) => flag.name);
  assert.deepEqual(names, [...new Set(names)]);
  assert.deepEqual(
    FLAGS.flatMap((flag) => flag.shorthand ?? []),
    ['v'],
  );
});

test('the default that help shows is the one that holds', () => {
  for (const flag of FLAGS) {
    if (flag.default === '') continue;
    const read = flag.read(flag.default);
    assert.equal(read.kind, 'read', flag.name);
    if (read.kind !== 'read') continue;
    assert.deepEqual({ ...DEFAULT_VALUES, ...read.value }, DEFAULT_VALUES, flag.name);
  }
});

test('every value of a configuration is set by some flag', () => {
  const set = FLAGS.flatMap((flag) => {
    const read = flag.read(flag.default);
    return read.kind === 'read' ? Object.keys(read.value) : [];
  });
  assert.deepEqual([...new Set(set)].sort(), Object.keys(DEFAULT_VALUES).sort());
});

test('docs/flags.md says what the table says', () => {
  assert.equal(
    readFileSync(new URL('../../docs/flags.md', import.meta.url), 'utf8'),
    flagsMarkdown(FLAGS),
    'run sh tools/node.sh tools/flags-doc.ts',
  );
});
