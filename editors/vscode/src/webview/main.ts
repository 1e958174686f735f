/** The preview's page: tabs, a heading, and one of three views. */

import { COST, SEGMENTS, type FromPage, type ToPage } from '../messages';
import type { CostResult, IrResult, Position, Range, SegmentsResult, Stage } from '../protocol';
import { Code } from './code';
import { byId, element } from './dom';
import { steps } from './steps';

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void; setState(state: object): void };

const vscode = acquireVsCodeApi();
const panel = byId('panel');
let tabs: Stage[] = [];
let selected = '';
let shown: { stage: string; code?: Code } = { stage: '' };
let cursor: Position | undefined;
const scrolls = new Map<string, number>();

window.addEventListener('message', (event: MessageEvent<ToPage>) => {
  const message = event.data;
  switch (message.type) {
    case 'tabs':
      tabs = message.tabs;
      setToggle('follow', message.follow);
      setToggle('whole', message.whole);
      drawTabs(message.selected);
      break;
    case 'ir':
      if (message.stage === selected) showIr(message.result);
      break;
    case 'segments':
      if (selected === SEGMENTS) showSegments(message.result);
      break;
    case 'cost':
      if (selected === COST) showCost(message.result, message.message);
      break;
    case 'nothing':
      if (message.stage === selected) showNothing(message.message);
      break;
    case 'cursor':
      cursor = message.position;
      shown.code?.follow(cursor, true);
      break;
    case 'busy':
      byId('busy').hidden = !message.busy;
      panel.setAttribute('aria-busy', String(message.busy));
      break;
  }
});

for (const name of ['follow', 'whole'] as const) {
  byId(name).addEventListener('click', () => {
    const on = byId(name).getAttribute('aria-pressed') !== 'true';
    setToggle(name, on);
    vscode.postMessage(name === 'follow' ? { type: 'follow', follow: on } : { type: 'whole', whole: on });
  });
}
vscode.postMessage({ type: 'ready' });

function drawTabs(select: string): void {
  const list = byId('tabs');
  list.replaceChildren(
    ...tabs.map(({ id, title, hint }) => {
      const tab = element('button', { role: 'tab', id: `tab-${id}`, title: hint ?? '', 'aria-controls': 'panel' }, title);
      tab.addEventListener('click', () => choose(id, true));
      return tab;
    }),
  );
  list.onkeydown = (event) => {
    const at = tabs.findIndex(({ id }) => id === selected);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    choose(next.id, true);
    byId(`tab-${next.id}`).focus();
  };
  choose(select, false);
}

function choose(stage: string, tell: boolean): void {
  const other = stage !== selected;
  if (other && selected !== '') scrolls.set(selected, panel.scrollTop);
  selected = stage;
  for (const { id } of tabs) {
    const tab = byId(`tab-${id}`);
    tab.setAttribute('aria-selected', String(id === stage));
    tab.tabIndex = id === stage ? 0 : -1;
  }
  panel.setAttribute('aria-labelledby', `tab-${stage}`);
  byId('whole').hidden = stage === SEGMENTS || stage === COST;
  vscode.setState({ selected });
  if (other && stage === COST) showCost(undefined, undefined);
  if (tell) vscode.postMessage({ type: 'select', stage });
}

function showIr(result: IrResult): void {
  // A form that was never whole has no last good state; what is there is better than nothing.
  if (result.text === '' && result.message && shown.code !== undefined) {
    notice(result.message, true);
    return;
  }
  const other = byId('subject').textContent !== result.subject;
  heading(result.subject, result.summary ?? '');
  notice(result.message ?? '', result.stale);
  const code = result.text === '' ? undefined : new Code(result, reveal);
  const content = code?.root ?? empty(result.message ? '' : 'There is nothing of this stage here.');
  replace(selected, content);
  if (other) panel.scrollTop = 0;
  shown = code === undefined ? { stage: selected } : { stage: selected, code };
  code?.follow(cursor, other);
}

function showSegments(result: SegmentsResult): void {
  const other = byId('subject').textContent !== result.subject;
  heading(result.subject, '');
  if (result.steps.length === 0) {
    notice('', false);
    replace(SEGMENTS, empty(result.message ?? 'There is nothing to draw here.'));
    return;
  }
  notice(result.message ?? '', false);
  replace(SEGMENTS, steps(result, reveal));
  if (other) panel.scrollTop = 0;
}

function showCost(result: CostResult | undefined, message: string | undefined): void {
  heading(result?.subject ?? '', '');
  notice('', false);
  const button = element('button', { class: 'action' }, result === undefined ? 'Measure the form at the cursor' : 'Measure again');
  button.addEventListener('click', () => vscode.postMessage({ type: 'measure' }));
  const about = 'Work: all operations. Depth: the longest chain of operations that must wait for each other.';
  const parts: HTMLElement[] = [element('p', {}, about), button];
  if (message !== undefined) parts.push(element('p', { class: 'error' }, message));
  if (result !== undefined) parts.push(element('pre', {}, result.text));
  replace(COST, element('div', { class: 'cost' }, ...parts));
}

/** Nothing new: what is there stays if it is of this tab, greyed. */
function showNothing(message: string): void {
  if (shown.stage === selected && panel.childElementCount > 0) {
    notice(message, true);
    return;
  }
  heading('', '');
  notice('', false);
  replace(selected, empty(message));
}

function replace(stage: string, content: HTMLElement): void {
  const same = shown.stage === stage;
  const top = same ? panel.scrollTop : (scrolls.get(stage) ?? 0);
  const focused = same && panel.contains(document.activeElement);
  shown = { stage };
  panel.replaceChildren(content);
  panel.scrollTop = top;
  if (focused) panel.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
}

function heading(subject: string, summary: string): void {
  byId('subject').textContent = subject;
  byId('subject').title = subject;
  byId('summary').textContent = summary;
  byId('summary').title = summary;
  byId('summary').hidden = summary === '';
}

function notice(text: string, stale: boolean): void {
  byId('message').textContent = text || (stale ? 'The text has errors: this is what it was before.' : '');
  byId('message').hidden = text === '' && !stale;
  document.body.classList.toggle('stale', stale);
}

function setToggle(name: string, on: boolean): void {
  byId(name).setAttribute('aria-pressed', String(on));
}

function empty(message: string): HTMLElement {
  return element('p', { class: 'nothing' }, message);
}

function reveal(range: Range | undefined, go: boolean): void {
  vscode.postMessage({ type: 'reveal', range, go });
}
