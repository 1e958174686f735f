/** A stage's text: coloured lines, of which one is chosen with mouse or keys. */

import type { IrResult, Position, Range } from '../protocol';
import { element } from './dom';
import { highlight } from './highlight';
import { linesAt, sourceOf } from './mapping';

/** Says where a chosen line comes from; `go` if the cursor should go there. */
export type Reveal = (range: Range | undefined, go: boolean) => void;

export class Code {
  readonly root: HTMLElement;
  private readonly lines: HTMLElement[] = [];
  private active = -1;
  private marked: HTMLElement[] = [];

  constructor(
    private readonly result: IrResult,
    private readonly reveal: Reveal,
  ) {
    this.root = element('div', { class: 'code', role: 'listbox', tabindex: '0', 'aria-label': result.title });
    const mapped = new Set(result.lines.map(({ line }) => line));
    const texts = result.text.replace(/\n+$/, '').split('\n');
    for (const [i, text] of texts.entries()) this.add(text, i, mapped.has(i));
    this.root.addEventListener('click', (event) => this.clicked(event, false));
    this.root.addEventListener('dblclick', (event) => this.clicked(event, true));
    this.root.addEventListener('keydown', (event) => this.key(event));
    this.root.addEventListener('mouseover', (event) => this.occurrences(event));
    this.root.addEventListener('mouseleave', () => this.mark([]));
  }

  /** Shows which lines belong to the place of the cursor. */
  follow(position: Position | undefined, scroll: boolean): void {
    const chosen = new Set(position ? linesAt(this.result.lines, position) : []);
    this.lines.forEach((line, i) => line.classList.toggle('source', chosen.has(i)));
    const first = this.lines[Math.min(...chosen)];
    if (scroll && first !== undefined) first.scrollIntoView({ block: 'nearest' });
  }

  private add(text: string, i: number, mapped: boolean): void {
    const attributes = { class: mapped ? 'line mapped' : 'line', role: 'option', id: `line${i}`, 'aria-selected': 'false' };
    const line = element('div', { ...attributes, 'data-line': String(i) });
    for (const piece of highlight(text)) {
      if (piece.color === undefined) line.append(piece.text);
      else line.append(element('span', { class: piece.color }, piece.text));
    }
    if (text === '') line.append('\u200b');
    this.lines.push(line);
    this.root.append(line);
  }

  private clicked(event: MouseEvent, go: boolean): void {
    const line = (event.target as HTMLElement).closest<HTMLElement>('.line');
    if (line !== null) this.choose(Number(line.dataset['line']), go);
  }

  private key(event: KeyboardEvent): void {
    const last = this.lines.length - 1;
    const targets: Record<string, number> = {
      ArrowDown: Math.min(this.active + 1, last),
      ArrowUp: Math.max(this.active - 1, 0),
      Home: 0,
      End: last,
      Enter: Math.max(this.active, 0),
      Escape: -1,
    };
    const target = targets[event.key];
    if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.choose(target, event.key === 'Enter');
    this.lines[target]?.scrollIntoView({ block: 'nearest' });
  }

  private choose(line: number, go: boolean): void {
    this.lines[this.active]?.classList.remove('active');
    this.lines[this.active]?.setAttribute('aria-selected', 'false');
    this.active = line;
    this.lines[line]?.classList.add('active');
    this.lines[line]?.setAttribute('aria-selected', 'true');
    this.root.setAttribute('aria-activedescendant', line < 0 ? '' : `line${line}`);
    this.reveal(line < 0 ? undefined : sourceOf(this.result.lines, line), go);
  }

  /** The other places of the variable under the mouse. */
  private occurrences(event: MouseEvent): void {
    const target = event.target as HTMLElement;
    const named = target.classList.contains('variable') || target.classList.contains('index-space');
    const all = this.root.querySelectorAll<HTMLElement>('.variable, .index-space');
    this.mark(named ? [...all].filter((one) => one.textContent === target.textContent) : []);
  }

  private mark(elements: HTMLElement[]): void {
    for (const one of this.marked) one.classList.remove('same');
    for (const one of elements) one.classList.add('same');
    this.marked = elements;
  }
}
