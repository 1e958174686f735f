/** The library's own text, which the server has inside itself, as documents to read. */

import * as vscode from 'vscode';
import { method } from './protocol';
import type { Server } from './server';

export class Library implements vscode.TextDocumentContentProvider {
  static readonly scheme = 'nesl-library';

  constructor(private readonly server: Server) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const answer = await this.server.ask<{ text: string }>(method.library, { uri: uri.toString() });
    return answer?.text ?? '% The language server has no such document. %\n';
  }
}
