// What people have met in the text of a program: definitions in the library, and values that stay.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { valueSeen } from './scenes.mjs';

export const files = {
  'lesson-hints.nesl': 'function norm(v) = sqrt(sum({x * x : x in v}));\n',
  'squares.nesl': 'function square(x) = x * x;\n',
  'lesson.nesl': '% How long is a vector? %\nload "squares";\n\n',
  'colors.nesl': `% A comment. %
load "library";
set print_length 20;
datatype point(float, float);
function scale(p, k) : (point, float) -> point
"Scales a point."
= let point(x, y) = p; shift = k + 1.0e-2
  in if x > 0.0 and y /= 0.0 then point(k * x, k * y - shift) else p;
function total(a) : [a] -> a :: (a in number) = sum(a) + reduce_all(a);
function reduce_all(a) = if #a == 0 or f then 0 else max_val(a);
letters = "to be\\n" ++ [\`a, \`b];
{scale(p, 2.0) : p in [point(1.0, 2.0)] | t};
{* rem(x, 2) xor 1 : x in [0:10:2] *};
{x => x + 1 : x in letters} -> [0, 1];
`,
  'empty.nesl': '',
  'moved.nesl': 'a = 1 + 1;\na + 2;\n',
  'library.nesl': `words = wordify("to be or not to be");
#words;
1 + 2;
`,
};

