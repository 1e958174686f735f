/**
 * The language server as the extension sees it: found, started, told the settings, asked things,
 * and, when it dies, mourned once with a way out.
 *
 * Everything else in the extension goes through `Server`: nobody else holds the client, so nobody
 * is surprised when it is another after a restart.
 */

import { execFile } from 'node:child_process';
import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
} from 'vscode-languageclient/node';
import { findBinary, placesHere } from './binary';
import { method, type Options, type SelectionParams, type Stage, type StatusParams, type ValuesParams } from './protocol';
import { request } from './request';

/** A server that ends again within this time, in ms, is not started again by itself. */
const RESTART_INTERVAL = 3 * 60_000;

export type ServerState = 'starting' | 'running' | 'stopped' | 'missing';

/** Answers a command that the server has and a lens ran: see `run.ts` and `preview.ts`. */
export type CommandListener = (command: string, args: unknown[], answer: unknown) => void;

const SELECTOR = [
  { language: 'nesl', scheme: 'file' },
  { language: 'nesl', scheme: 'untitled' },
  // Cells of notebooks; the library sends them by the notebook, so that each sees those above it.
  { language: 'nesl', scheme: 'vscode-notebook-cell' },
];

export class Server implements vscode.Disposable {
  readonly log: vscode.LogOutputChannel;
  private client: LanguageClient | undefined;
  private current: ServerState = 'stopped';
  /** The last time at which the server ended by itself, in ms. */
  private died = -Infinity;
  /** Counts starts: what a server of before still says is not listened to. */
  private generation = 0;
  private readonly stateChanged = new vscode.EventEmitter<ServerState>();
  private readonly valuesCame = new vscode.EventEmitter<ValuesParams>();
  private readonly statusCame = new vscode.EventEmitter<StatusParams>();
  private readonly commandRan = new vscode.EventEmitter<Parameters<CommandListener>>();

  readonly onState = this.stateChanged.event;
  readonly onValues = this.valuesCame.event;
  readonly onStatus = this.statusCame.event;
  readonly onCommand = this.commandRan.event;

  constructor(private readonly context: vscode.ExtensionContext) {
    this.log = vscode.window.createOutputChannel('NESL Language Server', { log: true });
    context.subscriptions.push(
      this.log,
      vscode.workspace.onDidChangeConfiguration((event) => this.settingsChanged(event)),
    );
  }

  get state(): ServerState {
    return this.current;
  }

  /** The stages of the compiler that the server shows in a preview. */
  get stages(): readonly Stage[] {
    const told: unknown = this.client?.initializeResult?.capabilities.experimental?.stages;
    if (!Array.isArray(told)) return [];
    const stages = told.filter((stage): stage is Stage => typeof stage?.id === 'string' && typeof stage?.title === 'string');
    return stages.filter((stage) => stage.preview);
  }

  /** The program, or undefined and why. */
  binary(): ReturnType<typeof findBinary> {
    const setting = vscode.workspace.getConfiguration('nesl').get<string>('server.path', '');
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    return findBinary(placesHere(setting, this.context.extensionPath, folder));
  }

  async start(): Promise<void> {
    const generation = ++this.generation;
    const found = this.binary();
    if (found.path === undefined) {
      this.become('missing');
      void this.sayMissing(found.problem);
      return;
    }
    this.log.info(`starting ${found.path} lsp (found: ${found.from})`);
    this.become('starting');
    const client = this.makeClient(found.path, generation);
    this.client = client;
    try {
      await client.start();
      if (generation !== this.generation) {
        // Somebody stopped it while it started; it could not be told then.
        await client.stop(2000).catch(() => undefined);
        return;
      }
      this.become('running');
    } catch (error) {
      if (generation !== this.generation) return;
      this.log.error(String(error));
      this.become('stopped');
      void this.sayFailed(found.path);
    }
  }

