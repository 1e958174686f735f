/**
 * The double of `nesl lsp`: speaks the protocol about any text, knowing only where its forms are.
 * It is what the extension is tried with where there is no compiler: `dist/test/fake/nesl lsp`.
 *
 * What it shows is made up but has the real shapes: the same contract test runs against both.
 * A text that contains `BROKEN` is broken; a form that contains `slow` runs until it is stopped;
 * the command `crash` in `nesl/run` ends the process, as bugs do.
 */

import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { forms, type Form } from '../../src/forms';
import type { InlineValue, IrParams, Position, Range, RunParams, SegmentsParams } from '../../src/protocol';
import { IR, SEGMENTS } from './samples';

interface Doc {
  version: number;
  text: string;
}

if (process.argv[2] !== 'lsp') {
  process.stderr.write('the double of nesl knows only `lsp`\n');
  process.exit(2);
}
if (process.argv.includes('--help')) process.exit(0);

const docs = new Map<string, Doc>();
const lastGood = new Map<string, string>();
const running = new Map<string, { run: number; timer: ReturnType<typeof setTimeout> }>();
let runs = 0;
let options: { runtime?: string; precision?: number } = {};

const connection = createMessageConnection(new StreamMessageReader(process.stdin), new StreamMessageWriter(process.stdout));

const stages = ['tokens', 'types', 'ir', 'simple', 'flat', 'fused', 'kir'].map((id) => ({
  id,
  title: id,
  hint: `the program at the stage ${id}`,
  preview: id !== 'tokens',
}));
connection.onRequest('nesl/stages', () => stages);

connection.onRequest('initialize', (params: { initializationOptions?: typeof options }) => {
  options = params.initializationOptions ?? {};
  return {
    serverInfo: { name: 'nesl', version: '0.0.0-double' },
    capabilities: {
      textDocumentSync: 1,
      hoverProvider: true,
      completionProvider: {},
      documentSymbolProvider: true,
      definitionProvider: true,
      renameProvider: true,
      codeLensProvider: { resolveProvider: false },
      executeCommandProvider: { commands: ['nesl.run', 'nesl.stop', 'nesl.cost'] },
      experimental: { stages },
    },
  };
});
connection.onNotification('initialized', tellStatus);
connection.onNotification('workspace/didChangeConfiguration', ({ settings }: { settings?: { nesl?: typeof options } }) => {
  options = { ...options, ...settings?.nesl };
  tellStatus();
});
connection.onRequest('shutdown', () => null);
connection.onNotification('exit', () => process.exit(0));

connection.onNotification('textDocument/didOpen', ({ textDocument: { uri, version, text } }) => {
  update(uri, version, text);
});
connection.onNotification('textDocument/didChange', ({ textDocument: { uri, version }, contentChanges }) => {
  update(uri, version, contentChanges[contentChanges.length - 1].text);
});
connection.onNotification('textDocument/didClose', ({ textDocument: { uri } }) => {
  docs.delete(uri);
});

connection.onRequest('textDocument/hover', ({ textDocument: { uri }, position }) => {
  const word = wordAt(text(uri), position);
  return word === '' ? null : { contents: { kind: 'markdown', value: `\`\`\`nesl\n${word} : [int] -> int\n\`\`\`\nflattened: one launch` } };
});
connection.onRequest('textDocument/completion', () => [
  { label: 'sum', kind: 3, detail: '[a] -> a :: (a in number)' },
  { label: 'sort', kind: 3, detail: '[a] -> [a] :: (a in ordinal)' },
]);
connection.onRequest('textDocument/documentSymbol', ({ textDocument: { uri } }) =>
  functions(uri).map(({ name, range }) => ({ name, kind: 12, range, selectionRange: range })),
);
connection.onRequest('textDocument/definition', () => ({
  uri: 'nesl-library:/sequences.nesl',
  range: range(0, 0, 0, 3),
}));
connection.onRequest('textDocument/rename', ({ textDocument: { uri }, position, newName }) => {
  const word = wordAt(text(uri), position);
  const edits = text(uri).split('\n').flatMap((line, i) =>
    [...line.matchAll(new RegExp(`\\b${word}\\b`, 'g'))].map(({ index }) => ({
      range: range(i, index, i, index + word.length),
      newText: newName,
    })),
  );
  return { changes: { [uri]: edits } };
});
connection.onRequest('textDocument/codeLens', ({ textDocument: { uri } }) => {
  const lenses = functions(uri).flatMap(({ name, range }) => [
    { range, command: { title: '▶ Run…', command: 'nesl.runFunction', arguments: [{ textDocument: { uri }, position: range.end, name, type: '[int] -> int', parameters: '(a)' }] } },
    { range, command: { title: 'IR', command: 'nesl.showIr', arguments: [{ textDocument: { uri }, position: range.start }] } },
  ]);
  const whole = { title: '▶ Run', command: 'nesl.run', arguments: [{ textDocument: { uri } }] };
  return [...lenses, { range: range(0, 0, 0, 0), command: whole }];
});
connection.onRequest('workspace/executeCommand', ({ command, arguments: [argument] }): unknown => {
  if (command === 'nesl.run') return run(argument);
  if (command === 'nesl.stop') return stop(argument.textDocument.uri);
  return cost();
});

