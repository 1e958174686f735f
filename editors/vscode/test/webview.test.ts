import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Level, Range, SegmentedValue } from '../src/protocol';
import { description, draw, inOrder } from '../src/webview/draw';
import { highlight } from '../src/webview/highlight';
import { linesAt, sourceOf } from '../src/webview/mapping';

const range = (line: number, character: number, toLine: number, toCharacter: number): Range => ({
  start: { line, character },
  end: { line: toLine, character: toCharacter },
});

test('the lines of the smallest source around the cursor', () => {
  const lines = [
    { line: 0, source: range(0, 0, 4, 0) },
    { line: 2, source: range(1, 2, 1, 9) },
    { line: 3, source: range(1, 2, 1, 9) },
    { line: 5, source: range(2, 0, 2, 5) },
  ];
  assert.deepEqual(linesAt(lines, { line: 1, character: 4 }), [2, 3]);
  assert.deepEqual(linesAt(lines, { line: 9, character: 0 }), []);
  assert.deepEqual(sourceOf(lines, 5), range(2, 0, 2, 5));
  assert.equal(sourceOf(lines, 4), undefined);
});

test('point 15: on the name of a binding its own lines are lit, not those of the whole form', () => {
  const lines = [
    { line: 0, source: range(0, 0, 9, 0) },
    { line: 1, source: range(3, 12, 3, 30) },
    { line: 2, source: range(4, 12, 4, 30) },
  ];
  assert.deepEqual(linesAt(lines, { line: 3, character: 4 }), [1]);
  assert.deepEqual(linesAt(lines, { line: 3, character: 20 }), [1]);
  assert.deepEqual(linesAt(lines, { line: 7, character: 2 }), [0]);
});

test('registers of PTX are no comments', () => {
  const colors = (line: string) => highlight(line).filter(({ color }) => color !== undefined).map(({ text, color }) => [text, color]);
  assert.deepEqual(colors('  shfl.sync.down.b32 %r89, %r87, 8, 31, -1;'), [
    ['shfl.sync.down.b32', 'operation'],
    ['%r89', 'variable'],
    ['%r87', 'variable'],
    ['8', 'number'],
    ['31', 'number'],
    ['1', 'number'],
  ]);
  assert.deepEqual(colors('  ld.global.f64 %fd4, [%rd18+0]; // x'), [
    ['ld.global.f64', 'operation'],
    ['%fd4', 'variable'],
    ['%rd18', 'variable'],
    ['0', 'number'],
    ['// x', 'comment'],
  ]);
  assert.deepEqual(colors('.visible .entry norm('), [['.visible', 'keyword'], ['.entry', 'keyword'], ['norm', 'operation']]);
  assert.deepEqual(colors('% norm kernel 1 %'), [['% norm kernel 1 %', 'comment']]);
});

test('coloured pieces are the line', () => {
  const line = '  v4: int in s1 = mul(v2, "a%b") % note % @7 -1.5e3';
  const pieces = highlight(line);
  assert.equal(pieces.map(({ text }) => text).join(''), line);
  const colors = Object.fromEntries(pieces.filter(({ color }) => color).map(({ text, color }) => [text, color]));
  assert.deepEqual(colors, {
    v4: 'variable',
    int: 'type',
    in: 'keyword',
    s1: 'index-space',
    mul: 'operation',
    v2: 'variable',
    '"a%b"': 'string',
    '% note %': 'comment',
    '@7': 'comment',
    '1.5e3': 'number',
  });
});

const level = (lengths: number[], starts?: number[], kind: Level['kind'] = 'contiguous'): Level => {
  let next = 0;
  const running = lengths.map((length) => (next += length) - length);
  return { kind, starts: starts ?? running, lengths };
};
const value = (levels: Level[], ...data: string[][]): SegmentedValue => ({
  name: 'v0',
  type: '[[int]]',
  value: '[[2, 3], [], [7]]',
  levels,
  data,
});
const count = (text: string, part: string) => text.split(part).length - 1;

test('nested segments: a bar for each, empty ones too, a cell for each datum', () => {
  const picture = draw(value([level([3]), level([2, 0, 1])], ['2', '3', '7']));
  assert.equal(count(picture, '<g class="segment'), 4);
  assert.equal(count(picture, ' empty"'), 1);
  assert.equal(count(picture, '<g class="cell'), 3);
});

test('components of a tuple are rows over the same segments', () => {
  const picture = draw(value([level([1, 1])], ['1', '2'], ['`a', '`<']));
  assert.equal(count(picture, '<g class="cell'), 4);
  assert.match(picture, /`&lt;/);
});

test('a sequence in a tuple has bars and cells of its own', () => {
  const inner = { component: 1, levels: [level([2, 0])], data: [['4', '5']] };
  const pairs = { ...value([level([2])], ['1', '2'], ['[4, 5]', '[]']), nested: [inner] };
  const picture = draw(pairs);
  // The pairs, and the two sequences in them.
  assert.equal(count(picture, '<g class="segment'), 3);
  assert.equal(count(picture, ' empty"'), 1);
  assert.equal(count(picture, '<g class="cell'), 4);
  assert.equal(count(picture, '[4, 5]'), 0);
  assert.match(description(pairs), /component 2 is cut into 2, 0/);
  // One that is long stays a cell.
  const long = { component: 1, levels: [level([60, 0])], data: [Array<string>(60).fill('1')] };
  assert.equal(count(draw({ ...pairs, nested: [long] }), '<g class="cell'), 4);
});

test('segments do not overlap: cells and bars of a level come one after the other', () => {
  const picture = draw(value([level([2, 0, 1]), level([1, 0, 2]), level([2, 1, 0])], ['1', '2', '3']));
  const boxes = [...picture.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"/g)].map((match) => match.slice(1).map(Number));
  const rows = new Map<number, number>();
  for (const [x = 0, y = 0, width = 0] of boxes.sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0))) {
    assert.ok(x >= (rows.get(y) ?? -1), `a box at ${x} in the row ${y} begins before the one before it ends`);
    rows.set(y, x + width - 0.6);
  }
});

test('views overlap: each on a lane of its own, data once', () => {
  const levels = [level([2, 2], [0, 1], 'views')];
  assert.equal(inOrder(levels, 3), false);
  const picture = draw(value(levels, ['1', '2', '3']));
  assert.equal(count(picture, '<g class="cell'), 3);
  assert.equal(count(picture, '<g class="segment'), 2);
});

test('scalars have cells and no bars; what is large is not drawn', () => {
  assert.equal(count(draw(value([], ['42'])), '<g class="cell'), 1);
  assert.equal(draw(value([], Array<string>(100).fill('1'))), '');
});

test('the picture in words', () => {
  assert.equal(description(value([level([2, 1])], ['1'])), '[[2, 3], [], [7]]; level 1 has segments of 2, 1');
});
