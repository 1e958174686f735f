import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Known } from '../src/known';

test('a REPL lacks what was defined after it read the file', () => {
  const known = new Known();
  known.read('function f(x) = x;\nf(1);\n');
  assert.ok(!known.lacks('function f(x) = x;\nf(1);\nf(2);\n', 'f(2);'));
  assert.ok(known.lacks('function f(x) = x + 1;\nf(1);\n', 'f(1);'));
  assert.ok(known.lacks('n = 1;\nfunction f(x) = x;\nf(n);\n', 'f(n);'));
});

test('what is sent is known', () => {
  const known = new Known();
  known.read('');
  const text = 'n = 1;\nfunction f(x) = n;\n';
  // The form that is being sent is no reason to read the file again.
  assert.ok(!known.lacks('n = 1;\n', 'n = 1;'));
  known.sent('n = 1;');
  assert.ok(!known.lacks(text, 'function f(x) = n;'));
  known.sent('function f(x) = n;');
  assert.ok(!known.lacks(text, 'f(2);'));
  // A file that is read anew is all that is known.
  known.read('n = 2;');
  assert.ok(known.lacks(text, 'f(2);'));
});
