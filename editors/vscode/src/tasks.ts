/**
 * The tasks `nesl: run` and `nesl: check`, for the file in the editor or one that is named. They run where programs run
 * elsewhere, too: beside the files that they name.
 */

import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { taskPlace, type Source } from './folder';
import { neslEditor } from './run';
import type { Server } from './server';

interface Definition extends vscode.TaskDefinition {
  command: 'run' | 'check';
  file?: string;
  args?: string[];
}

export class Tasks implements vscode.TaskProvider {
  constructor(private readonly server: Server) {}

  provideTasks(): vscode.Task[] {
    return (['run', 'check'] as const).map((command) => this.task({ type: 'nesl', command }));
  }

  resolveTask(task: vscode.Task): vscode.Task {
    return this.task(task.definition as Definition, task.scope);
  }

  private task(definition: Definition, scope?: vscode.WorkspaceFolder | vscode.TaskScope): vscode.Task {
    const { command, args = [] } = definition;
    const { file, cwd } = this.place(definition.file, scope);
    // Without a program the shell says so, and its name is what one would look for.
    const program = this.server.binary().path ?? 'nesl';
    const execution = new vscode.ShellExecution(program, [command, ...args, file], cwd === undefined ? {} : { cwd });
    const name = definition.file === undefined ? command : `${command} ${path.basename(definition.file)}`;
    const task = new vscode.Task(definition, scope ?? vscode.TaskScope.Workspace, name, 'nesl', execution, '$nesl');
    task.group = command === 'check' ? vscode.TaskGroup.Build : vscode.TaskGroup.Test;
    task.presentationOptions = { clear: true, focus: false };
    return task;
  }

  private place(named: string | undefined, scope: vscode.WorkspaceFolder | vscode.TaskScope | undefined) {
    const open = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const own = typeof scope === 'object' ? scope.uri.fsPath : open.find((root) => named !== undefined && existsSync(path.join(root, named)));
    const document = neslEditor()?.document;
    const active: Source | undefined =
      document?.uri.scheme === 'file' ? { file: document.uri.fsPath, text: document.getText() } : undefined;
    return taskPlace(named, own ?? open[0], active, open, textOf, existsSync);
  }
}

/** The text of a file, as it is in its editor if it is open; none if it cannot be read. */
function textOf(file: string): string {
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === file);
  if (open !== undefined) return open.getText();
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
