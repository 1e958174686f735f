/**
 * Wiring: makes the parts, hands them to each other, and names their commands. What anything does
 * stands in the file that is called after it.
 */

import * as vscode from 'vscode';
import { openExample } from './examples';
import { Library } from './library';
import { Preview } from './preview';
import type { RunFunctionArgument, ShowIrArgument } from './protocol';
import { Repl } from './repl';
import { Runner } from './run';
import { Server } from './server';
import { Status } from './status';
import { Tasks } from './tasks';
import { Values } from './values';
import { Walkthrough } from './walkthrough';

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  server = new Server(context);
  const here = server;
  const values = new Values(here);
  const runner = new Runner(here, values, context.workspaceState);
  const repl = new Repl(here, context.globalStorageUri);
  const status = new Status(here, values);
  const preview = new Preview(here, context);

  const commands: Record<string, (...args: never[]) => unknown> = {
    'nesl.runFile': () => runner.runFile(),
    'nesl.runForm': () => runner.runForm(),
    'nesl.runFunction': (argument: RunFunctionArgument) => runner.runFunction(argument),
    'nesl.stopRun': () => runner.stop(),
    'nesl.clearValues': () => runner.clearValues(),
    'nesl.showOutput': () => runner.showOutput(),
    'nesl.runSelection': () => repl.sendSelection(),
    'nesl.openRepl': () => repl.open(),
    'nesl.restartRepl': () => repl.restart(),
    'nesl.showIr': (argument?: ShowIrArgument) => preview.show(argument),
    'nesl.showSegments': () => preview.showTab('segments'),
    'nesl.showCost': () => preview.showTab('cost'),
    'nesl.selectRuntime': () => status.select(),
    'nesl.restart': () => here.restart(),
    'nesl.showLog': () => here.log.show(),
    'nesl.chooseServer': () => here.chooseBinary(),
    'nesl.openExample': (name?: unknown) => openExample(context.extensionUri, name),
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
  context.subscriptions.push(
    values,
    runner,
    repl,
    status,
    preview,
    new Walkthrough(here),
    vscode.tasks.registerTaskProvider('nesl', new Tasks(here)),
    vscode.workspace.registerTextDocumentContentProvider(Library.scheme, new Library(here)),
  );
  void here.start();
}

export function deactivate(): Thenable<void> | undefined {
  return server?.stop();
}
