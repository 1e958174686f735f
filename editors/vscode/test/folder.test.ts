import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runFolder, taskPlace } from '../src/folder';

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

test('a task runs where its program runs elsewhere', () => {
  const there = new Set(['/w/data/a.csv', '/w/lessons/own.csv']);
  const texts: Record<string, string> = { '/w/lessons/1.nesl': 'read_csv(0, "data/a.csv");', '/w/lessons/2.nesl': 'read_csv(0, "own.csv");' };
  const place = (named: string | undefined, active?: string, base: string | undefined = '/w') =>
    taskPlace(named, base, active === undefined ? undefined : { file: active, text: texts[active] ?? '' }, ['/w'], (file) => texts[file] ?? '', (path) => there.has(path));
  // The file in the editor, in its own folder, or in the one above that has what it names.
  assert.deepEqual(place(undefined, '/w/lessons/2.nesl'), { file: '${file}', cwd: '${fileDirname}' });
  assert.deepEqual(place(undefined, '/w/lessons/1.nesl'), { file: '${file}', cwd: '/w' });
  assert.deepEqual(place('${file}'), { file: '${file}', cwd: '${fileDirname}' });
  // A file that is named is seen from the folder of the task, not from where it runs.
  assert.deepEqual(place('lessons/2.nesl'), { file: '/w/lessons/2.nesl', cwd: '/w/lessons' });
  assert.deepEqual(place('${workspaceFolder}/lessons/1.nesl'), { file: '/w/lessons/1.nesl', cwd: '/w' });
  assert.deepEqual(place('lessons/2.nesl', undefined, '/w/other'), { file: '/w/other/lessons/2.nesl', cwd: '/w/other/lessons' });
  // What only the editor knows is left to it.
  assert.deepEqual(place('${relativeFile}'), { file: '${relativeFile}', cwd: undefined });
});
