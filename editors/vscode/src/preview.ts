/**
 * "NESL: Show IR": a panel beside the text that shows what the form at the cursor becomes.
 *
 * Here is what the panel follows (which document, which cursor) and what it asks the server; how
 * things look is the page's own business (`webview/`). An answer that comes too late is dropped;
 * while the text is broken the server sends the last good state, marked stale.
 */

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { formAt } from './forms';
import { COST, SEGMENTS, type FromPage, type ToPage } from './messages';
import { method, type CostResult, type IrResult, type Range, type SegmentsResult, type ShowIrArgument, type Stage } from './protocol';
import { neslEditor } from './run';
import type { Server } from './server';

const TYPE = 'nesl.preview';

/** How long to wait for the next key before asking, in ms. */
const WAIT = { edit: 150, cursor: 70 };

const EXTRA: Stage[] = [
  { id: SEGMENTS, title: 'Segments', hint: 'How flattening sees it: nested values as segments over flat data', preview: true },
  { id: COST, title: 'Cost', hint: 'Work and depth, measured', preview: true },
];

interface Target {
  document: vscode.TextDocument;
  position: vscode.Position;
}

export class Preview implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private target: Target | undefined;
  private selected = 'flat';
  private follow: boolean;
  private whole = false;
  private ready = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: vscode.CancellationTokenSource | undefined;
  /** What was measured last, for a panel that opens because of it. */
  private cost: CostResult | undefined;
  /** What was asked last: moving within a form asks nothing new. */
  private asked = '';
  private readonly source = vscode.window.createTextEditorDecorationType({
    backgroundColor: new vscode.ThemeColor('nesl.sourceBackground'),
    borderRadius: '2px',
    overviewRulerColor: new vscode.ThemeColor('nesl.sourceBackground'),
  });
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly context: vscode.ExtensionContext,
  ) {
    this.follow = vscode.workspace.getConfiguration('nesl').get('preview.follow', true);
    this.subscriptions = [
      vscode.window.registerWebviewPanelSerializer(TYPE, {
        deserializeWebviewPanel: async (panel, state: unknown) => {
          const stage = (state as { selected?: unknown } | undefined)?.selected;
          if (typeof stage === 'string') this.selected = stage;
          this.adopt(panel);
        },
      }),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        if (editor?.document.languageId === 'nesl') this.moved(editor, WAIT.cursor);
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor.document.languageId === 'nesl') this.moved(textEditor, WAIT.cursor);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === this.target?.document) this.schedule(WAIT.edit);
      }),
      server.onState((state) => {
        this.asked = '';
        if (state === 'running') this.sendTabs();
        this.schedule(0);
      }),
      server.onCommand(([command, , answer]) => {
        if (command === 'nesl.cost' && answer) this.showCost(answer as CostResult);
      }),
    ];
  }

  /** Opens the panel, or brings it to the front; a lens says for which form. */
  show(argument?: ShowIrArgument): void {
    const given = argument?.textDocument === undefined ? undefined : argument;
    const editor = given
      ? vscode.window.visibleTextEditors.find((one) => one.document.uri.toString() === given.textDocument.uri)
      : neslEditor();
    if (editor !== undefined) {
      const at = given?.position;
      const position = at ? new vscode.Position(at.line, at.character) : editor.selection.active;
      // The cursor goes along, or the first movement would show something else.
      if (at !== undefined && this.follow) editor.selection = new vscode.Selection(position, position);
      this.target = { document: editor.document, position };
    }
    if (given?.stage !== undefined) this.selected = given.stage;
    if (this.panel === undefined) {
      const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      this.adopt(vscode.window.createWebviewPanel(TYPE, 'NESL', place, { enableFindWidget: true }));
    } else {
      this.panel.reveal(undefined, true);
      this.sendTabs();
    }
    this.schedule(0);
  }

  showTab(tab: string): void {
    this.selected = tab;
    this.asked = '';
    this.show();
  }

  dispose(): void {
    this.asking?.cancel();
    clearTimeout(this.timer);
    this.panel?.dispose();
    vscode.Disposable.from(...this.subscriptions, this.source).dispose();
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.panel?.dispose();
    this.panel = panel;
    this.ready = false;
    this.asked = '';
    this.target ??= targetOf(neslEditor());
    const root = this.context.extensionUri;
    panel.iconPath = vscode.Uri.joinPath(root, 'images', 'file.svg');
    panel.webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(root, 'media'), vscode.Uri.joinPath(root, 'dist')],
    };
    panel.webview.onDidReceiveMessage((message: FromPage) => this.heard(message));
    panel.onDidChangeViewState(() => this.schedule(0));
    panel.onDidDispose(() => {
      if (this.panel !== panel) return;
      this.panel = undefined;
      this.asking?.cancel();
      this.highlight(undefined);
    });
    panel.webview.html = page(panel.webview, root);
  }

  private heard(message: FromPage): void {
    switch (message.type) {
      case 'ready':
        this.ready = true;
        this.asked = '';
        this.sendTabs();
        if (this.selected === COST && this.cost !== undefined) this.send({ type: 'cost', result: this.cost });
        this.schedule(0);
        break;
      case 'select':
        this.selected = message.stage;
        this.asked = '';
        this.schedule(0);
        break;
      case 'follow':
        this.follow = message.follow;
        this.target = (this.follow ? targetOf(neslEditor()) : undefined) ?? this.target;
        this.schedule(0);
        break;
      case 'whole':
        this.whole = message.whole;
        this.asked = '';
        this.schedule(0);
        break;
      case 'reveal':
        this.highlight(message.range, message.go);
        break;
      case 'measure':
        void this.measure();
        break;
    }
  }

  private moved(editor: vscode.TextEditor, wait: number): void {
    if (this.panel === undefined) return;
    this.highlight(undefined);
    if (!this.follow && this.target !== undefined) return;
    this.target = targetOf(editor);
    this.send({ type: 'cursor', position: editor.selection.active });
    this.schedule(wait);
  }

  private schedule(wait: number): void {
    clearTimeout(this.timer);
    if (this.panel?.visible !== true || !this.ready) return;
    this.timer = setTimeout(() => void this.update(), wait);
  }

  private async update(): Promise<void> {
    const { target, selected } = this;
    if (this.panel === undefined || selected === COST) return;
    if (target === undefined) return this.sendNothing('Open a NESL file and put the cursor on a form.');
    if (this.server.state !== 'running') return this.sendNothing(waiting(this.server.state));
    const key = this.question(target);
    if (key === this.asked) return;
    this.asked = key;
    this.asking?.cancel();
    const asking = (this.asking = new vscode.CancellationTokenSource());
    const slow = setTimeout(() => this.send({ type: 'busy', busy: true }), 300);
    try {
      await this.ask(target, asking.token);
    } finally {
      clearTimeout(slow);
      asking.dispose();
      if (this.asking === asking) {
        this.asking = undefined;
        this.send({ type: 'busy', busy: false });
      }
    }
  }

  private async ask({ document, position }: Target, token: vscode.CancellationToken): Promise<void> {
    const textDocument = { uri: document.uri.toString() };
    const stage = this.selected;
    if (stage === SEGMENTS) {
      const result = await this.server.ask<SegmentsResult>(method.segments, { textDocument, position }, token);
      if (token.isCancellationRequested) return;
      if (result === undefined) this.sendNothing('There is nothing to draw here.');
      else this.send({ type: 'segments', result });
    } else {
      const params = { textDocument, stage, ...(this.whole ? {} : { position }) };
      const result = await this.server.ask<IrResult>(method.ir, params, token);
      if (token.isCancellationRequested) return;
      if (result === undefined) this.sendNothing('There is nothing to show here.');
      else this.send({ type: 'ir', stage, result });
    }
    this.send({ type: 'cursor', position });
  }

  /** What distinguishes one question from another. */
  private question({ document, position }: Target): string {
    let place = '';
    if (this.selected === SEGMENTS) place = `${position.line}:${position.character}`;
    else if (!this.whole) place = String(formAt(document.getText(), document.offsetAt(position))?.start);
    return [document.uri.toString(), document.version, this.selected, place].join(' ');
  }

  private async measure(): Promise<void> {
    const target = this.target;
    if (target === undefined) return;
    this.send({ type: 'busy', busy: true });
    const result = await this.server.demand<CostResult>(method.cost, {
      textDocument: { uri: target.document.uri.toString() },
      position: target.position,
    });
    this.send({ type: 'busy', busy: false });
    this.send({ type: 'cost', result, ...(result ? {} : { message: 'Nothing could be measured here.' }) });
  }

  private showCost(result: CostResult): void {
    this.cost = result;
    // The lens and the hover show it from now on; a panel is not opened for it, but a reason is said.
    if (this.panel === undefined) {
      if (result.measured === false) void vscode.window.showInformationMessage(`${result.subject}: ${result.text}`);
      return;
    }
    this.selected = COST;
    this.show();
    this.send({ type: 'cost', result });
  }

  private highlight(range: Range | undefined, go = false): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document !== this.target?.document || range === undefined) {
        editor.setDecorations(this.source, []);
        continue;
      }
      const { start, end } = range;
      const place = new vscode.Range(start.line, start.character, end.line, end.character);
      editor.setDecorations(this.source, [place]);
      editor.revealRange(place, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      if (go) void vscode.window.showTextDocument(editor.document, { viewColumn: editor.viewColumn, selection: place });
    }
  }

  private sendTabs(): void {
    const tabs = [...this.server.stages, ...EXTRA];
    if (!tabs.some((tab) => tab.id === this.selected)) this.selected = 'flat';
    this.send({ type: 'tabs', tabs, selected: this.selected, follow: this.follow, whole: this.whole });
  }

  private sendNothing(message: string): void {
    this.send({ type: 'nothing', stage: this.selected, message });
  }

  private send(message: ToPage): void {
    if (this.ready) void this.panel?.webview.postMessage(message);
  }
}

function targetOf(editor: vscode.TextEditor | undefined): Target | undefined {
  return editor && { document: editor.document, position: editor.selection.active };
}

function waiting(state: Server['state']): string {
  return state === 'starting' ? 'The language server starts…' : 'The language server is not running.';
}

function page(webview: vscode.Webview, root: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64url');
  const uri = (...parts: string[]) => webview.asWebviewUri(vscode.Uri.joinPath(root, ...parts)).toString();
  const policy = [
    `default-src 'none'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${uri('media', 'preview.css')}">
<title>NESL</title>
</head>
<body>
<header>
  <div id="heading">
    <span id="subject"></span>
    <span id="summary" hidden></span>
    <span id="busy" role="status" hidden>…</span>
    <span class="space"></span>
    <button id="whole" class="toggle" aria-pressed="false" title="Show all forms of the file">Whole file</button>
    <button id="follow" class="toggle" aria-pressed="true" title="Follow the cursor">Follow</button>
  </div>
  <div id="tabs" role="tablist" aria-label="Stages"></div>
</header>
<div id="message" role="status" hidden></div>
<main id="panel" role="tabpanel" tabindex="-1"></main>
<script nonce="${nonce}" src="${uri('dist', 'preview.js')}"></script>
</body>
</html>`;
}