export const scenes = [
  {
    // A lesson: a program is written, has a mistake, is mended, run, looked at and renamed over two files.
    name: 'lesson',
    file: 'lesson.nesl',
    real: true,
    async see(bench) {
      const { page } = bench;
      await page.waitForTimeout(2000);
      await page.keyboard.press('Control+End');
      await page.keyboard.type('function norm(v) = sqrt(smu({square(x) : x in v}));\n', { delay: 25 });
      await page.locator('.squiggly-error').first().waitFor();
      await bench.shot('lesson-1-mistake');
      // The mistake is mended by what is offered first.
      await bench.cursorAt('smu(');
      await page.keyboard.press('Control+.');
      await page.locator('.action-widget .monaco-list-row').first().waitFor();
      await page.waitForTimeout(400);
      await bench.shot('lesson-2-fixes');
      await page.keyboard.press('Enter');
      await textSeen(bench, /sqrt\(sum\(/);
      await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
      await page.keyboard.press('Control+End');
      await page.keyboard.type('norm([3.0, 4.0]);\n{norm(v) : v in [[3.0, 4.0], [1.0]]};\n[1, 2, 3][7];\n', { delay: 15 });
      await page.waitForTimeout(1500);
      const hover = await bench.hover('norm(v)');
      if (!/\[float\] -> float/.test(hover)) throw new Error(`the hover says: ${hover}`);
      await bench.shot('lesson-3-hover');
      // What runs shows its values; what fails says so at its line, and in the problems.
      await bench.command('NESL: Run File');
      await valueSeen(bench, /= 5\.0/);
      await page.waitForTimeout(1500);
      await bench.shot('lesson-4-values');
      // A name is changed in both files.
      await bench.cursorAt('square(x)');
      await page.keyboard.press('F2');
      const box = page.locator('.rename-box input');
      await box.waitFor();
      await box.fill('squared');
      await page.keyboard.press('Enter');
      await textSeen(bench, /squared\(x\)/);
      await page.keyboard.press('Control+s');
      await bench.shot('lesson-5-renamed');
      // What it becomes, and how flattening sees it.
      await bench.cursorAt('norm(v)');
      await bench.command('NESL: Show IR');
      const preview = await bench.preview();
      await preview.locator('.line .variable').first().waitFor();
      await preview.locator('[role=tab]', { hasText: 'Kernels' }).click();
      await preview.locator('.line').first().waitFor();
      await page.waitForTimeout(800);
      await bench.shot('lesson-6-kernels');
      await preview.locator('[role=tab]', { hasText: 'PTX' }).click();
      await page.waitForTimeout(1200);
      await bench.shot('lesson-7-ptx');
      await preview.locator('[role=tab]', { hasText: 'Segments' }).click();
      await page.waitForTimeout(1500);
      await bench.shot('lesson-8-segments');
      await preview.locator('[role=tab]', { hasText: 'Cost' }).click();
      await page.waitForTimeout(2500);
      await bench.shot('lesson-9-cost');
    },
  },
  {
    // Lines stay as they are typed; Enter ends a line also behind a name that could be completed.
    name: 'typing',
    file: 'empty.nesl',
    real: true,
    async see(bench) {
      const { page } = bench;
      const typed = 'function qs(a) =\nif #a < 2 then a\nelse let p = a[0];\nmore = {x in a | x > p}\nin qs(more) ++ [p];\n';
      await page.keyboard.type(typed, { delay: 70 });
      await page.waitForTimeout(800);
      await bench.shot('typing');
      await page.keyboard.press('Control+s');
      const file = join(bench.folder, 'typing', 'empty.nesl');
      await page.waitForTimeout(800);
      const text = readFileSync(file, 'utf8');
      const expected = 'function qs(a) =\n  if #a < 2 then a\n  else let p = a[0];\n           more = {x in a | x > p}\n       in qs(more) ++ [p];\n';
      if (text.trimEnd() !== expected.trimEnd()) throw new Error(`the text is ${text}`);
    },
  },
  {
    // Values move with their lines: those of forms that are only moved stay.
    name: 'moved-values',
    file: 'moved.nesl',
    real: true,
    async see(bench) {
      const { page } = bench;
      await bench.command('NESL: Run File');
      await valueSeen(bench, /= 4/);
      await bench.cursorAt('a + 2');
      await page.keyboard.press('Home');
      await page.keyboard.press('Enter');
      await bench.cursorAt('1 + 1');
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.waitForTimeout(1500);
      await valueSeen(bench, /= 2/);
      await valueSeen(bench, /= 4/);
      await bench.shot('moved-values');
    },
  },
  {
    // To run a function is to call it: its arguments are asked for.
    name: 'run-form-function',
    file: 'lesson-hints.nesl',
    real: true,
    async see(bench) {
      await bench.cursorAt('norm');
      await bench.page.keyboard.press('Control+Enter');
      const input = bench.page.locator('.quick-input-widget input').first();
      await input.waitFor();
      await input.fill('[3.0, 4.0]');
      await bench.page.keyboard.press('Enter');
      await valueSeen(bench, /norm\(\[3\.0, 4\.0\]\) = 5\.0/);
    },
  },
  {
    // The panel can be read in every theme.
    name: 'point-22-preview',
    file: 'lesson-hints.nesl',
    real: true,
    async see(bench) {
      await bench.cursorAt('norm');
      await bench.command('NESL: Show IR');
      const preview = await bench.preview();
      await preview.locator('.line').first().waitFor();
      const pale = [];
      for (const theme of ['Default Dark Modern', 'Default Light Modern', 'Default High Contrast', 'Default High Contrast Light']) {
        await bench.theme(theme);
        await bench.page.waitForTimeout(2000);
        for (const tab of ['Fused', 'PTX', 'Segments']) {
          await preview.locator('[role=tab]', { hasText: tab }).click();
          await bench.page.waitForTimeout(1000);
          for (const one of await preview.evaluate(paleTexts)) pale.push(`${theme}, ${tab}: ${one}`);
        }
        await bench.shot(`preview-${theme.replace(/\W+/g, '-').toLowerCase()}`);
      }
      bench.set({});
      if (pale.length > 0) throw new Error(`what can hardly be read: ${pale.join('; ')}`);
    },
  },
  {
    name: 'point-1-library',
    file: 'library.nesl',
    real: true,
    async see(bench) {
      await bench.cursorAt('wordify');
      await bench.page.keyboard.press('F12');
      await bench.page.locator('.tab.active', { hasText: 'strings.nesl' }).waitFor();
      const text = bench.page.locator('.editor-instance .view-lines', { hasText: 'function wordify' });
      await text.first().waitFor();
      if (/has no such document/.test(await text.first().innerText())) throw new Error('the library has no text');
      await bench.shot('library');
    },
  },
  {
    // While the server starts, and when it has died, the grammar gives the colours: nothing flashes.
    name: 'point-21-colors',
    file: 'colors.nesl',
    real: true,
    async see(bench) {
      await bench.page.waitForTimeout(2500);
      const own = { 'editor.bracketPairColorization.enabled': false, 'editor.inlayHints.enabled': 'off', 'editor.codeLens': false, 'editor.occurrencesHighlight': 'off' };
      for (const theme of ['Default Dark Modern', 'Default Light Modern']) {
        await bench.theme(theme, { ...own, 'editor.semanticHighlighting.enabled': true, '[nesl]': { 'editor.semanticHighlighting.enabled': true } });
        await bench.page.waitForTimeout(2500);
        const meaning = await colors(bench);
        await bench.shot(`colors-${theme.includes('Light') ? 'light' : 'dark'}`);
        await bench.theme(theme, { ...own, 'editor.semanticHighlighting.enabled': false, '[nesl]': { 'editor.semanticHighlighting.enabled': false } });
        await bench.page.waitForTimeout(2500);
        const grammar = await colors(bench);
        await bench.shot(`colors-${theme.includes('Light') ? 'light' : 'dark'}-grammar`);
        const others = new Set();
        for (const [place, [word, color]] of meaning) {
          const other = grammar.get(place)?.[1];
          if (other !== color) others.add(`${place} ${word}: ${other} becomes ${color}`);
        }
        bench.set({});
        if (others.size > 0) throw new Error(`colours change in ${theme}: ${[...others].join('; ')}`);
      }
    },
  },
  {
    // Types that are not written can be read in a light theme, too.
    name: 'point-22-hints',
    file: 'lesson-hints.nesl',
    real: true,
    async see(bench) {
      await bench.theme('Default Light Modern');
      const hint = bench.page.locator('.view-line span span', { hasText: '[float] -> float' }).last();
      await hint.waitFor();
      await bench.page.waitForTimeout(2500);
      await bench.shot('hints-light');
      const color = await hint.evaluate((span) => getComputedStyle(span).color);
      bench.set({});
      const parts = color.match(/\d+/g).slice(0, 3).map((part) => {
        const value = Number(part) / 255;
        return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
      const contrast = 1.05 / (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05);
      if (contrast < 4.5) throw new Error(`hints are ${color}: a contrast of ${contrast.toFixed(1)}`);
    },
  },
  {
    name: 'point-8-values-stay',
    file: 'library.nesl',
    real: true,
    async see(bench) {
      await bench.command('NESL: Run File');
      await valueSeen(bench, /= 6/);
      await valueSeen(bench, /= 3/);
      await bench.cursorAt('1 + 2');
      await bench.command('NESL: Run Form at Cursor');
      await bench.page.waitForTimeout(1500);
      await valueSeen(bench, /= 6/);
      await bench.shot('values-stay');
    },
  },
];

/** The colour of each visible character that is no blank, by its line and column, with the word that it is in. */
async function colors(bench) {
  return new Map(
    await bench.page.evaluate(() => {
      const lines = [...document.querySelectorAll('.editor-instance .view-lines .view-line')];
      lines.sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y);
      return lines.flatMap((line, number) => {
        const all = [];
        let column = 0;
        const whole = line.textContent;
        for (const span of line.querySelectorAll(':scope > span > span')) {
          for (const letter of span.textContent) {
            const word = `${whole.slice(0, column).match(/\w*$/)[0]}${whole.slice(column).match(/^\w+|^./)?.[0] ?? letter}`;
            if (letter.trim() !== '' && letter !== '\u00a0') all.push([`${number + 1}:${column + 1}`, [word, getComputedStyle(span).color]]);
            column += 1;
          }
        }
        return all;
      });
    }),
  );
}

/** In the panel: the texts whose contrast to what is behind them is too low, by class and colour. */
function paleTexts() {
  const parts = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const part = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const [r, g, b, a = 1] = parts(getComputedStyle(at).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    const hex = getComputedStyle(document.documentElement).getPropertyValue('--vscode-editor-background').trim();
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  };
  const pale = new Set();
  for (const element of document.querySelectorAll('#panel *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!own || !element.checkVisibility()) continue;
    const color = getComputedStyle(element).color;
    // Mixed colours are told from 0 to 1.
    const scale = color.startsWith('color(') ? 255 : 1;
    const values = parts(color.replace(/^color\(srgb/, '')).map((value) => value * scale);
    const [low, high] = [luminance(values), luminance(behind(element))].sort((a, b) => a - b);
    if ((high + 0.05) / (low + 0.05) < 4.5) pale.add(`${element.className} ${color}`);
  }
  return [...pale];
}

/** Waits until the text of the editor shows something. */
async function textSeen(bench, pattern) {
  for (let i = 0; i < 100; i++) {
    const text = (await bench.editor.innerText()).replace(/\u00a0/g, ' ');
    if (pattern.test(text)) return;
    await bench.page.waitForTimeout(100);
  }
  throw new Error(`the editor does not show ${pattern}`);
}
