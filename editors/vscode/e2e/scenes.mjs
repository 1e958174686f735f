// What is looked at: each scene opens a file, does something, waits for what should be seen, and
// takes a picture.

export const files = {
  'cells.ipynb': notebook(
    'function sums(rows) : [[int]] -> [int] =\n  {sum(row) : row in rows};\n\nmatrix = [[2, 3], [8, 3, 9], [7]];',
    ':time\nsums(matrix)',
    'total = summ(sums(matrix));',
    'later(1);',
    'function later(x) = x + 1;',
  ),
  'sums.nesl': `% Sums of the rows of a matrix, however long they are. %

function sums(rows) : [[int]] -> [int] =
  {sum(row) : row in rows};

function dot(a, b) =
  sum({x * y : x in a; y in b});

matrix = [[2, 3], [8, 3, 9], [7]];

sums(matrix);
dot([1, 2, 3], [4, 5, 6]);
{x * x : x in [1, 2, 3, 4] | x > 1};

% Quicksort: two calls side by side, each of them parallel inside. %
function quicksort(a) =
  if #a < 2 then a
  else let pivot = a[#a / 2];
           less = {x in a | x < pivot};
           equal = {x in a | x == pivot};
           more = {x in a | x > pivot};
           sides = {quicksort(side) : side in [less, more]}
       in sides[0] ++ equal ++ sides[1];

quicksort([8, 14, -8, -9, 5, -9, -3, 0, 17, 19]);
`,
  'broken.nesl': `% Three mistakes. %

function mean(v) = sum(v) / #v + 0.5;

total = summ([1, 2, 3]);

{x + BROKEN : x in [1, 2, 3]};
`,
  'slow.nesl': `function slow(n) : int -> int = if n == 0 then 0 else slow(rem(n + 1, 1000000) + 1);

1 + 2;
slow(7);
`,
  'segments.nesl': `% A nested sequence, and the sum of each part. %
{sum(a) : a in [[2, 3], [8, 3, 9], [7]]};

% The even ones of each part, squared: a part may be left with none. %
{{x * x : x in a | evenp(x)} : a in [[2, 3], [5], [8, 6, 7]]};
`,
};

/** A notebook as Jupyter writes it. */
function notebook(...cells) {
  return JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      kernelspec: { name: 'nesl', display_name: 'NESL', language: 'nesl' },
      language_info: { name: 'nesl', file_extension: '.nesl', mimetype: 'text/x-nesl' },
    },
    cells: cells.map((source, number) => ({ cell_type: 'code', id: `cell-${number}`, metadata: {}, execution_count: null, outputs: [], source })),
  });
}

