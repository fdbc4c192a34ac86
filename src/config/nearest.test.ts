import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editDistance, nearest } from './nearest.ts';

test('edits are counted, a swap of neighbours as one', () => {
  assert.equal(editDistance('kubeconfig', 'kubeconfig'), 0);
  assert.equal(editDistance('kubeconifg', 'kubeconfig'), 1);
  assert.equal(editDistance('', 'abc'), 3);
  assert.equal(editDistance('kitten', 'sitting'), 3);
});

test('the nearest word is offered, and none that is far', () => {
  const words = ['lab', 'demo', 'version', 'completion', 'help'];
  assert.equal(nearest('versoin', words), 'version');
  assert.equal(nearest('dmo', words), 'demo');
  assert.equal(nearest('completions', words), 'completion');
  assert.equal(nearest('status', words), undefined);
});
