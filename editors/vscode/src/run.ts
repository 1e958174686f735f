/**
 * Running things: a file, a form, a function with arguments. The server runs them in a process of
 * its own and the values come as notifications (`values.ts`), so nothing here waits.
 */

import * as vscode from 'vscode';
import { formAt } from './forms';
import { method, type RunFunctionArgument, type RunParams, type RunResult, type ValuesParams } from './protocol';
import type { Server } from './server';
import type { Values } from './values';

export class Runner implements vscode.Disposable {
  private readonly output = vscode.window.createOutputChannel('NESL Output');
  private readonly printed = new Map<string, { run: number; output: string }>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly values: Values,
    private readonly memory: vscode.Memento,
  ) {
    this.subscriptions = [
      server.onValues((params) => this.print(params)),
      // Lenses of the server run `nesl.run` without us.
      server.onCommand(([command, args, answer]) => {
        const params = args[0] as RunParams | undefined;
        if (command === 'nesl.run' && params?.textDocument !== undefined) {
          this.began(params.textDocument.uri, answer as RunResult | null);
        }
      }),
      values.onChange(() => this.updateContext()),
      vscode.window.onDidChangeActiveTextEditor(() => this.updateContext()),
    ];
  }

  async runFile(): Promise<void> {
    const editor = neslEditor();
    if (editor !== undefined) await this.run({ textDocument: id(editor) });
  }

  /** Runs the selection, or the form at the cursor; of a function it asks for the arguments. */
  async runForm(): Promise<void> {
    const editor = neslEditor();
    if (editor === undefined) return;
    const range = formRange(editor);
    if (range === undefined) return;
    const called = editor.selection.isEmpty ? await calledAt(editor.document, range) : undefined;
    if (called !== undefined) await this.runFunction(called);
    else await this.run({ textDocument: id(editor), range });
  }

  /** Asks for a function's arguments, beginning with the last ones, and runs the call. */
  async runFunction(argument: RunFunctionArgument): Promise<void> {
    const key = `arguments:${argument.textDocument.uri}:${argument.name.toLowerCase()}`;
    const given = await vscode.window.showInputBox({
      title: `Run ${argument.name}${argument.parameters ?? ''}`,
      prompt: argument.type === '' ? 'Its arguments, as in a call' : `${argument.name} : ${argument.type}`,
      placeHolder: '[1, 2, 3], 4',
      value: this.memory.get<string>(key, ''),
      ignoreFocusOut: true,
      validateInput: (text) => (text.trim() === '' ? 'A call has an argument.' : undefined),
    });
    if (given === undefined) return;
    await this.memory.update(key, given);
    await this.run({
      textDocument: argument.textDocument,
      expression: `${argument.name}(${given.trim()})`,
      position: argument.position,
    });
  }

  async stop(): Promise<void> {
    const editor = neslEditor();
    if (editor !== undefined) await this.server.demand(method.stop, { textDocument: id(editor) });
  }

  clearValues(): void {
    const editor = neslEditor();
    if (editor !== undefined) this.values.clear(editor.document.uri.toString());
  }

  showOutput(): void {
    this.output.show(true);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions, this.output).dispose();
  }

  private async run(params: RunParams): Promise<void> {
    this.began(params.textDocument.uri, await this.server.demand<RunResult>(method.run, params));
  }

  private began(uri: string, result: RunResult | null | undefined): void {
    if (result !== null && result !== undefined) this.values.began(uri, result.run);
  }

  /** Shows what came since the last time; a new run begins on an empty page. */
  private print({ textDocument: { uri }, run, output }: ValuesParams): void {
    const before = this.printed.get(uri);
    const same = before?.run === run && output.startsWith(before.output);
    const shown = same ? before.output : '';
    if (output === shown) return;
    if (!same) this.output.clear();
    this.output.append(output.slice(shown.length));
    this.printed.set(uri, { run, output });
    const reveal = vscode.workspace.getConfiguration('nesl').get('output.reveal', true);
    if (shown === '' && reveal) this.output.show(true);
  }

  private updateContext(): void {
    const uri = neslEditor()?.document.uri.toString();
    void vscode.commands.executeCommand('setContext', 'nesl.running', this.values.isRunning(uri));
  }
}

/** The editor that commands speak of: the active one, if its text is NESL. */
export function neslEditor(): vscode.TextEditor | undefined {
  const active = vscode.window.activeTextEditor;
  if (active !== undefined) return active.document.languageId === 'nesl' ? active : undefined;
  // A panel has the focus: the text beside it is meant.
  const beside = vscode.window.visibleTextEditors.filter((editor) => editor.document.languageId === 'nesl');
  return beside.length === 1 ? beside[0] : undefined;
}

/** What the lens of a function runs, if a form is one. */
async function calledAt(document: vscode.TextDocument, form: vscode.Range): Promise<RunFunctionArgument | undefined> {
  if (!/^function\b/i.test(document.getText(form))) return undefined;
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[] | undefined>('vscode.executeCodeLensProvider', document.uri);
  const run = lenses?.find(({ command, range }) => command?.command === 'nesl.runFunction' && form.contains(range.start));
  return run?.command?.arguments?.[0] as RunFunctionArgument | undefined;
}

/** The selection, or the form that the cursor is in. */
export function formRange(editor: vscode.TextEditor): vscode.Range | undefined {
  const { document, selection } = editor;
  if (!selection.isEmpty) return selection;
  const form = formAt(document.getText(), document.offsetAt(selection.active));
  if (form === undefined) return undefined;
  return new vscode.Range(document.positionAt(form.start), document.positionAt(form.end));
}

function id(editor: vscode.TextEditor): { uri: string } {
  return { uri: editor.document.uri.toString() };
}
