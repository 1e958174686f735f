/**
 * REPLs: a terminal for each file, to which selections are sent. It begins with what the file
 * defines, and reads it again when something is sent that may need a definition of since then.
 */

import { existsSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { terminated } from './forms';
import { runFolder } from './folder';
import { Known } from './known';
import { formRange, neslEditor } from './run';
import type { Server } from './server';

interface Session {
  terminal: vscode.Terminal;
  known: Known;
}

/** The key of the REPL that belongs to no file. */
const NO_FILE = '';

export class Repl implements vscode.Disposable {
  private readonly sessions = new Map<string, Session>();
  /** What was asked for last: one thing after the other, in the order of the keys. */
  private last: Promise<unknown> = Promise.resolve();
  private readonly subscription = vscode.window.onDidCloseTerminal((closed) => {
    for (const [key, { terminal }] of this.sessions) {
      if (terminal === closed) this.sessions.delete(key);
    }
  });

  /** Texts that are in no file are copied to a file in `storage`. */
  constructor(
    private readonly server: Server,
    private readonly storage: vscode.Uri,
  ) {}

  /** Shows the REPL of the file in the editor, starting it if there is none. */
  open(): Promise<void> {
    const document = neslEditor()?.document;
    return this.afterwards(async () => (await this.session(document))?.terminal.show());
  }

  /** Begins anew with what the file defines now. */
  restart(): Promise<void> {
    const document = neslEditor()?.document;
    const key = document?.uri.toString() ?? NO_FILE;
    return this.afterwards(async () => {
      this.sessions.get(key)?.terminal.dispose();
      this.sessions.delete(key);
      (await this.session(document))?.terminal.show(true);
    });
  }

  /** Sends the selection, or the form at the cursor, and moves on to the next form. */
  async sendSelection(): Promise<void> {
    const editor = neslEditor();
    const range = editor && formRange(editor);
    if (editor === undefined || range === undefined) return;
    const { document } = editor;
    const text = terminated(document.getText(range));
    if (editor.selection.isEmpty) {
      const next = document.lineAt(Math.min(range.end.line + 1, document.lineCount - 1));
      const at = next.range.start;
      editor.selection = new vscode.Selection(at, at);
      editor.revealRange(next.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
    if (text !== '') await this.afterwards(() => this.send(document, text));
  }

  private async send(document: vscode.TextDocument, text: string): Promise<void> {
    const there = this.sessions.get(document.uri.toString());
    const session = await this.session(document, text);
    if (session === undefined) return;
    const { terminal, known } = session;
    terminal.show(true);
    if (session !== there) {
      // It has begun with the text: what is written to a terminal before somebody reads from it is
      // echoed above everything else.
      known.sent(text);
      return;
    }
    const behind = known.lacks(document.getText(), text);
    if (behind) {
      await this.saved(document);
      known.read(document.getText());
    }
    known.sent(text);
    // In one piece, several lines as if they were pasted: what arrives while another entry is being
    // taken may be lost.
    const entry = behind ? `:reload ${text}` : text;
    terminal.sendText(behind && text.includes('\n') ? `\x1b[200~${entry}\x1b[201~` : entry, true);
  }

  private afterwards(work: () => Promise<void>): Promise<void> {
    const mine = this.last.then(work);
    this.last = mine.catch((error: unknown) => this.server.log.error(`REPL: ${String(error)}`));
    return mine;
  }

  /**
   * The REPL of a document; undefined without a program. If there is none it is started, and begins
   * with what should be entered first.
   */
  private async session(document: vscode.TextDocument | undefined, first?: string): Promise<Session | undefined> {
    const key = document?.uri.toString() ?? NO_FILE;
    const there = this.sessions.get(key);
    if (there !== undefined && there.terminal.exitStatus === undefined) return there;
    const found = this.server.binary();
    if (found.path === undefined) {
      void this.server.restart();
      return undefined;
    }
    const file = document && (await this.saved(document));
    const settings = vscode.workspace.getConfiguration('nesl');
    const runtime = ['--runtime', settings.get('runtime', 'cpu')];
    const precision = ['--precision', String(settings.get('precision', 64))];
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const cwd = document?.uri.scheme === 'file' ? runFolder(document.uri.fsPath, document.getText(), folders, existsSync) : folders[0];
    const terminal = vscode.window.createTerminal({
      name: document ? `NESL: ${path.basename(document.uri.path)}` : 'NESL',
      shellPath: found.path,
      shellArgs: ['repl', ...runtime, ...precision, ...(first === undefined ? [] : [`--first=${first}`]), ...(file === undefined ? [] : [file])],
      cwd,
      iconPath: new vscode.ThemeIcon('layers'),
    });
    const session = { terminal, known: new Known() };
    if (document !== undefined) session.known.read(document.getText());
    this.sessions.set(key, session);
    return session;
  }

  /** A file with the text of a document. */
  private async saved(document: vscode.TextDocument): Promise<string | undefined> {
    if (document.uri.scheme === 'file') {
      // One that cannot be saved is read as it is.
      if (document.isDirty) await document.save();
      return document.uri.fsPath;
    }
    const name = `${path.basename(document.uri.path, '.nesl')}.nesl`;
    const copy = vscode.Uri.joinPath(this.storage, 'repl', name);
    try {
      await vscode.workspace.fs.writeFile(copy, Buffer.from(document.getText()));
    } catch (error) {
      this.server.log.warn(`cannot copy ${name} for the REPL: ${String(error)}`);
      return undefined;
    }
    return copy.fsPath;
  }

  dispose(): void {
    this.subscription.dispose();
    for (const { terminal } of this.sessions.values()) terminal.dispose();
  }
}
