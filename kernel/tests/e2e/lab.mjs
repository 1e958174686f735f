// JupyterLab with the kernel installed, as a person has it: a notebook is opened, cells are run, keys
// are pressed, menus are used, and pictures are taken.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort, launch } from '../../../editors/vscode/e2e/browser.mjs';

// The settings that differ from JupyterLab's own.
const SETTINGS = {
  '@jupyterlab/apputils-extension/notification': { fetchNews: 'false', checkForUpdates: false },
  '@jupyterlab/docmanager-extension/plugin': { autosave: false },
  // All cells are in the page, wherever it is scrolled to.
  '@jupyterlab/notebook-extension/tracker': { windowingMode: 'none' },
};

// A kernel that has just become idle loses the first cells that are run at once: the notebook does not
// know its language yet.
const SETTLE_MS = 1500;

// The height of the window, in pixels.
const HEIGHT = 900;

// What a picture shows below the last thing of it, in pixels.
const MARGIN = 12;

// What marks the cell that was chosen last, and is of no matter in a picture.
const UNMARKED = `
  .jp-Cell { border-color: transparent !important; box-shadow: none !important; }
  .jp-Collapser, .jp-cell-toolbar, .jp-toolbar-overlap { visibility: hidden !important; }
  .jp-Notebook-footer { display: none !important; }
  .vega-embed summary { display: none !important; }
`;

export class Lab {
  /** Starts a server, and a browser. */
  static async start({ jupyter, cache, shots, theme }) {
    const lab = new Lab();
    lab.shots = shots;
    lab.tmp = mkdtempSync(join(tmpdir(), 'nesl-e2e-jupyter-'));
    lab.folder = join(lab.tmp, 'notebooks');
    mkdirSync(lab.folder);
    const settings = { ...SETTINGS, '@jupyterlab/apputils-extension/themes': { theme } };
    for (const [name, values] of Object.entries(settings)) {
      const file = join(lab.tmp, 'settings', `${name}.jupyterlab-settings`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(values));
    }
    const port = await freePort();
    lab.address = `http://127.0.0.1:${port}`;
    const log = openSync(join(shots, 'jupyter.log'), 'w');
    const open = ['--IdentityProvider.token=', '--ServerApp.password=', '--ServerApp.disable_check_xsrf=True', '--allow-root'];
    const where = ['--ip=127.0.0.1', `--port=${port}`, '--ServerApp.port_retries=0', `--ServerApp.root_dir=${lab.folder}`];
    const folder = (name) => join(lab.tmp, name);
    lab.server = spawn(jupyter, ['lab', '--no-browser', ...open, ...where], {
      stdio: ['ignore', log, log],
      detached: true,
      env: {
        ...process.env,
        JUPYTER_CONFIG_DIR: folder('config'),
        JUPYTER_RUNTIME_DIR: folder('runtime'),
        JUPYTERLAB_SETTINGS_DIR: folder('settings'),
        JUPYTERLAB_WORKSPACES_DIR: folder('workspaces'),
      },
    });
    try {
      await lab.reachable();
      lab.browser = await launch(cache);
    } catch (error) {
      await lab.stop();
      throw error;
    }
    return lab;
  }

