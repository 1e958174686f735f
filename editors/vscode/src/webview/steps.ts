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
  const title = element('button', { class: 'title', title: 'Show where this comes from' }, ...quoted(step.title));
  title.addEventListener('click', () => reveal(step.source ?? undefined, false));
  title.addEventListener('dblclick', () => reveal(step.source ?? undefined, true));
  const item = element('li', { class: 'step' }, element('span', { class: 'number', 'aria-hidden': 'true' }, String(i + 1)));
  item.append(element('div', { class: 'head' }, title, code(step.code)), flow(step));
  return item;
}

/** What goes in, an arrow, what comes out; once, if that is the same data under another name. */
function flow({ inputs, output }: SegmentStep): HTMLElement {
  const root = element('div', { class: 'flow' });
  const same = output ? inputs.find((input) => sameData(input, output)) : undefined;
  if (same !== undefined && output && inputs.length === 1) {
    const caption = element('figcaption', {}, ...naming(same), arrow(), ...naming(output, same));
    root.append(valueBox(output, caption, 'The same data, the same lengths.'));
    return root;
  }
  for (const input of inputs) root.append(valueBox(input));
  if (output) {
    if (inputs.length > 0) root.append(arrow());
    root.append(valueBox(output));
  }
  return root;
}

function arrow(): HTMLElement {
  return element('span', { class: 'arrow', role: 'img', 'aria-label': 'becomes' }, '→');
}

function valueBox(value: SegmentedValue, caption?: HTMLElement, note?: string): HTMLElement {
  const box = element('figure', { class: 'value' }, caption ?? element('figcaption', {}, ...naming(value)));
  const drawing = draw(value);
  if (drawing !== '') {
    const holder = element('div', { class: 'picture' });
    holder.innerHTML = drawing; // Markup of our own making: all text in it is escaped.
    box.append(holder);
  }
  if (value.value.replace(/\s/g, '') !== value.name.replace(/\s/g, '')) {
    box.append(element('div', { class: 'nested' }, value.value));
  }
  if (value.levels.length > 0) box.append(descriptor(value));
  if (note !== undefined) box.append(element('div', { class: 'lengths' }, note));
  return box;
}

/** Name and type, without what was said already. */
function naming(value: SegmentedValue, before?: SegmentedValue): HTMLElement[] {
  const parts = [element('span', { class: 'name' }, value.name)];
  if (value.type !== before?.type) parts.push(element('span', { class: 'type' }, value.type));
  return parts;
}

/** The lengths, from the outermost level inwards: what is stored beside the data. */
function descriptor(value: SegmentedValue): HTMLElement {
  const line = element('div', { class: 'lengths' }, 'lengths');
  for (const level of value.levels) {
    line.append(` [${level.lengths.join(', ')}]`);
    if (level.kind === 'regular') line.append(' ', element('span', { class: 'kind' }, 'regular'));
    if (level.kind === 'views') line.append(' ', element('span', { class: 'kind' }, `views from [${level.starts.join(', ')}]`));
  }
  return line;
}

function sameData(a: SegmentedValue, b: SegmentedValue): boolean {
  const shape = ({ levels, data }: SegmentedValue) => JSON.stringify([levels.map(({ lengths, starts }) => [lengths, starts]), data]);
  return shape(a) === shape(b);
}

/** Text with what stands in back-quotes set as code. */
function quoted(text: string): (Node | string)[] {
  return text.split('`').map((part, i) => (i % 2 === 1 ? element('code', {}, part) : part));
}

function code(text: string): HTMLElement {
  const line = element('code', { class: 'step-code' });
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
