import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runFolder } from '../src/folder';

test('a program runs where the files are that it names', () => {
  const there = new Set(['/w/data/a.csv', '/w/lessons/own/a.csv', '/w/lessons/part.nesl', '/data/b.csv']);
  const folder = (text: string, open = ['/w']) => runFolder('/w/lessons/1.nesl', text, open, (path) => there.has(path));
  assert.equal(folder('read_csv(0, "data/a.csv");'), '/w');
  assert.equal(folder('read_csv(0, "own/a.csv"); read_csv(0, "data/a.csv");'), '/w/lessons');
  assert.equal(folder('load "part.nesl"; read_csv(0, "data/a.csv");'), '/w');
  // Nothing is looked for above what is open, in comments, or if no folder is.
  assert.equal(folder('read_csv(0, "data/b.csv");'), '/w/lessons');
  assert.equal(folder('% "data/a.csv" % 1;'), '/w/lessons');
  assert.equal(folder('read_csv(0, "data/a.csv");', []), '/w/lessons');
  assert.equal(folder('read_csv(0, "data/a.csv");', ['/wide', '/w/lessons']), '/w/lessons');
});