connection.onRequest('nesl/ir', ({ textDocument: { uri }, stage, position }: IrParams) => {
  const broken = text(uri).includes('BROKEN');
  const good = broken ? (lastGood.get(uri) ?? '') : text(uri);
  const at = position && formOf(good, position);
  const sample = IR[stage] ?? `${stage} of\n${at ? good.slice(at.start, at.end) : good}`;
  const source = at ? spanOf(good, at) : range(0, 0, 0, 1);
  return {
    title: stage,
    subject: at ? `line ${source.start.line + 1}` : '',
    text: sample,
    stale: broken,
    ...(broken ? { message: 'The text has errors: expected an expression' } : {}),
    lines: sample.split('\n').map((_, line) => ({ line, source })),
    ...(stage === 'flat' || stage === 'fused' ? { summary: '2 launches · regular' } : {}),
  };
});
connection.onRequest('nesl/segments', (_: SegmentsParams) => SEGMENTS);
connection.onRequest('nesl/cost', cost);
connection.onRequest('nesl/run', run);
connection.onRequest('nesl/stop', ({ textDocument: { uri } }) => stop(uri));
connection.onRequest('nesl/library', ({ uri }: { uri: string }) => ({ text: `% ${uri} %\nfunction sum(a) = a;\n` }));
connection.listen();

function update(uri: string, version: number, text: string): void {
  docs.set(uri, { version, text });
  if (!text.includes('BROKEN')) lastGood.set(uri, text);
  const diagnostics = text.split('\n').flatMap((line, i) => {
    const at = line.indexOf('BROKEN');
    return at < 0 ? [] : [{ range: range(i, at, i, at + 6), severity: 1, source: 'nesl', message: 'expected an expression' }];
  });
  void connection.sendNotification('textDocument/publishDiagnostics', { uri, version, diagnostics });
}

function tellStatus(): void {
  const { runtime = 'cpu', precision = 64 } = options;
  const device = runtime === 'cpu' ? '2 cores' : 'one thread';
  void connection.sendNotification('nesl/status', { version: '0.0.0-double', runtime, device, precision });
}

function run(params: RunParams): { run: number; version: number } {
  const { uri } = params.textDocument;
  const doc = docs.get(uri) ?? { version: 0, text: '' };
  if (params.expression?.startsWith('crash') === true) process.exit(3);
  stop(uri);
  const number = ++runs;
  const wanted = forms(doc.text).filter((form) => touches(spanOf(doc.text, form), params.range));
  const found = params.expression !== undefined
    ? [value(params.position ?? { line: 0, character: 0 }, `${params.expression} = 42`, false)]
    : wanted.map((form, i) => value(spanOf(doc.text, form).end, i === 1 ? '= [1, 2, 3]' : '= 42', doc.text.slice(form.start, form.end).includes('error')));
  const slow = wanted.some((form) => doc.text.slice(form.start, form.end).includes('slow'));
  const tell = (state: string, values: InlineValue[]) =>
    connection.sendNotification('nesl/values', {
      textDocument: { uri, version: doc.version },
      state,
      run: number,
      values,
      output: doc.text.includes('print') ? 'printed\n' : '',
    });
  setImmediate(() => void tell('running', []));
  const finish = () => {
    running.delete(uri);
    void tell(found.some((one) => one.error) ? 'failed' : 'done', found);
  };
  const timer = setTimeout(finish, slow ? 60_000 : 40);
  running.set(uri, { run: number, timer });
  return { run: number, version: doc.version };
}

function stop(uri: string): null {
  const one = running.get(uri);
  if (one === undefined) return null;
  clearTimeout(one.timer);
  running.delete(uri);
  const textDocument = { uri, version: docs.get(uri)?.version ?? 0 };
  void connection.sendNotification('nesl/values', { textDocument, state: 'stopped', run: one.run, values: [], output: '' });
  return null;
}

function cost() {
  return { subject: 'sum(a)', text: 'work   12\ndepth   3\n' };
}

function value(position: Position, text: string, error: boolean): InlineValue {
  return {
    position,
    text: error ? 'index 5 is out of bounds' : text,
    detail: `\`\`\`nesl\nit ${text} : int\n\`\`\``,
    seconds: 0.00123,
    error,
  };
}

function text(uri: string): string {
  return docs.get(uri)?.text ?? '';
}

function functions(uri: string): { name: string; range: Range }[] {
  return text(uri).split('\n').flatMap((line, i) => {
    const name = /^function\s+(\w+)/.exec(line)?.[1];
    return name === undefined ? [] : [{ name, range: range(i, 0, i, line.length) }];
  });
}

function wordAt(text: string, { line, character }: Position): string {
  for (const match of (text.split('\n')[line] ?? '').matchAll(/\w+/g)) {
    if (match.index <= character && character <= match.index + match[0].length) return match[0];
  }
  return '';
}

function formOf(text: string, { line, character }: Position): Form | undefined {
  const offset = text.split('\n').slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + character;
  return forms(text).find((form) => form.start <= offset && offset <= form.end);
}

function spanOf(text: string, form: Form): Range {
  const place = (offset: number): Position => {
    const before = text.slice(0, offset).split('\n');
    return { line: before.length - 1, character: before[before.length - 1]?.length ?? 0 };
  };
  return { start: place(form.start), end: place(form.end) };
}

function touches(span: Range, wanted: Range | undefined): boolean {
  return wanted === undefined || (span.start.line <= wanted.end.line && wanted.start.line <= span.end.line);
}

function range(line: number, character: number, toLine: number, toCharacter: number): Range {
  return { start: { line, character }, end: { line: toLine, character: toCharacter } };
}