export const scenes = [
  {
    name: 'hover',
    file: 'sums.nesl',
    async see(bench) {
      const text = await bench.hover('dot([1');
      if (!/dot/i.test(text)) throw new Error(`the hover says: ${text}`);
      await bench.shot('hover');
    },
  },
  {
    name: 'preview',
    file: 'sums.nesl',
    async see(bench) {
      await bench.cursorAt('x * y');
      await bench.command('NESL: Show IR');
      const preview = await bench.preview();
      await preview.locator('.line .variable').first().waitFor();
      await preview.locator('.line.source').first().waitFor();
      await bench.shot('preview-flat');
      for (const stage of ['types', 'ir', 'fused', 'kir']) {
        await preview.locator(`#tab-${stage}`).click();
        await preview.locator('.line').first().waitFor();
        await bench.shot(`preview-${stage}`);
      }
      // A line of the preview shows its source.
      await preview.locator('#tab-fused').click();
      await preview.locator('.line', { hasText: 'mul' }).first().click();
      await bench.shot('preview-line');
    },
  },
  {
    name: 'stale',
    file: 'sums.nesl',
    async see(bench) {
      await bench.cursorAt('x * y');
      await bench.command('NESL: Show IR');
      const preview = await bench.preview();
      await preview.locator('.line .variable').first().waitFor();
      await bench.cursorAt('x * y');
      await bench.page.keyboard.type(' + + BROKEN');
      await preview.locator('body.stale').waitFor();
      await preview.locator('.line .variable').first().waitFor();
      await bench.shot('preview-stale');
      // A form that was never whole leaves what is there.
      await bench.page.keyboard.press('End');
      await bench.page.keyboard.type(' BROKEN in', { delay: 15 });
      await preview.locator('body.stale').waitFor();
      await preview.locator('.line .variable').first().waitFor();
    },
  },
  {
    name: 'segments',
    file: 'segments.nesl',
    async see(bench) {
      await bench.cursorAt('sum(a)');
      await bench.command('NESL: How Flattening Sees It');
      const preview = await bench.preview();
      await preview.locator('.drawing').first().waitFor();
      await bench.shot('segments');
      await preview.locator('#panel').evaluate((panel) => panel.scrollTo(0, panel.scrollHeight));
      await bench.shot('segments-end');
      await bench.cursorAt('x * x');
      await preview.locator('.nested', { hasText: '64' }).first().waitFor();
      await bench.shot('segments-sieve');
      await preview.locator('#panel').evaluate((panel) => panel.scrollTo(0, panel.scrollHeight));
      await bench.shot('segments-sieve-end');
    },
  },
  {
    name: 'values',
    file: 'sums.nesl',
    async see(bench) {
      await bench.command('NESL: Run File');
      await valueSeen(bench, /=/);
      await bench.page.waitForTimeout(1500);
      await bench.shot('values');
      // A changed form loses its value at once.
      const before = await valueCount(bench);
      await bench.cursorAt('dot([1');
      await bench.page.keyboard.press('End');
      await bench.page.keyboard.press('ArrowLeft');
      await bench.page.keyboard.type(' + 1');
      for (let i = 0; (await valueCount(bench)) >= before; i++) {
        if (i === 20) throw new Error('the value of an edited line stays');
        await bench.page.waitForTimeout(100);
      }
    },
  },
  {
    name: 'completion',
    file: 'sums.nesl',
    async see(bench) {
      await bench.page.waitForTimeout(1500);
      await bench.editor.click();
      await bench.page.keyboard.press('Control+End');
      await bench.page.keyboard.type('su', { delay: 40 });
      await bench.page.keyboard.press('Control+Space');
      const row = bench.page.locator('.suggest-widget.visible .monaco-list-row', { hasText: 'subseq' }).first();
      await row.waitFor();
      await bench.page.waitForTimeout(600);
      await bench.shot('completion');
    },
  },
  {
    name: 'rename',
    file: 'sums.nesl',
    async see(bench) {
      await bench.page.waitForTimeout(1500);
      await bench.cursorAt('dot([1');
      await bench.page.keyboard.press('F2');
      const box = bench.page.locator('.rename-box input');
      await box.waitFor();
      await bench.page.waitForTimeout(300);
      await bench.shot('rename');
      await box.fill('inner_product');
      await bench.page.keyboard.press('Enter');
      await seen(bench, /function inner_product/);
      await bench.shot('renamed');
    },
  },
  {
    // The library's text comes from the server, when a definition in it is gone to.
    name: 'library',
    file: 'sums.nesl',
    async see(bench) {
      await bench.page.waitForTimeout(1500);
      await bench.cursorAt('sum(row)');
      await bench.page.keyboard.press('F12');
      await seen(bench, /function sum/);
      const text = await bench.page.locator('.editor-instance .view-lines').last().innerText();
      if (/no such document/.test(text)) throw new Error('the library has no text');
      await bench.shot('library');
    },
  },
  {
    name: 'outline',
    file: 'sums.nesl',
    sidebar: true,
    async see(bench) {
      await bench.command('Explorer: Focus on Outline View');
      await bench.page.locator('.outline-pane .monaco-list-row', { hasText: 'dot' }).first().waitFor();
      await bench.shot('outline');
    },
  },
  {
    name: 'run-function',
    file: 'sums.nesl',
    async see(bench) {
      await bench.page.waitForTimeout(1500);
      const lens = bench.page.locator('.codelens-decoration a', { hasText: /run.*…/i }).first();
      await lens.waitFor();
      await bench.shot('lenses');
      await bench.page.locator('.codelens-decoration a', { hasText: /run.*…/i }).nth(1).click();
      const input = bench.page.locator('.quick-input-widget input').first();
      await input.waitFor();
      await input.fill('[1, 2], [3, 4]');
      await bench.shot('arguments');
      await bench.page.keyboard.press('Enter');
      await valueSeen(bench, /=/);
      await bench.shot('function-value');
    },
  },
  {
    name: 'status',
    file: 'sums.nesl',
    async see(bench) {
      await bench.page.waitForTimeout(1500);
      await bench.page.locator('[id$="nesl.status"] a').first().click();
      await bench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'reference' }).first().waitFor();
      await bench.shot('runtimes');
      await bench.page.keyboard.press('Escape');
    },
  },
  {
    name: 'stop',
    file: 'slow.nesl',
    async see(bench) {
      await bench.command('NESL: Run File');
      const running = bench.page.locator('[id$="nesl.status"] .codicon-loading');
      await running.waitFor();
      await bench.page.waitForTimeout(1500);
      await bench.shot('running');
      // Editing goes on.
      await bench.cursorAt('1 + 2');
      await bench.page.keyboard.press('Home');
      await bench.page.keyboard.press('Enter');
      await bench.shot('running-edited');
      await bench.page.locator('[id$="nesl.status"] a').first().click();
      await running.waitFor({ state: 'detached' });
    },
  },
  {
    name: 'dies',
    file: 'sums.nesl',
    says: /stopped unexpectedly/,
    async see(bench) {
      await bench.page.waitForTimeout(1500);
      // Once it is started again without a word; if it ends again, somebody is asked.
      bench.killServer();
      await bench.page.waitForTimeout(4000);
      await bench.page.locator('[id$="nesl.status"] .codicon-layers').waitFor();
      bench.killServer();
      await bench.page.locator('.notification-toast', { hasText: 'stopped unexpectedly' }).waitFor();
      await bench.shot('dies');
      await bench.page.locator('.notification-toast a, .notification-toast .monaco-button', { hasText: 'Restart' }).first().click();
      await bench.page.locator('[id$="nesl.status"] .codicon-layers').waitFor();
    },
  },
  {
    name: 'missing',
    file: 'sums.nesl',
    says: /no program at/i,
    async see(bench) {
      bench.set({ 'nesl.server.path': '/nowhere/nesl' });
      await bench.page.locator('.notification-toast', { hasText: 'no program at' }).waitFor();
      await bench.shot('missing');
      await bench.page.locator('.notification-toast .monaco-button', { hasText: 'Install' }).first().click();
      await bench.page.waitForTimeout(2500);
      await bench.shot('missing-install');
      bench.set({});
    },
  },
  {
    name: 'walkthrough',
    file: 'sums.nesl',
    async see(bench) {
      const { page } = bench;
      const begin = async () => {
        // The command asks at once which one, in the same widget.
        await page.keyboard.press('F1');
        await page.locator('.quick-input-widget input').first().fill('>Welcome: Open Walkthrough');
        await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Open Walkthrough' }).first().click();
        const row = page.locator('.quick-input-list .monaco-list-row', { hasText: 'NESL' }).first();
        await row.waitFor();
        await row.click();
        await page.locator('[data-step-id$="#server"]').first().waitFor();
        await page.waitForTimeout(1500);
      };
      // A step is ticked when what it tells of was done: the server runs, the commands of its buttons were executed.
      const ticked = (step) => page.locator(`[data-done-step-id$="#${step}"][aria-checked="true"]`).first().waitFor({ state: 'attached', timeout: 8000 });
      await begin();
      await bench.shot('walkthrough');
      await ticked('server');
      for (const [step, button] of [
        ['example', 'Open quicksort'],
        ['run', 'Run the file'],
        ['preview', 'Show IR'],
        ['segments', 'How flattening sees it'],
        ['repl', 'Open the REPL'],
      ]) {
        await page.locator(`[data-step-id$="#${step}"]`).first().click();
        await page.locator('.getting-started-step.expanded').locator('a, .monaco-button', { hasText: button }).first().click();
        await page.waitForTimeout(1500);
        await begin();
        await ticked(step);
      }
      await bench.shot('walkthrough-ticked');
    },
  },
  {
    name: 'errors',
    file: 'broken.nesl',
    async see(bench) {
      await bench.page.locator('.squiggly-error').first().waitFor();
      await bench.command('Problems: Focus on Problems View');
      await bench.page.locator('.markers-panel .monaco-list-row').first().waitFor();
      await bench.shot('errors');
    },
  },
  {
    // Cells of a notebook are one program: each sees those above it.
    name: 'notebook',
    file: 'cells.ipynb',
    real: true,
    async see(bench) {
      const { page } = bench;
      const cell = (number) => page.locator('.notebookOverlay .cell-list-container .monaco-list-row').nth(number);
      // Problems: a name that is nowhere, and one of a cell below; those of cells above are known.
      await cell(2).locator('.squiggly-error').waitFor();
      await cell(3).locator('.squiggly-error').waitFor();
      if ((await page.locator('.notebookOverlay .squiggly-error').count()) !== 2) throw new Error('names of cells above are unknown');
      // Lenses, types, and colours by meaning: a parameter and a function look different.
      const lens = cell(1).locator('.codelens-decoration a', { hasText: /run/i }).first();
      await lens.waitFor();
      await cell(4).getByText('int -> int').waitFor();
      const colour = (number, name) => cell(number).locator('.view-line span span', { hasText: new RegExp(`^${name}$`) }).first().evaluate((span) => getComputedStyle(span).color);
      if ((await colour(1, 'sums')) === (await colour(1, 'matrix'))) throw new Error('a function looks as a variable does');
      if ((await colour(1, ':time')) === (await colour(1, 'matrix'))) throw new Error('a command looks as a variable does');
      const text = await bench.hover('sums(m');
      if (!/\[\[int\]\] -> \[int\]/.test(text)) throw new Error(`the hover says: ${text}`);
      await bench.shot('notebook-hover');
      // What runs from a cell knows the cells above.
      await lens.click();
      await valueSeen(bench, /\[5, 20, 7\]/);
      const shown = await valueTexts(bench);
      const value = shown.findIndex((text) => text.startsWith('"='));
      if (!/"[\d.]+ .?s"/.test(shown[value + 1] ?? '')) throw new Error(`behind the value is no time: ${shown.join(', ')}`);
      await bench.shot('notebook-value');
      // So does completion.
      await bench.cursorAt('later(1)');
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.keyboard.type('matr', { delay: 40 });
      const row = page.locator('.suggest-widget.visible .monaco-list-row', { hasText: 'matrix' }).first();
      await row.waitFor();
      await bench.shot('notebook-completion');
      await page.keyboard.press('Enter');
      // A function is renamed in all cells.
      await bench.cursorAt('sums(m');
      await page.keyboard.press('F2');
      const box = page.locator('.rename-box input');
      await box.waitFor();
      await box.fill('row_sums');
      await page.keyboard.press('Enter');
      await cell(0).getByText('row_sums').first().waitFor();
      await cell(2).getByText('row_sums').first().waitFor();
      await bench.shot('notebook-renamed');
    },
  },
  {
    name: 'repl',
    file: 'sums.nesl',
    real: true,
    async see(bench) {
      // It knows the file from the start,
      await bench.cursorAt('dot([1');
      await bench.command('NESL: Run Selection in the REPL');
      await bench.printed(/it = 32 : int/);
      // and what was written since.
      await bench.cursorAt('matrix = ');
      await bench.page.keyboard.press('End');
      await bench.page.keyboard.type('\nfunction seven(x) = 7 * x;\n\nseven(6);');
      await bench.command('NESL: Run Selection in the REPL');
      await bench.printed(/it = 42 : int/);
      await bench.shot('repl');
    },
  },
];

async function seen(bench, pattern) {
  for (let i = 0; i < 100; i++) {
    const text = (await bench.editor.innerText()).replace(/\u00a0/g, ' ');
    if (pattern.test(text)) return;
    await bench.page.waitForTimeout(100);
  }
  throw new Error(`the editor does not show ${pattern}`);
}

/** Values are drawn by style sheets: what stands behind the lines is no text of the page. */
function valueTexts(bench) {
  return bench.page.evaluate(() =>
    [...document.querySelectorAll(':is(.editor-instance, .notebookOverlay) .view-line span span')]
      .flatMap((span) => ['::before', '::after'].map((side) => getComputedStyle(span, side).content))
      .filter((content) => content !== 'none' && content !== '""')
      .map((content) => content.replace(/\u00a0/g, ' ')),
  );
}

async function valueCount(bench) {
  return (await valueTexts(bench)).filter((text) => text.startsWith('"=')).length;
}

export async function valueSeen(bench, pattern) {
  for (let i = 0; i < 100; i++) {
    if ((await valueTexts(bench)).some((text) => pattern.test(text))) return;
    await bench.page.waitForTimeout(150);
  }
  throw new Error('no value is seen');
}
