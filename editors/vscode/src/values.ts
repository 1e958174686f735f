/**
 * Values of runs, drawn behind the lines they belong to.
 *
 * The server says what is to be seen (`nesl/values`); here it is drawn, and taken away the moment
 * its line is edited, before the server has heard of it. What the server says of an older state of
 * the text is moved along by the edits since then.
 */

import * as vscode from 'vscode';
import { duration } from './duration';
import { afterEdits, type Edit } from './edits';
import type { InlineValue, ValuesParams } from './protocol';
import type { Server } from './server';

interface Drawn {
  values: InlineValue[];
  running: boolean;
  run: number;
}

/** Edits that are kept, to bring what is said of older versions up to date. */
const REMEMBERED = 200;

export class Values implements vscode.Disposable {
  private readonly drawn = new Map<string, Drawn>();
  private readonly edits = new Map<string, { version: number; edits: Edit[] }[]>();
  /** One for value and time: two would be drawn in any order. */
  private readonly decoration = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
  });
  private readonly changed = new vscode.EventEmitter<string>();
  private readonly subscriptions: vscode.Disposable[];

  /** Says of which document (its URI) the values or the state of the run are others. */
  readonly onChange = this.changed.event;

  constructor(server: Server) {
    this.subscriptions = [
      server.onValues((params) => this.take(params)),
      server.onState((state) => {
        if (state !== 'running') this.clearAll();
      }),
      vscode.workspace.onDidChangeTextDocument((event) => this.edited(event)),
      vscode.workspace.onDidCloseTextDocument((document) => this.forget(document.uri.toString())),
      vscode.window.onDidChangeVisibleTextEditors(() => this.drawAll()),
    ];
  }

  isRunning(uri: string | undefined): boolean {
    return uri !== undefined && this.drawn.get(uri)?.running === true;
  }

  /** A run has begun that has said nothing yet. */
  began(uri: string, run: number): void {
    const before = this.drawn.get(uri);
    if (before !== undefined && before.run >= run) return;
    this.drawn.set(uri, { values: before?.values ?? [], running: true, run });
    this.changed.fire(uri);
  }

  clear(uri: string): void {
    const before = this.drawn.get(uri);
    if (before === undefined) return;
    this.drawn.set(uri, { ...before, values: [] });
    this.draw(uri);
  }

  dispose(): void {
    this.clearAll();
    vscode.Disposable.from(...this.subscriptions, this.decoration, this.changed).dispose();
  }

  private take(params: ValuesParams): void {
    const { uri, version } = params.textDocument;
    const since = (this.edits.get(uri) ?? []).filter((entry) => entry.version > version);
    const values = since.reduce((values, { edits }) => afterEdits(values, edits), params.values);
    this.drawn.set(uri, { values, running: params.state === 'running', run: params.run });
    this.draw(uri);
    this.changed.fire(uri);
  }

  private edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (document.languageId !== 'nesl' || contentChanges.length === 0) return;
    const uri = document.uri.toString();
    const edits = contentChanges.map(({ range, text }) => ({ range: plain(range), text }));
    const log = this.edits.get(uri) ?? [];
    log.push({ version: document.version, edits });
    this.edits.set(uri, log.slice(-REMEMBERED));
    const drawn = this.drawn.get(uri);
    if (drawn === undefined || drawn.values.length === 0) return;
    drawn.values = afterEdits(drawn.values, edits);
    this.draw(uri);
  }

  private forget(uri: string): void {
    this.drawn.delete(uri);
    this.edits.delete(uri);
    this.changed.fire(uri);
  }

  private clearAll(): void {
    const uris = [...this.drawn.keys()];
    this.drawn.clear();
    for (const uri of uris) {
      this.draw(uri);
      this.changed.fire(uri);
    }
  }

  private drawAll(): void {
    for (const uri of this.drawn.keys()) this.draw(uri);
  }

  private draw(uri: string): void {
    const all = this.drawn.get(uri)?.values ?? [];
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.toString() !== uri) continue;
      const { document } = editor;
      const there = all.filter((value) => value.position.line < document.lineCount);
      const place = (value: InlineValue) => document.lineAt(value.position.line).range.end;
      const options = (value: InlineValue): vscode.DecorationOptions => ({
        range: new vscode.Range(place(value), place(value)),
        hoverMessage: new vscode.MarkdownString(value.detail),
        renderOptions: {
          before: attachment(value.text, colorOf(value), '0 0 0 2ch'),
          ...(value.seconds > 0 && { after: attachment(duration(value.seconds), 'nesl.timeForeground', '0 0 0 1.5ch') }),
        },
      });
      editor.setDecorations(this.decoration, there.map(options));
    }
  }
}

function colorOf(value: InlineValue): string {
  // What runs is not there yet, and what is stale may not be true any more.
  if (value.stale === true || value.running === true) return 'nesl.valueStaleForeground';
  return value.error ? 'nesl.valueErrorForeground' : 'nesl.valueForeground';
}

function attachment(text: string, color: string, margin: string): vscode.ThemableDecorationAttachmentRenderOptions {
  return { contentText: unbroken(text), color: new vscode.ThemeColor(color), margin, fontStyle: 'normal' };
}

/** Blanks that are not drawn together. */
function unbroken(text: string): string {
  return text.replace(/\s/g, '\u00a0');
}

function plain(range: vscode.Range): Edit['range'] {
  const { start, end } = range;
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}
