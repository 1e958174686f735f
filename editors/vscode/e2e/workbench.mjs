// A workbench with the extension installed, as a person has it: files are opened, keys are pressed,
// commands are called by their titles, and pictures are taken.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, launch } from './browser.mjs';

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.layoutControl.enabled': false,
  'window.commandCenter': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'chat.disableAIFeatures': true,
  'git.enabled': false,
  'editor.minimap.enabled': false,
  // A notebook that is opened before VS Code knows its extensions would be text.
  'workbench.editorAssociations': { '*.ipynb': 'jupyter-notebook' },
  // Text that can be read, not only seen.
  'terminal.integrated.gpuAcceleration': 'off',
  'editor.hover.delay': 100,
  'editor.fontSize': 14,
};

// The editor of a file, or of a notebook, whose cells are editors.
const EDITOR = ':is(.editor-instance, .notebookOverlay)';

export class Workbench {
  /** Starts a server with the package installed, and opens a folder of the given files. */
  static async start({ tools, cache, vsix, files, settings, shots, env = {} }) {
    const bench = new Workbench();
    bench.shots = shots;
    bench.tmp = mkdtempSync(join(tmpdir(), 'nesl-e2e-'));
    const [user, extensions, folder] = ['user', 'extensions', 'scenes'].map((name) => join(bench.tmp, name));
    mkdirSync(join(user, 'User'), { recursive: true });
    mkdirSync(folder);
    bench.folder = folder;
    bench.files = files;
    // Which program is started is a matter of the machine, and so not of the person's settings.
    mkdirSync(join(user, 'Machine'));
    bench.settings = { files: ['User', 'Machine'].map((name) => join(user, name, 'settings.json')), all: { ...SETTINGS, ...settings } };
    bench.set({});
    writeFileSync(join(bench.tmp, 'config.yaml'), 'auth: none\n');
    const common = [tools.server, '--user-data-dir', user, '--extensions-dir', extensions, '--config', join(bench.tmp, 'config.yaml')];
    const installed = spawnSync(tools.node, [...common, '--install-extension', vsix], { encoding: 'utf8' });
    if (installed.status !== 0) throw new Error(installed.stdout + installed.stderr);
    bench.port = await freePort();
    const log = openSync(join(shots, 'code-server.log'), 'a');
    const address = ['--bind-addr', `127.0.0.1:${bench.port}`, '--auth', 'none'];
    const quiet = ['--disable-telemetry', '--disable-update-check', '--disable-workspace-trust', '--disable-getting-started-override', '--ignore-last-opened'];
    bench.server = spawn(tools.node, [...common, ...address, ...quiet], {
      stdio: ['ignore', log, log],
      detached: true,
      env: { ...process.env, ...env },
    });
    try {
      await bench.reachable();
      bench.browser = await launch(cache);
      const context = await bench.browser.newContext({ viewport: { width: 1360, height: 820 } });
      bench.page = await context.newPage();
      bench.page.setDefaultTimeout(30_000);
    } catch (error) {
      await bench.stop();
      throw error;
    }
    return bench;
  }

  /** Loads the workbench anew with one of the files open. */
  async open(scene, name, sidebar) {
    // Each scene has its files for itself: what another typed is of no matter.
    const folder = join(this.folder, scene);
    mkdirSync(folder);
    for (const [name, text] of Object.entries(this.files)) writeFileSync(join(folder, name), text);
    const uri = `vscode-remote://127.0.0.1:${this.port}${join(folder, name)}`;
    const payload = encodeURIComponent(JSON.stringify([['openFile', uri]]));
    await this.page.goto(`http://127.0.0.1:${this.port}/?folder=${encodeURIComponent(folder)}&payload=${payload}`);
    await this.editor.waitFor();
    await this.page.locator('#nesl\\.nesl\\.status, [id$="nesl.status"]').first().waitFor();
    // Lenses come last, and move everything below them; broken forms have none.
    await this.page.locator('.codelens-decoration a').first().waitFor({ timeout: 8000 }).catch(() => {});
    await this.editor.click();
    const shown = await this.page.locator('.part.sidebar').first().isVisible();
    if (shown !== sidebar) await this.page.keyboard.press('Control+B');
  }

  get editor() {
    return this.page.locator(`${EDITOR} .monaco-editor .view-lines`).first();
  }

  /** Waits until the terminal shows something. */
  async printed(pattern) {
    const rows = this.page.locator('.terminal-wrapper.active .xterm-rows, .terminal-wrapper .xterm-rows').first();
    await rows.waitFor();
    for (let i = 0; i < 100; i++) {
      const text = (await rows.innerText()).replace(/\u00a0/g, ' ');
      if (pattern.test(text)) return;
      await this.page.waitForTimeout(150);
    }
    throw new Error(`the terminal does not show ${pattern}: ${await rows.innerText()}`);
  }

  /** Changes settings, for as long as nothing else is set. */
  set(changes) {
    for (const file of this.settings.files) writeFileSync(file, JSON.stringify({ ...this.settings.all, ...changes }));
  }

