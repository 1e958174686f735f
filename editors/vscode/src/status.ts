/** The status bar: what programs run on, whether one runs; a click changes it. */

import * as vscode from 'vscode';
import type { StatusParams } from './protocol';
import { neslEditor } from './run';
import type { Server } from './server';
import type { Values } from './values';

interface Choice extends vscode.QuickPickItem {
  setting?: { key: string; value: unknown };
  command?: string;
}

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('nesl.status', vscode.StatusBarAlignment.Right, 90);
  private told: StatusParams | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly values: Values,
  ) {
    this.item.name = 'NESL';
    this.subscriptions = [
      server.onStatus((params) => {
        this.told = params;
        this.update();
      }),
      server.onState(() => this.update()),
      values.onChange(() => this.update()),
      vscode.window.onDidChangeActiveTextEditor(() => this.update()),
    ];
    this.update();
  }

  /** Lets a person choose runtime, precision, or what to do with the server. */
  async select(): Promise<void> {
    const settings = vscode.workspace.getConfiguration('nesl');
    const runtime = settings.get('runtime', 'cpu');
    const precision = settings.get('precision', 64);
    const runtimes: [string, string][] = [
      ['cpu', 'compiled, on all cores'],
      ['ptx', 'compiled, on an NVIDIA GPU; what it cannot execute on the CPU'],
      ['reference', 'the direct interpreter: what a program means'],
      ['kir', 'the interpreter of kernels: slow, checks everything'],
    ];
    if (!runtimes.some(([name]) => name === runtime)) runtimes.push([runtime, 'from the settings']);
    const choices: Choice[] = [
      separator('Runtime'),
      ...runtimes.map(([name, what]) => ({
        label: `${mark(name === runtime)}${name}`,
        description: this.told?.runtime === name ? `${what} · ${this.told.device}` : what,
        setting: { key: 'runtime', value: name },
      })),
      separator('Bits of a number'),
      ...[64, 32].map((bits) => ({
        label: `${mark(bits === precision)}${bits}`,
        setting: { key: 'precision', value: bits },
      })),
      separator('Server'),
      { label: '$(debug-restart) Restart', command: 'nesl.restart' },
      { label: '$(output) Show log', command: 'nesl.showLog' },
      { label: '$(folder-opened) Choose the program…', command: 'nesl.chooseServer' },
    ];
    const picked = await vscode.window.showQuickPick(choices, {
      title: this.told === undefined ? 'NESL' : `NESL ${this.told.version}`,
      placeHolder: 'What programs run on',
    });
    if (picked?.setting !== undefined) await update(settings, picked.setting.key, picked.setting.value);
    if (picked?.command !== undefined) await vscode.commands.executeCommand(picked.command);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions, this.item).dispose();
  }

  private update(): void {
    const uri = neslEditor()?.document.uri.toString();
    if (uri === undefined) {
      this.item.hide();
      return;
    }
    this.item.command = 'nesl.selectRuntime';
    this.item.backgroundColor = undefined;
    switch (this.server.state) {
      case 'starting':
        this.item.text = '$(loading~spin) NESL';
        this.item.tooltip = 'The language server starts';
        break;
      case 'stopped':
      case 'missing':
        this.item.text = `$(warning) NESL: ${this.server.state === 'missing' ? 'no program' : 'stopped'}`;
        this.item.tooltip = 'Click to choose the program, restart the server or see its log';
        this.item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
        break;
      case 'running':
        this.showRunning(uri);
        break;
    }
    this.item.show();
  }

  private showRunning(uri: string): void {
    const told = this.told;
    const what = told === undefined ? 'NESL' : `NESL ${told.runtime}${told.precision === 32 ? ' · 32 bit' : ''}`;
    if (this.values.isRunning(uri)) {
      this.item.text = `$(loading~spin) ${what}`;
      this.item.tooltip = 'A program runs. Click to stop it.';
      this.item.command = 'nesl.stopRun';
      return;
    }
    this.item.text = `$(layers) ${what}`;
    const tooltip = new vscode.MarkdownString(undefined, true);
    if (told !== undefined) {
      tooltip.appendMarkdown(`**NESL** ${told.version}\n\n`);
      tooltip.appendMarkdown(`$(server) ${told.runtime} · ${told.device}\n\n`);
      tooltip.appendMarkdown(`$(symbol-numeric) ${told.precision}-bit numbers\n\n`);
    }
    const program = this.server.binary().path;
    if (program !== undefined) tooltip.appendMarkdown(`$(file-binary) \`${program}\`\n\n`);
    tooltip.appendMarkdown('Click to choose another');
    this.item.tooltip = tooltip;
  }
}

function separator(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

function mark(chosen: boolean): string {
  return chosen ? '$(check) ' : '$(blank) ';
}

/** Where the setting is made already, it is made again; else for the person. */
async function update(settings: vscode.WorkspaceConfiguration, key: string, value: unknown): Promise<void> {
  const here = settings.inspect(key)?.workspaceValue !== undefined;
  const target = here ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await settings.update(key, value, target);
}
