/**
 * The contract between extension and server, said as a conversation and held by both sides: the
 * double that the extension is tried with, and, where there is one, the real `nesl lsp`.
 */

import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createMessageConnection, ErrorCodes, ResponseError, StreamMessageReader, StreamMessageWriter, type MessageConnection } from 'vscode-jsonrpc/node';
import {
  type CostResult,
  type IrResult,
  type Options,
  type Range,
  type RunResult,
  type SegmentedValue,
  type SegmentsResult,
  type Stage,
  type StatusParams,
  type ValuesParams,
} from '../src/protocol';
import { binary, fake, noBinary, root } from './here';

const uri = 'file:///contract.nesl';
const textDocument = { uri };
const program = 'function dot(a, b) = sum({x * y : x in a; y in b});\ndot([1, 2], [3, 4]);\n{sum(a) : a in [[2, 3], [8, 3, 9], [7]]};\n';
const options: Options = {
  runtime: 'cpu',
  precision: 64,
  values: 'notification',
  lenses: true,
  preview: true,
  askArguments: true,
  library: true,
  hints: { types: true, parallelism: false },
};

conversation('the double', fake, undefined);
conversation('the program', binary, binary === undefined ? noBinary : knowsLsp(binary));

function conversation(name: string, server: string | undefined, skip: string | undefined): void {
  describe(name, { skip: skip ?? false, timeout: 60_000 }, () => {
    let process: ChildProcess;
    let connection: MessageConnection;
    const status: StatusParams[] = [];
    const values: ValuesParams[] = [];
    let told: { capabilities: { experimental?: { stages?: Stage[] } } };

    const ask = <R>(method: string, params: object): Promise<R> =>
      within(20_000, method, connection.sendRequest<R>(method, params));
    const change = (version: number, text: string) =>
      connection.sendNotification('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });

    before(async () => {
      process = spawn(server!, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
      const reader = new StreamMessageReader(process.stdout!);
      // Half a message, if the server is killed while it writes, would be waited for by a timer that
      // never ends.
      reader.partialMessageTimeout = 0;
      connection = createMessageConnection(reader, new StreamMessageWriter(process.stdin!));
      connection.onNotification('nesl/status', (params: StatusParams) => void status.push(params));
      connection.onNotification('nesl/values', (params: ValuesParams) => void values.push(params));
      // What a server may ask a client; none of it matters here.
      connection.onRequest(() => null);
      connection.listen();
      told = await ask('initialize', { processId: null, rootUri: null, capabilities: {}, initializationOptions: options });
      await connection.sendNotification('initialized', {});
      await connection.sendNotification('textDocument/didOpen', {
        textDocument: { uri, languageId: 'nesl', version: 1, text: program },
      });
    });
    after(async () => {
      // One that does not answer must not keep the tests from ending.
      await within(3000, 'shutdown', connection.sendRequest('shutdown')).catch(() => undefined);
      connection.dispose();
      process.kill('SIGKILL');
      process.stdout?.destroy();
    });

    test('nesl/stages', async () => {
      const stages = await ask<Stage[]>('nesl/stages', {});
      assert.deepEqual(stages, told.capabilities.experimental?.stages);
      const ids = stages.map(({ id }) => id);
      for (const id of ['types', 'ir', 'simple', 'flat', 'fused', 'kir']) assert.ok(ids.includes(id), id);
      for (const { title, hint } of stages) assert.ok(title !== '' && hint !== '');
      assert.ok(stages.some(({ preview }) => preview) && stages.some(({ preview }) => !preview));
    });

    test('the walkthrough names the tabs of the preview', { skip: server === fake }, async () => {
      const text = readFileSync(join(root, 'walkthrough', 'preview.md'), 'utf8');
      const rows = [...text.matchAll(/^\| (\w+) \|/gm)].map(([, title]) => title).slice(1);
      const stages = await ask<Stage[]>('nesl/stages', {});
      const titles = stages.filter(({ preview }) => preview).map(({ title }) => title);
      assert.deepEqual(rows, [...titles, 'Segments', 'Cost']);
    });

    test('nesl/ir', async () => {
      for (const { id } of told.capabilities.experimental?.stages ?? []) {
        const result = await ask<IrResult>('nesl/ir', { textDocument, stage: id, position: { line: 0, character: 30 } });
        assert.notEqual(result.title, '');
        assert.notEqual(result.subject, '');
        assert.notEqual(result.text, '');
        assert.equal(result.stale, false);
        const last = result.text.split('\n').length;
        for (const { line, source } of result.lines) {
          assert.ok(line < last);
          isRange(source);
        }
        const all = await ask<IrResult>('nesl/ir', { textDocument, stage: id });
        assert.equal(all.subject, '');
      }
    });

    test('nesl/segments', async (context) => {
      const params = { textDocument, position: { line: 2, character: 2 } };
      const result = await ask<SegmentsResult>('nesl/segments', params).catch((error: unknown) => {
        if (error instanceof ResponseError && error.code === ErrorCodes.MethodNotFound) return undefined;
        throw error;
      });
      if (result === undefined) return context.skip('this server does not know nesl/segments yet');
      assert.ok(result.steps.length > 0, result.message ?? 'no steps');
      for (const step of result.steps) {
        assert.notEqual(step.title, '');
        if (step.source) isRange(step.source);
        for (const value of [...step.inputs, ...(step.output ? [step.output] : [])]) isSegmented(value);
      }
    });

    test('nesl/run: values come, and end', async () => {
      const { run, version } = await ask<RunResult>('nesl/run', { textDocument });
      assert.equal(version, 1);
      const last = await until(() => values.find((one) => one.run === run && one.state !== 'running'));
      assert.equal(last.state, 'done');
      assert.equal(last.textDocument.uri, uri);
      const lines = last.values.filter(({ error }) => !error).map(({ position }) => position.line);
      assert.ok(lines.includes(1) && lines.includes(2), `values on lines ${lines.join(', ')}`);
      assert.match(last.values.find(({ position }) => position.line === 1)!.text, /^= ./);
    });

    test('nesl/run: an expression is shown where it is asked for', async () => {
      const { run } = await ask<RunResult>('nesl/run', { textDocument, expression: 'dot([2], [21])', position: { line: 0, character: 5 } });
      const last = await until(() => values.find((one) => one.run === run && one.state !== 'running'));
      assert.ok(last.values.some(({ position, text }) => position.line === 0 && text.endsWith(' = 42')));
    });

    test('nesl/stop: without a run it is no error', async () => {
      await ask('nesl/stop', { textDocument });
    });

    test('nesl/cost', async () => {
      const { subject, text } = await ask<CostResult>('nesl/cost', { textDocument, position: { line: 1, character: 0 } });
      assert.notEqual(subject, '');
      assert.notEqual(text, '');
    });

    test('nesl/library', async () => {
      const { text } = await ask<{ text: string }>('nesl/library', { uri: 'nesl-library:/sequences.nesl' });
      assert.match(text, /function/);
    });

    test('nesl/status: after the start, and when the settings change', async () => {
      const first = await until(() => status[0]);
      assert.equal(first.runtime, 'cpu');
      assert.equal(first.precision, 64);
      assert.notEqual(first.version, '');
      assert.notEqual(first.device, '');
      await connection.sendNotification('workspace/didChangeConfiguration', {
        settings: { nesl: { ...options, runtime: 'reference' } },
      });
      await until(() => status.find(({ runtime }) => runtime === 'reference'));
    });

    test('a text that is broken keeps its last good state', async () => {
      await change(2, `${program}BROKEN in = ;\n`);
      const params = { textDocument, stage: 'flat', position: { line: 0, character: 30 } };
      const result = await ask<IrResult>('nesl/ir', params);
      // The function itself is whole: its form may be fresh, or of before.
      assert.notEqual(result.text, '');
      await change(3, 'function dot(a, b) = BROKEN in ;\n');
      const broken = await ask<IrResult>('nesl/ir', params);
      assert.equal(broken.stale, true);
      assert.notEqual(broken.text, '');
      assert.notEqual(broken.message ?? '', '');
    });
  });
}

function knowsLsp(program: string): string | undefined {
  const { status } = spawnSync(program, ['lsp', '--help'], { timeout: 10_000 });
  return status === 0 ? undefined : `${program} does not know \`lsp\` yet`;
}

async function within<T>(ms: number, what: string, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no answer within ${ms / 1000} s`)), ms);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

async function until<T>(found: () => T | undefined, ms = 20_000): Promise<T> {
  for (const end = Date.now() + ms; ; ) {
    const value = found();
    if (value !== undefined) return value;
    if (Date.now() > end) throw new Error('it did not come');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function isRange({ start, end }: Range): void {
  assert.ok(start.line < end.line || (start.line === end.line && start.character <= end.character));
}

/** Levels cut what is below them, and every component has as many data. */
function isSegmented(value: SegmentedValue): void {
  assert.notEqual(value.value, '');
  for (const { component, levels } of value.nested ?? []) {
    assert.equal(levels[0]!.lengths.length, value.data[component]!.length);
  }
  const counts = new Set(value.data.map((column) => column.length));
  assert.ok(counts.size <= 1, `${value.name}: components of different lengths`);
  const [count = 0] = counts;
  for (const [i, level] of value.levels.entries()) {
    assert.equal(level.starts.length, level.lengths.length);
    const below = value.levels[i + 1]?.lengths.length ?? count;
    level.starts.forEach((start, s) => assert.ok(start + level.lengths[s]! <= below, `${value.name}: level ${i} reaches beyond ${below}`));
  }
}
