import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitions, formAt, forms, terminated } from '../src/forms';

const texts = (text: string) => forms(text).map(({ start, end }) => text.slice(start, end));

test('a semicolon ends a form, but not inside of let or brackets', () => {
  assert.deepEqual(texts('1 + 2; let a = 1; b = 2 in a + b; {x : x in a; y in b};'), [
    '1 + 2;',
    'let a = 1; b = 2 in a + b;',
    '{x : x in a; y in b};',
  ]);
  // The `in` of an apply-to-each is not the one of a let around it.
  assert.deepEqual(texts('let a = {x : x in xs}; b = 1 in a; 2;'), ['let a = {x : x in xs}; b = 1 in a;', '2;']);
  assert.deepEqual(texts('LET a = 1; IN a; 2$ 3'), ['LET a = 1; IN a;', '2$', '3']);
});

test('comments, strings and characters hide what is in them', () => {
  assert.deepEqual(texts('% a; b % "x;\\";" ++ [`;, `%, `"]; 2;'), ['"x;\\";" ++ [`;, `%, `"];', '2;']);
  assert.deepEqual(texts('% open'), []);
});

test('a function begins a form even if the one before was not ended', () => {
  assert.deepEqual(texts('(1 + 2\nfunction f(x) = x;'), ['(1 + 2', 'function f(x) = x;']);
});

test('the form at the cursor', () => {
  const text = 'a = 1;\n\n% about b %\nb = 2;\n  c;';
  const at = (offset: number) => {
    const form = formAt(text, offset);
    return form && text.slice(form.start, form.end);
  };
  assert.equal(at(0), 'a = 1;');
  assert.equal(at(6), 'a = 1;');
  assert.equal(at(7), 'a = 1;');
  assert.equal(at(text.indexOf('b = 2') + 3), 'b = 2;');
  assert.equal(at(text.length), 'c;');
  // Before the first token of a line, the form of that line.
  assert.equal(at(text.indexOf('  c') + 1), 'c;');
  assert.equal(formAt('', 0), undefined);
});

test('definitions are told from expressions', () => {
  const defining = ['function f(x) = x;', 'datatype d(int);', 'a = 1;', '(a, b) = (1, 2);', 'load "lib";', 'FUNCTION g(x) = x;', 'c=[x==1 : x in a];'];
  const others = ['a + 1;', 'a == 1;', 'a <= b;', 'a >= b;', 'a /= b;', 'let a = 1 in a;', '{a : b in c};', '% a = 1; % 2;', '"a = 1";', 'if a == b then 1 else 2;'];
  assert.deepEqual(definitions(defining.join(' ')), defining);
  assert.deepEqual(definitions(others.join(' ')), []);
});

test('what is sent to the REPL is ended', () => {
  assert.equal(terminated(' 1 + 2 '), '1 + 2;');
  assert.equal(terminated('1 + 2;'), '1 + 2;');
  assert.equal(terminated('1 % one %'), '1; % one %');
  assert.equal(terminated('let a = 1;\r\n in a'), 'let a = 1;\n in a;');
  assert.equal(terminated('% only a comment %'), '% only a comment %');
});
