/** The REPL: one terminal for all, to which selections are sent. */

import * as path from 'node:path';
import * as vscode from 'vscode';
import { terminated } from './forms';
import { formRange, neslEditor } from './run';
import type { Server } from './server';

export class Repl implements vscode.Disposable {
  private terminal: vscode.Terminal | undefined;
  private readonly subscription = vscode.window.onDidCloseTerminal((closed) => {
    if (closed === this.terminal) this.terminal = undefined;
  });

  constructor(private readonly server: Server) {}

  /** Shows the REPL, starting it if there is none; undefined without a program. */
  open(preserveFocus = false): vscode.Terminal | undefined {
    if (this.terminal === undefined || this.terminal.exitStatus !== undefined) {
      const found = this.server.binary();
      if (found.path === undefined) {
        void this.server.restart();
        return undefined;
      }
      const settings = vscode.workspace.getConfiguration('nesl');
      const runtime = ['--runtime', settings.get('runtime', 'cpu')];
      const precision = ['--precision', String(settings.get('precision', 64))];
      const file = neslEditor()?.document.uri;
      const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
      this.terminal = vscode.window.createTerminal({
        name: 'NESL',
        shellPath: found.path,
        shellArgs: [...runtime, ...precision],
        cwd: folder ?? (file?.scheme === 'file' ? path.dirname(file.fsPath) : undefined),
        iconPath: new vscode.ThemeIcon('layers'),
      });
    }
    this.terminal.show(preserveFocus);
    return this.terminal;
  }

  /** Sends the selection, or the form at the cursor, and moves on to the next form. */
  sendSelection(): void {
    const editor = neslEditor();
    const range = editor && formRange(editor);
    if (editor === undefined || range === undefined) return;
    const text = terminated(editor.document.getText(range));
    if (text !== '') this.open(true)?.sendText(text, true);
    if (editor.selection.isEmpty) {
      const next = editor.document.lineAt(Math.min(range.end.line + 1, editor.document.lineCount - 1));
      const at = next.range.start;
      editor.selection = new vscode.Selection(at, at);
      editor.revealRange(next.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }

  dispose(): void {
    this.subscription.dispose();
    this.terminal?.dispose();
  }
}