  async stop(): Promise<void> {
    this.generation++;
    const client = this.client;
    this.client = undefined;
    this.become('stopped');
    // One that never ran or is dead refuses to stop; that is as good.
    await client?.stop(2000).catch(() => undefined);
    await client?.dispose().catch(() => undefined);
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Asks; undefined if there is no server, the question was cancelled, or it fails (see the log). */
  async ask<Answer>(name: string, params: object, token?: vscode.CancellationToken): Promise<Answer | undefined> {
    const client = this.client;
    if (client === undefined || this.current !== 'running') return undefined;
    try {
      return (await request<Answer | null, vscode.CancellationToken>(client, name, params, token)) ?? undefined;
    } catch (error) {
      if (token?.isCancellationRequested !== true) this.log.warn(`${name}: ${String(error)}`);
      return undefined;
    }
  }

  /** Like `ask`, but a person waits for it: says why there is no answer. */
  async demand<Answer>(name: string, params: object): Promise<Answer | undefined> {
    const client = this.client;
    if (this.current === 'missing') {
      void this.sayMissing('The program nesl was not found.');
      return undefined;
    }
    if (client === undefined || this.current !== 'running') {
      void this.offerRestart('The NESL language server is not running.');
      return undefined;
    }
    try {
      return (await client.sendRequest<Answer | null>(name, params)) ?? undefined;
    } catch (error) {
      void vscode.window.showErrorMessage(`NESL: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  async chooseBinary(): Promise<void> {
    const picked = await vscode.window.showOpenDialog({
      title: 'The program nesl',
      openLabel: 'Use',
      canSelectMany: false,
    });
    const file = picked?.[0];
    if (file === undefined) return;
    // The change of the setting restarts the server.
    await vscode.workspace
      .getConfiguration('nesl')
      .update('server.path', file.fsPath, vscode.ConfigurationTarget.Global);
  }

  dispose(): Thenable<void> {
    return this.stop();
  }

  private makeClient(program: string, generation: number): LanguageClient {
    const server: ServerOptions = { command: program, args: ['lsp'], options: { env: process.env } };
    const options: LanguageClientOptions = {
      documentSelector: SELECTOR,
      initializationOptions: () => settings(),
      outputChannel: this.log,
      traceOutputChannel: this.log,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          if (generation === this.generation && this.current === 'running') {
            // Once it is started again without a word: what is shown stays where it is.
            if (Date.now() - this.died > RESTART_INTERVAL) {
              this.died = Date.now();
              this.log.warn('the server has ended unexpectedly and is started again');
              return { action: CloseAction.Restart, handled: true };
            }
            this.become('stopped');
            void this.offerRestart('The NESL language server stopped unexpectedly.');
          }
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      middleware: {
        provideHover: async (document, position, token, next) => {
          // Over a selection: the type of what is selected.
          const selection = vscode.window.visibleTextEditors
            .filter((editor) => editor.document === document)
            .map((editor) => editor.selection)
            .find((one) => !one.isEmpty && one.contains(position));
          if (selection === undefined) return next(document, position, token);
          const range = client.code2ProtocolConverter.asRange(selection);
          const params: SelectionParams = { textDocument: { uri: document.uri.toString() }, range };
          const hover = await this.ask<Parameters<typeof client.protocol2CodeConverter.asHover>[0]>(method.hover, params, token);
          return client.protocol2CodeConverter.asHover(hover) ?? next(document, position, token);
        },
        executeCommand: async (command, args, next) => {
          const answer: unknown = await next(command, args);
          this.commandRan.fire([command, args, answer]);
          return answer;
        },
      },
    };
    const client = new Client('nesl', 'NESL Language Server', server, options, () => generation === this.generation);
    client.onNotification(method.values, (params: ValuesParams) => {
      if (generation === this.generation) this.valuesCame.fire(params);
    });
    client.onNotification(method.status, (params: StatusParams) => {
      if (generation === this.generation) this.statusCame.fire(params);
    });
    return client;
  }

  private become(state: ServerState): void {
    if (this.current === state) return;
    this.current = state;
    void vscode.commands.executeCommand('setContext', 'nesl.serverRunning', state === 'running');
    this.stateChanged.fire(state);
  }

  private settingsChanged(event: vscode.ConfigurationChangeEvent): void {
    if (!event.affectsConfiguration('nesl')) return;
    if (event.affectsConfiguration('nesl.server')) void this.restart();
    else if (this.current === 'running') {
      void this.client?.sendNotification('workspace/didChangeConfiguration', { settings: { nesl: settings() } });
    }
  }

  private async sayMissing(problem: string): Promise<void> {
    const [install, choose, retry] = ['Install…', 'Choose File…', 'Retry'];
    const answer = await vscode.window.showWarningMessage(
      `${problem} Without it there are colours and snippets, but no errors, values or types.`,
      install,
      choose,
      retry,
    );
    if (answer === install) await this.showInstructions();
    else if (answer === choose) await this.chooseBinary();
    else if (answer === retry) await this.restart();
  }

  private async showInstructions(): Promise<void> {
    const page = vscode.Uri.joinPath(this.context.extensionUri, 'walkthrough', 'server.md');
    await vscode.commands.executeCommand('markdown.showPreview', page);
  }

  /** The server ended before it could say who it is. */
  private async sayFailed(program: string): Promise<void> {
    const knows = await knowsLsp(program);
    await this.offerRestart(
      knows
        ? `The NESL language server did not start (${program}).`
        : `${program} does not know the command lsp: it is older than this extension, or another program.`,
    );
  }

  private async offerRestart(text: string): Promise<void> {
    const [restart, log] = ['Restart', 'Show Log'];
    const answer = await vscode.window.showErrorMessage(text, restart, log);
    if (answer === restart) await this.restart();
    else if (answer === log) this.log.show();
  }
}

/** A client that does not complain of what it cannot ask any more because it was stopped on purpose. */
class Client extends LanguageClient {
  constructor(
    id: string,
    name: string,
    server: ServerOptions,
    options: LanguageClientOptions,
    private readonly isWanted: () => boolean,
  ) {
    super(id, name, server, options);
  }

  override handleFailedRequest<T>(...failure: Parameters<LanguageClient['handleFailedRequest']>): T {
    if (!this.isWanted()) return failure[3] as T;
    return super.handleFailedRequest(...failure) as T;
  }
}

/** The settings in the server's terms. */
export function settings(): Options {
  const all = vscode.workspace.getConfiguration('nesl');
  return {
    runtime: all.get('runtime', 'cpu'),
    precision: all.get('precision', 64),
    values: all.get('values', true) ? 'notification' : 'off',
    lenses: all.get('lenses', true) && {
      run: all.get('lens.run', true),
      ir: all.get('lens.ir', true),
      cost: all.get('lens.cost', true),
    },
    preview: true,
    askArguments: true,
    library: true,
    hints: { types: all.get('hints.types', true), parallelism: all.get('hints.parallelism', false) },
  };
}

function knowsLsp(program: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, ['lsp', '--help'], { timeout: 5000 }, (error) => resolve(error === null));
  });
}
