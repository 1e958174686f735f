// What people have met in the text of a program: definitions in the library, and values that stay.

import { valueSeen } from './scenes.mjs';

export const files = {
  'library.nesl': `words = wordify("to be or not to be");
#words;
1 + 2;
`,
};

export const scenes = [
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
