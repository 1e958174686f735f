/** "How flattening sees it": the steps of an expression, with what they use and make drawn. */

import type { SegmentStep, SegmentedValue, SegmentsResult } from '../protocol';
import type { Reveal } from './code';
import { element } from './dom';
import { draw } from './draw';
import { highlight } from './highlight';

export function steps(result: SegmentsResult, reveal: Reveal): HTMLElement {
  const list = element('ol', { class: 'steps' });
  result.steps.forEach((step, i) => list.append(stepItem(step, i, reveal)));
  const root = element('div', { class: 'flattening' }, list);
  if (result.steps.length > 0) root.append(legend());
  return root;
}

function stepItem(step: SegmentStep, i: number, reveal: Reveal): HTMLElement {
  const title = element('button', { class: 'title', title: 'Show where this comes from' }, step.title);
  title.addEventListener('click', () => reveal(step.source ?? undefined, false));
  title.addEventListener('dblclick', () => reveal(step.source ?? undefined, true));
  const item = element('li', { class: 'step' }, element('span', { class: 'number', 'aria-hidden': 'true' }, String(i + 1)));
  item.append(element('div', { class: 'head' }, title, code(step.code)));
  if (step.inputs.length > 0) {
    item.append(element('div', { class: 'inputs', 'aria-label': 'uses' }, ...step.inputs.map(valueBox)));
  }
  if (step.output) {
    if (step.inputs.length > 0) item.append(element('div', { class: 'arrow', 'aria-hidden': 'true' }, '↓'));
    item.append(element('div', { class: 'output', 'aria-label': 'makes' }, valueBox(step.output)));
  }
  return item;
}

function valueBox(value: SegmentedValue): HTMLElement {
  const name = element('span', { class: 'name' }, value.name);
  const type = element('span', { class: 'type' }, value.type);
  const nested = element('span', { class: 'nested' }, value.value);
  const box = element('figure', { class: 'value' }, element('figcaption', {}, name, type, nested));
  const drawing = draw(value);
  if (drawing !== '') {
    const holder = element('div', { class: 'picture' });
    holder.innerHTML = drawing; // Markup of our own making: all text in it is escaped.
    box.append(holder);
  }
  for (const [i, level] of value.levels.entries()) {
    const place = value.levels.length === 1 ? 'lengths' : `lengths, level ${i + 1}`;
    box.append(row(place, level.lengths, level.kind === 'contiguous' ? '' : level.kind));
    if (level.kind === 'views') box.append(row('starts', level.starts, ''));
  }
  return box;
}

function row(label: string, numbers: number[], kind: string): HTMLElement {
  const tag = kind === '' ? [] : [element('span', { class: 'kind' }, kind)];
  return element('div', { class: 'lengths' }, element('span', {}, label), ` [${numbers.join(', ')}] `, ...tag);
}

function code(text: string): HTMLElement {
  const line = element('code');
  for (const piece of highlight(text)) {
    if (piece.color === undefined) line.append(piece.text);
    else line.append(element('span', { class: piece.color }, piece.text));
  }
  return line;
}

function legend(): HTMLElement {
  return element(
    'p',
    { class: 'legend' },
    'Boxes are the flat data. A bar above is a segment, with its length; each level of nesting is a row of bars. ',
    'A dashed bar is an empty segment: it takes part, and takes no data.',
  );
}
