import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration } from '../src/duration';
import { afterEdits, type Edit } from '../src/edits';

const values = [1, 3, 5].map((line) => ({ position: { line, character: 10 } }));
const edit = (line: number, character: number, toLine: number, toCharacter: number, text: string): Edit => ({
  range: { start: { line, character }, end: { line: toLine, character: toCharacter } },
  text,
});
const lines = (...edits: Edit[]) => afterEdits(values, edits).map(({ position }) => position.line);

test('a line that is edited loses its value', () => {
  assert.deepEqual(lines(edit(3, 4, 3, 5, 'x')), [1, 5]);
  assert.deepEqual(lines(edit(1, 4, 3, 5, '')), [3]);
});

test('values below move with their text', () => {
  assert.deepEqual(lines(edit(2, 0, 2, 0, 'a\nb\n')), [1, 5, 7]);
  assert.deepEqual(lines(edit(0, 0, 1, 0, '')), [0, 2, 4]);
});

test('new lines above or below a value leave it', () => {
  assert.deepEqual(lines(edit(3, 10, 3, 10, '\n')), [1, 3, 6]);
  assert.deepEqual(lines(edit(3, 0, 3, 0, '\n')), [1, 4, 6]);
  assert.deepEqual(lines(edit(3, 5, 3, 5, '\n')), [1, 6]);
});

test('several edits at once are all in terms of the text before', () => {
  assert.deepEqual(lines(edit(0, 0, 0, 0, '\n'), edit(4, 0, 4, 0, '\n\n'), edit(3, 1, 3, 1, 'x')), [2, 8]);
});

test('durations have three digits', () => {
  assert.deepEqual([0, 4.2e-7, 1.234e-3, 0.0456, 0.999, 12.34, 75].map(duration), [
    '0 µs',
    '0.42 µs',
    '1.23 ms',
    '45.6 ms',
    '999 ms',
    '12.3 s',
    '1 min 15 s',
  ]);
  assert.equal(duration(NaN), '');
});
