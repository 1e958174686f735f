/**
 * A segmented value as a picture: cells of flat data, and above them, level by level, the segments
 * that cut them up. Empty segments have a place, too: that they exist is half of the lesson.
 *
 * Text in, SVG out; colours are classes that the style sheet gives the theme's colours to.
 */

import type { Level, NestedComponent, SegmentedValue } from '../protocol';

const CELL = { height: 24, pad: 12, letter: 7.3, least: 26 };
const BAR = { height: 15, gap: 4, empty: 16 };
/** Room behind a segment, more for an outer one. */
const SPACE = [4, 9, 14];
/** More cells than this are not drawn: pictures are for small values. */
const MOST = 48;

interface Placed {
  level: number;
  index: number;
  from: number;
  to: number;
  length: number;
}

interface Plan {
  bars: Placed[];
  /** Where each cell is, and which innermost segment it is in. */
  cells: { x: number; width: number; index: number; segment: number }[];
  width: number;
}

/** The picture, as the text of an `svg` element. */
export function draw(value: SegmentedValue): string {
  const count = length(value.data);
  if (count > MOST) return '';
  if (!inOrder(value.levels, count)) return views(value, value.data[0]?.map((_, i) => cellWidth(value.data, i)) ?? []);
  const { width, height, markup } = nested(value);
  return svg(width, height, value, [markup]);
}

/** A part of a picture, by itself. */
interface Block {
  width: number;
  height: number;
  markup: string;
}

/**
 * Segments nested over the data in the data's own order: all of them, or one of the outermost. A
 * component that is a sequence itself has a picture of its own for each entry.
 */
function nested(part: Pick<SegmentedValue, 'levels' | 'data' | 'nested'>, root?: number): Block {
  const blocks = new Map((part.nested ?? []).filter(fits).map((one) => [one.component, entries(part, one)]));
  const plain = part.data.filter((_, row) => !blocks.has(row));
  const widths = Array.from({ length: length(part.data) }, (_, i) =>
    Math.max(cellWidth(plain, i), ...[...blocks.values()].map((row) => row[i]?.width ?? 0)),
  );
  const plan = place(part.levels, widths, root);
  const parts: string[] = [];
  let y = part.levels.length * (BAR.height + BAR.gap);
  for (const bar of plan.bars) parts.push(drawBar(bar, bar.level * (BAR.height + BAR.gap), part.levels.length));
  for (const [row, column] of part.data.entries()) {
    const own = blocks.get(row);
    let height = own ? 0 : CELL.height;
    for (const { x, width, index, segment } of plan.cells) {
      const block = own?.[index];
      if (block === undefined) {
        parts.push(drawCell(x, y, width, column[index] ?? '', segment));
      } else {
        parts.push(`<g transform="translate(${n(x)} ${n(y)})">${block.markup}</g>`);
        height = Math.max(height, block.height);
      }
    }
    y += height + 3;
  }
  return { width: plan.width, height: y, markup: parts.join('') };
}

/** The pictures of the entries of a component. */
function entries(part: Pick<SegmentedValue, 'data'>, component: NestedComponent): Block[] {
  return (part.data[component.component] ?? []).map((_, i) => nested(component, i));
}

/** Whether a component is small enough to be more than a cell an entry. */
function fits(component: NestedComponent): boolean {
  return length(component.data) <= MOST;
}

function length(data: readonly string[][]): number {
  return Math.max(0, ...data.map((column) => column.length));
}

/** Segments that share or skip data, as views do: data once, each segment on a lane of its own. */
function views(value: SegmentedValue, widths: number[]): string {
  const inner = value.levels[value.levels.length - 1];
  const lefts: number[] = [];
  let x = 0;
  for (const width of widths) {
    lefts.push(x);
    x += width + 2;
  }
  const right = Math.max(0, x - 2);
  const parts: string[] = [];
  for (const [row, column] of value.data.entries()) {
    column.forEach((text, i) => {
      parts.push(drawCell(lefts[i] ?? 0, row * (CELL.height + 3), widths[i] ?? CELL.least, text, -1));
    });
  }
  let y = value.data.length * (CELL.height + 3) + BAR.gap;
  const lanes: number[] = [];
  inner?.starts.forEach((start, index) => {
    const length = inner.lengths[index] ?? 0;
    const from = lefts[start] ?? right;
    const last = start + length - 1;
    const to = length === 0 ? from + BAR.empty : (lefts[last] ?? from) + (widths[last] ?? 0);
    let lane = lanes.findIndex((end) => end < from);
    if (lane < 0) lane = lanes.push(0) - 1;
    lanes[lane] = to + 3;
    const bar = { level: value.levels.length - 1, index, from, to, length };
    parts.push(drawBar(bar, y + lane * (BAR.height + BAR.gap), value.levels.length));
  });
  y += lanes.length * (BAR.height + BAR.gap);
  return svg(Math.max(right, ...lanes), y, value, parts);
}

