/**
 * The first step of the walkthrough, which is done when the server runs. VS Code looks at such a condition when it
 * changes, and only from when the page of walkthroughs was first opened: a server that runs by then would never be
 * seen. So there is a second condition, which becomes true when the page is open.
 */

import * as vscode from 'vscode';
import type { Server } from './server';

/** The time that the page takes to hear of the steps of extensions, in milliseconds. */
const LISTENS_MS = 1000;

export class Walkthrough implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private seen = false;

  constructor(private readonly server: Server) {
    this.subscriptions = [
      vscode.window.tabGroups.onDidChangeTabs(() => this.later()),
      server.onState(() => this.later()),
    ];
    this.later();
  }

  private later(): void {
    clearTimeout(this.timer);
    if (!this.seen) this.timer = setTimeout(() => this.look(), LISTENS_MS);
  }

  private look(): void {
    // Extensions are not told what the page of walkthroughs is: it is of no kind that they know.
    const open = vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(({ input }) => input === undefined));
    if (!open || this.server.state !== 'running') return;
    this.seen = true;
    void vscode.commands.executeCommand('setContext', 'nesl.serverSeen', true);
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