  /** Opens a new notebook of cells in a window of its own; its kernel is ready afterwards. */
  async open(name, cells) {
    const code = (source, number) => ({ cell_type: 'code', id: `cell-${number}`, metadata: {}, execution_count: null, outputs: [], source });
    const notebook = {
      nbformat: 4,
      nbformat_minor: 5,
      metadata: { kernelspec: { name: 'nesl', display_name: 'NESL', language: 'nesl' } },
      cells: cells.map(code),
    };
    writeFileSync(join(this.folder, `${name}.ipynb`), JSON.stringify(notebook));
    await this.page?.context().close();
    const context = await this.browser.newContext({ viewport: { width: 1000, height: HEIGHT } });
    this.page = await context.newPage();
    this.page.setDefaultTimeout(30_000);
    this.strange = [];
    this.page.on('pageerror', (error) => this.strange.push(String(error)));
    this.page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(this.address) && !/^(data|blob|wss?):/.test(url)) this.strange.push(`asks for ${url}`);
    });
    await this.page.goto(`${this.address}/doc/tree/${name}.ipynb?reset`);
    await this.cell(0).waitFor();
    await this.idle();
    await this.page.waitForTimeout(SETTLE_MS);
  }

  /** A cell of code. */
  cell(number) {
    return this.page.locator('.jp-Notebook .jp-CodeCell').nth(number);
  }

  /** The outputs of a cell. */
  outputs(number) {
    return this.cell(number).locator('.jp-OutputArea-output');
  }

  /** The text of all outputs of a cell. */
  async text(number) {
    const texts = await this.outputs(number).allInnerTexts();
    return texts.join('\n').replace(/\u00a0/g, ' ');
  }

  /** What stands before a cell: `[3]:`, `[*]:` while it runs, `[ ]:` if it did not. */
  async prompt(number) {
    return (await this.cell(number).locator('.jp-InputPrompt').innerText()).trim();
  }

  /** Begins to run a cell. */
  async begin(number) {
    await this.cell(number).locator('.cm-content').click();
    await this.page.keyboard.press('Control+Enter');
  }

  /** Runs a cell to its end. */
  async run(number) {
    const before = await this.prompt(number);
    await this.begin(number);
    await this.until(async () => {
      const now = await this.prompt(number);
      return now !== before && /^\[\d+\]/.test(now);
    }, `cell ${number} does not end`);
    await this.idle();
  }

  /** Runs all cells, to the end of the last one that runs. */
  async runAll() {
    await this.menu('Run', 'runmenu:run-all');
    const prompts = () => this.page.locator('.jp-Notebook .jp-CodeCell .jp-InputPrompt').allInnerTexts();
    await this.until(async () => (await prompts()).some((prompt) => /\d|\*/.test(prompt)), 'no cell runs');
    await this.until(async () => !(await prompts()).some((prompt) => prompt.includes('*')), 'the cells do not end');
    await this.idle();
    // Pictures and formulas are drawn after the messages came.
    await this.page.waitForTimeout(500);
  }

  /** Waits until the notebook says that the kernel has nothing to do. */
  async idle() {
    await this.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').first().waitFor();
  }

  /** Waits until the notebook says that the kernel computes. */
  async busy() {
    await this.page.locator('.jp-Notebook-ExecutionIndicator[data-status="busy"]').first().waitFor();
  }

  /** Chooses something of a menu, by its command. */
  async menu(title, command) {
    await this.page.locator('.lm-MenuBar-item', { hasText: new RegExp(`^${title}$`) }).click();
    await this.page.locator(`.lm-Menu-item[data-command="${command}"]`).click();
  }

  /** Types into a new cell at the end. */
  async typeBelow(text) {
    await this.page.locator('.jp-Notebook .jp-Cell').last().locator('.jp-InputPrompt').click();
    await this.page.keyboard.press('Escape');
    await this.page.keyboard.press('b');
    await this.page.keyboard.press('Enter');
    await this.page.keyboard.type(text, { delay: 25 });
  }

  /** What is offered at the cursor: texts, each with the kind beside it. */
  async completions() {
    await this.page.keyboard.press('Tab');
    const items = this.page.locator('.jp-Completer-item:visible');
    await items.first().waitFor();
    return (await items.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
  }

  /** What is told about the name at the cursor. */
  async inspection() {
    await this.page.keyboard.press('Shift+Tab');
    const tip = this.page.locator('.jp-Tooltip').first();
    await this.until(async () => (await tip.innerText()) !== '', 'nothing is told');
    return tip.innerText();
  }

  /** Waits until something holds. */
  async until(holds, otherwise, seconds = 60) {
    for (const end = Date.now() + 1000 * seconds; !(await holds()); ) {
      if (Date.now() > end) throw new Error(typeof otherwise === 'string' ? otherwise : await otherwise());
      await this.page.waitForTimeout(100);
    }
  }

  /** Waits until the outputs of a cell say something. */
  async says(number, pattern, seconds) {
    const holds = async () => pattern.test(await this.text(number));
    await this.until(holds, async () => `cell ${number} does not say ${pattern}: ${(await this.text(number)).slice(0, 500)}`, seconds);
  }

  /** Takes a picture of the window, from its top to the end of something in it. */
  async shot(name, last) {
    await this.page.waitForTimeout(350);
    const { width, height } = this.page.viewportSize();
    const end = await last?.boundingBox();
    const clip = { x: 0, y: 0, width, height: end ? Math.min(end.y + end.height + MARGIN, height) : height };
    await this.page.screenshot({ path: join(this.shots, `${name}.png`), clip });
  }

  /** Takes a picture of some cells, from the first to the last, without what is around them. */
  async picture(name, first, last = first) {
    const style = await this.page.addStyleTag({ content: UNMARKED });
    // The window is made as high as the notebook, so that nothing of it is scrolled away.
    const { width } = this.page.viewportSize();
    const all = await this.page.locator('.jp-WindowedPanel-outer').evaluate((panel) => panel.scrollHeight);
    await this.page.setViewportSize({ width, height: Math.max(HEIGHT, all + 200) });
    await this.page.locator('.jp-WindowedPanel-outer').evaluate((panel) => panel.scrollTo(0, 0));
    await this.page.waitForTimeout(350);
    const [above, below] = [await this.cell(first).boundingBox(), await this.cell(last).boundingBox()];
    const clip = { x: above.x, y: above.y, width: above.width, height: below.y + below.height - above.y };
    await this.page.screenshot({ path: join(this.shots, `${name}.png`), clip });
    await this.page.setViewportSize({ width, height: HEIGHT });
    await style.evaluate((element) => element.remove());
  }

  async stop() {
    await this.browser?.close().catch(() => {});
    await fetch(`${this.address}/api/shutdown`, { method: 'POST' }).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 1500));
    try {
      process.kill(-this.server.pid, 'SIGKILL');
    } catch {
      // It is gone.
    }
    rmSync(this.tmp, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** Ends the kernels that run. */
  async endKernels() {
    const kernels = await fetch(`${this.address}/api/kernels`).then((answer) => answer.json());
    for (const { id } of kernels) await fetch(`${this.address}/api/kernels/${id}`, { method: 'DELETE' });
  }

  async reachable() {
    for (let i = 0; i < 300; i++) {
      const there = await fetch(`${this.address}/api`).then((answer) => answer.ok, () => false);
      if (there) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error('JupyterLab did not start; see jupyter.log');
  }
}