/** Whether going through the segments meets the data from left to right, nothing twice. */
export function inOrder(levels: readonly Level[], count: number): boolean {
  return levels.every((level, i) => {
    const below = levels[i + 1]?.lengths.length ?? count;
    let next = 0;
    return level.lengths.every((length, s) => {
      const start = level.starts[s] ?? next;
      if (length > 0 && start !== next) return false;
      next += length;
      return next <= below;
    });
  });
}

function place(levels: readonly Level[], widths: readonly number[], root?: number): Plan {
  const plan: Plan = { bars: [], cells: [], width: 0 };
  let x = 0;
  const visit = (level: number, index: number, segment: number): void => {
    if (level === levels.length) {
      const width = widths[index] ?? CELL.least;
      plan.cells.push({ x, width, index, segment });
      x += width + 2;
      return;
    }
    const from = x;
    const length = levels[level]?.lengths[index] ?? 0;
    const start = levels[level]?.lengths.slice(0, index).reduce((sum, n) => sum + n, 0) ?? 0;
    for (let child = start; child < start + length; child++) {
      visit(level + 1, child, level === levels.length - 1 ? index : segment);
    }
    // Behind the last child there is its own room, which is not the segment's.
    const inner = length > 0 && level + 1 < levels.length ? space(levels.length - level - 2) : 0;
    if (length === 0) x += BAR.empty + 2;
    plan.bars.push({ level, index, from, to: x - 2 - inner, length });
    x += space(levels.length - level - 1) - (length > 0 ? inner : 0);
  };
  const roots = levels[0]?.lengths.length ?? widths.length;
  if (root !== undefined) visit(0, root, -1);
  else for (let each = 0; each < roots; each++) visit(0, each, -1);
  plan.width = Math.max(0, ...plan.bars.map((bar) => bar.to), ...plan.cells.map((cell) => cell.x + cell.width));
  return plan;
}

function space(depth: number): number {
  return SPACE[Math.min(depth, SPACE.length - 1)] ?? 0;
}

function drawBar(bar: Placed, y: number, levels: number): string {
  const innermost = bar.level === levels - 1;
  const color = innermost ? `segment hue${bar.index % 6}` : 'segment outer';
  const width = Math.max(bar.to - bar.from, 6);
  const label = width >= 12 ? text(bar.from + width / 2, y + BAR.height / 2, String(bar.length), 'length') : '';
  const empty = bar.length === 0 ? ' empty' : '';
  const tip = `segment ${bar.index} of level ${bar.level + 1}: ${bar.length === 1 ? '1 element' : `${bar.length} elements`}`;
  return (
    `<g class="${color}${empty}"><title>${tip}</title>` +
    `<rect x="${n(bar.from)}" y="${n(y)}" width="${n(width)}" height="${BAR.height}" rx="3"/>${label}</g>`
  );
}

function drawCell(x: number, y: number, width: number, content: string, segment: number): string {
  const color = segment < 0 ? 'cell' : `cell hue${segment % 6}`;
  return (
    `<g class="${color}"><rect x="${n(x + 0.5)}" y="${n(y + 0.5)}" width="${n(width - 1)}" height="${CELL.height - 1}" rx="2"/>` +
    `${text(x + width / 2, y + CELL.height / 2, content, 'datum')}</g>`
  );
}

function cellWidth(data: readonly string[][], i: number): number {
  const longest = Math.max(0, ...data.map((column) => column[i]?.length ?? 0));
  return Math.max(CELL.least, Math.ceil(longest * CELL.letter) + CELL.pad);
}

function svg(width: number, height: number, value: SegmentedValue, parts: string[]): string {
  const [w, h] = [Math.ceil(width) + 1, Math.ceil(height) + 1];
  return (
    `<svg class="drawing" role="img" aria-label="${escape(description(value))}" width="${w}" height="${h}" ` +
    `viewBox="0 0 ${w} ${h}">${parts.join('')}</svg>`
  );
}

/** The picture in words. */
export function description(value: SegmentedValue): string {
  const lengths = value.levels.map((level, i) => `level ${i + 1} has segments of ${level.lengths.join(', ')}`);
  const inside = (value.nested ?? []).map(({ component, levels }) =>
    `component ${component + 1} is cut into ${levels.map((level) => level.lengths.join(', ')).join(' and ')}`,
  );
  return [`${value.value}`, ...lengths, ...inside].join('; ');
}

function text(x: number, y: number, content: string, name: string): string {
  return `<text class="${name}" x="${n(x)}" y="${n(y)}" text-anchor="middle" dominant-baseline="central">${escape(content)}</text>`;
}

function n(number: number): string {
  return String(Math.round(number * 10) / 10);
}

/** Text for markup. */
export function escape(text: string): string {
  return text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);
}