  /** Changes to a theme, and waits until the workbench shows it. */
  async theme(name, changes = {}) {
    const light = name.includes('Light');
    const contrast = name.includes('High Contrast');
    const shown = contrast ? (light ? 'hc-light' : 'hc-black') : light ? 'vs' : 'vs-dark';
    const workbench = this.page.locator(`.monaco-workbench.${shown}`);
    // A change of the file that follows another one at once may go unseen: it is written again.
    for (let attempt = 0; attempt < 5; attempt++) {
      this.set({ ...changes, 'workbench.colorTheme': name });
      // What was set before may still be about to be shown.
      await this.page.waitForTimeout(1500);
      if (await workbench.waitFor({ timeout: 2500 }).then(() => true, () => false)) return;
    }
    throw new Error(`the workbench does not change to ${name}`);
  }

  /** Ends the language server that this workbench started, as a crash would. */
  killServer() {
    const parents = new Map();
    const servers = [];
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number)) {
      try {
        const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
        parents.set(pid, Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]));
        if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').endsWith('\0lsp\0')) servers.push(pid);
      } catch {
        // It ended meanwhile.
      }
    }
    const ours = (pid) => pid === this.server.pid || (parents.has(pid) && ours(parents.get(pid)));
    const found = servers.filter(ours);
    if (found.length === 0) throw new Error('there is no language server');
    for (const pid of found) process.kill(pid, 'SIGKILL');
  }

  async command(title) {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget input').first();
    await input.waitFor();
    await input.fill(`>${title}`);
    const first = this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
    await first.waitFor();
    await first.click();
    await this.page.locator('.quick-input-widget').first().waitFor({ state: 'hidden' }).catch(() => {});
  }

  /** Puts the cursor behind a text (its first place in the editor). */
  async cursorAt(text) {
    let { x, y } = await this.placeOf(text);
    for (let before; before !== `${x} ${y}`; ) {
      before = `${x} ${y}`;
      await this.page.waitForTimeout(300);
      ({ x, y } = await this.placeOf(text));
    }
    const box = await this.page.locator(EDITOR).first().boundingBox();
    if (x > box.x + box.width) throw new Error(`this is outside of the editor: ${text}`);
    await this.page.mouse.click(x, y);
  }

  async placeOf(text) {
    const place = await this.page.evaluate(([text, editor]) => {
      const lines = [...document.querySelectorAll(`${editor} .view-lines .view-line`)];
      for (const line of lines.sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y)) {
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        const nodes = [];
        for (let node; (node = walker.nextNode()); ) nodes.push(node);
        const at = nodes.map((node) => node.data).join('').replace(/\u00a0/g, ' ').indexOf(text);
        if (at < 0) continue;
        const range = document.createRange();
        let from = at + Math.floor(text.length / 2);
        for (const node of nodes) {
          if (from < node.data.length) {
            range.setStart(node, from);
            range.setEnd(node, from + 1);
            const box = range.getBoundingClientRect();
            return { x: box.x + 1, y: box.y + box.height / 2 };
          }
          from -= node.data.length;
        }
      }
      return undefined;
    }, [text, EDITOR]);
    if (place === undefined) throw new Error(`the editor does not show: ${text}`);
    return place;
  }

  async hover(text) {
    const widget = this.page.locator('.monaco-hover:not(.hidden) .hover-contents').first();
    // The first hover may be asked for before the server has read the text.
    for (let i = 0; ; i++) {
      await this.page.mouse.move(5, 800);
      const { x, y } = await this.placeOf(text);
      await this.page.mouse.move(x, y, { steps: 4 });
      try {
        await widget.waitFor({ state: 'visible', timeout: 2500 });
        break;
      } catch (error) {
        if (i === 8) throw error;
      }
    }
    await this.page.waitForTimeout(400);
    return widget.innerText();
  }

  /** The preview's page, which lives two frames down. */
  async preview() {
    for (let i = 0; i < 100; i++) {
      for (const frame of this.page.frames()) {
        if (await frame.locator('#tabs [role=tab]').count().catch(() => 0)) return frame;
      }
      await this.page.waitForTimeout(200);
    }
    throw new Error('the preview did not open');
  }

  async shot(name) {
    await this.page.waitForTimeout(350);
    await this.page.screenshot({ path: join(this.shots, `${name}.png`) });
  }

  /** What pops up in the corner; nothing should. */
  async notifications() {
    return (await this.page.locator('.notification-toast').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
  }

  async stop() {
    await this.browser?.close().catch(() => {});
    const end = (signal) => {
      try {
        process.kill(-this.server.pid, signal);
      } catch {
        // It is gone.
      }
    };
    end('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 800));
    end('SIGKILL');
    rmSync(this.tmp, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async reachable() {
    for (let i = 0; i < 200; i++) {
      const there = await fetch(`http://127.0.0.1:${this.port}/healthz`).then((answer) => answer.ok, () => false);
      if (there) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error('code-server did not start; see code-server.log');
  }
}
