/** The tasks `nesl: run` and `nesl: check`, for the file in the editor or one that is named. */

import * as path from 'node:path';
import * as vscode from 'vscode';
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
    const { command, file = '${file}', args = [] } = definition;
    // Without a program the shell says so, and its name is what one would look for.
    const program = this.server.binary().path ?? 'nesl';
    const execution = new vscode.ShellExecution(program, [command, ...args, file]);
    const name = definition.file === undefined ? command : `${command} ${path.basename(definition.file)}`;
    const task = new vscode.Task(definition, scope ?? vscode.TaskScope.Workspace, name, 'nesl', execution, '$nesl');
    task.group = command === 'check' ? vscode.TaskGroup.Build : vscode.TaskGroup.Test;
    task.presentationOptions = { clear: true, focus: false };
    return task;
  }
}
