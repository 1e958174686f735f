// What is looked at: each scene opens a notebook of some cells, does something, waits for what should
// be seen, and takes a picture.

/** The pictures that the book and the README show. */
export const kept = ['overview', 'busy', 'errors', 'flatten', 'cost'];

// A computation that goes on for minutes on one core.
const LONG = 'function spin(n) = if n == 0 then 0 else spin(rem(n + 1, 1000000) + 1);\n\nspin(1)';

const QUICKSORT = `% Both sides are sorted at the same time, and each of them in parallel inside. %
function quicksort(a) "The elements of a, in order." =
  if #a < 2 then a
  else let pivot = a[#a / 2];
           less  = {x in a | x < pivot};
           equal = {x in a | x == pivot};
           more  = {x in a | x > pivot};
           sides = {quicksort(side) : side in [less, more]}
       in sides[0] ++ equal ++ sides[1];`;

const ESCAPE = `function escape(cr, ci, zr, zi, steps) =
  let r2 = zr * zr; i2 = zi * zi
  in if r2 + i2 > 4.0 or steps == 60 then steps
     else escape(cr, ci, r2 - i2 + cr, 2.0 * zr * zi + ci, steps + 1);

{{escape(3.0 * float(x) / 150.0 - 2.0, 2.5 * float(y) / 120.0 - 1.25, 0.0, 0.0, 0) : x in [0:150]} : y in [0:120]}`;

const DRAWING = `function points(n) =
  let (window, box) = w_make_window_box(((0, 0), (300, 150)), ((0.0, 0.0), 1.0, 1.0), "Points", w_white, display)
  in w_draw_points({(rand(1.0), rand(1.0)) : i in [0:n]}, w_black, box);

#points(200)`;

export const scenes = [
  {
    name: 'values',
    cells: ['xs = [1, 2, 3];\nname_of_it = "sequence";', 'sum(xs)', 'name_of_it', '(7 / 2, 1.5, t)', 'print_line("printed");\nwrite_string("a warning", stderr);'],
    async see(lab) {
      await lab.run(0);
      await lab.says(0, /xs : \[int\]/);
      await lab.run(1);
      equal(await lab.prompt(1), '[2]:');
      await lab.says(1, /^6\b/);
      equal(await lab.outputs(1).locator('xpath=ancestor-or-self::*[contains(@class,"jp-OutputArea-executeResult")]').count(), 1);
      await lab.runAll();
      await lab.says(2, /sequence/);
      await lab.says(4, /printed/);
      equal(await lab.cell(4).locator('[data-mime-type="application/vnd.jupyter.stderr"]').innerText(), 'a warning');
      await lab.shot('values');
    },
  },
  {
    name: 'overview',
    cells: [QUICKSORT, 'quicksort([8, 14, -8, -9, 5, -9, -3, 0, 17, 19]);\n{(word, quicksort(word)) : word in ["nested", "data", "parallelism"]}', '{[0:n] : n in [3, 0, 7, 1]}', ':histogram {rand(6) + rand(6) : i in [0:1000]}'],
    async see(lab) {
      await lab.runAll();
      equal(await lab.outputs(1).locator('table').count(), 1);
      await lab.picture('overview', 0, 3);
    },
  },
  {
    name: 'colours',
    cells: [QUICKSORT, ':time\nxs = "text"; y = `c; z = 1.5; % a remark %\nif t and z > 1.0 then sum([1, 2]) else 0'],
    async see(lab) {
      const colours = await coloursOf(lab, 0);
      const text = colours.get('pivot');
      for (const word of ['function', 'if', 'let', '2', 'The elements of a, in order.', 'Both sides are sorted at the same time, and each of them in parallel inside. ']) {
        const found = [...colours].find(([piece]) => piece.includes(word));
        if (found === undefined || found[1] === text) throw new Error(`\`${word}\` has no colour of its own`);
      }
      const more = await coloursOf(lab, 1);
      for (const word of [':time', '"text"', '`c', '1.5', '% a remark %', 'and']) {
        const found = [...more].find(([piece]) => piece.includes(word));
        if (found === undefined || found[1] === text) throw new Error(`\`${word}\` has no colour of its own`);
      }
      await lab.picture('colours', 0, 1);
    },
  },
  {
    name: 'tables',
    cells: ['datatype point(float, float);\npoints = {(i, "row" ++ @i, sqrt(float(i)), evenp(i)) : i in [0:500]};', 'points', '{point(float(i), float(i * i)) : i in [0:4]}', '{{i * j : j in [0:8]} : i in [0:5]}', ESCAPE],
    async see(lab) {
      await lab.runAll();
      await lab.says(1, /500/);
      const rows = await lab.outputs(1).locator('table tbody tr').count();
      if (rows < 10 || rows > 60) throw new Error(`the table has ${rows} rows`);
      equal(await lab.outputs(3).locator('table').count(), 1);
      await lab.picture('tables', 1, 3);
      const image = lab.outputs(4).locator('img, svg image, canvas').first();
      await image.waitFor();
      if ((await image.boundingBox()).width < 100) throw new Error('the image is too small');
      await lab.picture('image', 4);
    },
  },
  {
    name: 'nested',
    cells: ['{[0:n] : n in [3, 0, 7, 1]}', '{{{k : k in [0:j]} : j in [0:i]} : i in [0:4]}', '{[0:rem(i * 7919, 50)] : i in [0:10000]}', '{"a" ++ @n : n in [0:5]}'],
    async see(lab) {
      await lab.runAll();
      for (const number of [0, 1, 2, 3]) {
        if ((await lab.outputs(number).locator('table, div').count()) === 0) throw new Error(`cell ${number} shows nothing`);
      }
      await lab.says(2, /10,000/);
      const { height } = await lab.outputs(2).first().boundingBox();
      if (height > 700) throw new Error(`a long value takes ${height} pixels`);
      await lab.picture('nested', 0, 3);
    },
  },
  {
    name: 'plots',
    cells: [':plot\n{let x = float(i) / 10.0 in (x, sin(x) * x) : i in [0:200]}', ':scatter {(rand(1.0), rand(1.0)) : i in [0:100]}', ':histogram {rand(6) + rand(6) : i in [0:1000]}', ':heatmap {{i * j : j in [0:20]} : i in [0:10]}', DRAWING],
    async see(lab) {
      await lab.runAll();
      for (const number of [0, 1, 2, 3]) {
        const plot = lab.outputs(number).locator('.vega-embed canvas, .vega-embed svg').first();
        await plot.waitFor();
        if ((await inks(plot)) < 8) throw new Error(`the plot of cell ${number} is empty`);
        await lab.picture(`plot-${number}`, number);
      }
      const drawing = lab.outputs(4).locator('svg, img').first();
      await drawing.waitFor();
      await lab.picture('drawing', 4);
    },
  },
  {
    name: 'busy',
    cells: ['kept_value = [10, 20, 30];\nfunction twice(x) "Two of x." = x * 2;', LONG, 'sum(kept_value)'],
    async see(lab) {
      await lab.run(0);
      await lab.begin(1);
      await lab.busy();
      await lab.page.waitForTimeout(1000);
      // Names of the library and of the cells above, with their kinds, while the cell runs,
      await lab.typeBelow('sum(kep');
      const [only] = await lab.completions();
      equal(only, 'v kept_value variable');
      await lab.page.keyboard.press('Enter');
      await lab.until(async () => /sum\(kept_value/.test(await typed(lab)), async () => `completed as: ${await typed(lab)}`);
      await lab.page.keyboard.type(') + plus_');
      const offered = await lab.completions();
      if (!offered.some((text) => /plus_scan/.test(text) && /function/.test(text))) throw new Error(`it offers ${offered.join(', ')}`);
      await lab.shot('busy-completion');
      await lab.page.keyboard.press('Escape');
      await lab.page.keyboard.press('Enter');
      await lab.page.keyboard.press('Control+A');
      // documentation,
      await lab.page.keyboard.type('plus_scan');
      const told = await lab.inspection();
      if (!/\[a\] -> \[a\]|plus_scan/.test(told)) throw new Error(`it tells ${told}`);
      await lab.shot('busy', lab.page.locator('.jp-Tooltip'));
      await lab.page.keyboard.press('Escape');
      equal(await lab.prompt(1), '[*]:');
      // and how far it is.
      await lab.says(1, /\d+(\.\d+)? s\b/);
      // A cell that waits is ended by an interrupt as well,
      await lab.begin(2);
      await lab.until(async () => (await lab.prompt(2)) === '[*]:', 'the next cell does not wait');
      await lab.menu('Kernel', 'kernelmenu:interrupt');
      await lab.says(1, /[Ii]nterrupt/, 5);
      await lab.idle();
      equal(await lab.prompt(2), '[ ]:');
      equal(await lab.text(2), '');
      await lab.shot('interrupted');
      // and what was there before is still there.
      await lab.run(2);
      await lab.says(2, /^60\b/);
    },
  },
  {
    name: 'progress',
    cells: ['shell_command("sleep 3", "")', LONG],
    async see(lab) {
      await lab.begin(0);
      await lab.says(0, /\d s\b/, 10);
      await lab.shot('progress');
      await lab.until(async () => /^\[\d/.test(await lab.prompt(0)), 'it does not end');
      await lab.idle();
      await lab.page.waitForTimeout(500);
      const left = await lab.text(0);
      if (/\d s\b|elapsed|running/i.test(left)) throw new Error(`of the progress stays: ${left}`);
      await lab.shot('progress-gone');
    },
  },
  {
    name: 'restart',
    cells: ['xs = [1, 2, 3];', 'sum(xs)'],
    async see(lab) {
      await lab.runAll();
      await lab.says(1, /^6\b/);
      await lab.menu('Kernel', 'kernelmenu:restart');
      await lab.page.locator('.jp-Dialog .jp-mod-accept').click();
      await lab.page.waitForTimeout(1500);
      await lab.idle();
      await lab.run(1);
      await lab.says(1, /`xs` is undefined/);
      await lab.run(0);
      await lab.run(1);
      await lab.says(1, /^6\b/);
    },
  },
  {
    name: 'errors',
    cells: ['words = ["all", "together", "now"];\n{words[i] : i in [0, 1, 2, 3]}', '[1, 2, 3] + 1', 'never = 1;'],
    async see(lab) {
      await lab.runAll();
      await lab.says(0, /In \[1\]:2:/);
      equal(await lab.prompt(1), '[ ]:');
      equal(await lab.prompt(2), '[ ]:');
      await lab.run(1);
      await lab.says(1, /Type error: `\+` does not fit a sequence \[int\] and an int/);
      await lab.says(1, /In \[2\]:1:/);
      const colours = await lab.outputs(1).locator('span[class*="ansi-"], span[style*="color"]').count();
      if (colours < 4) throw new Error('the message has no colours');
      await lab.picture('errors', 0, 1);
    },
  },
  {
    name: 'input',
    cells: ['who = prompt("Who are you? ");\n"Good day, " ++ who', '((line, more), state) = read_line(stdin);\nline'],
    async see(lab) {
      for (const [number, answer] of [[0, 'Guy'], [1, 'a line']]) {
        await lab.begin(number);
        const field = lab.cell(number).locator('.jp-Stdin-input');
        await field.waitFor();
        if (number === 0) await lab.shot('input');
        await field.fill(answer);
        await field.press('Enter');
        await lab.until(async () => /^\[\d/.test(await lab.prompt(number)), 'the cell does not end');
      }
      await lab.says(0, /Good day, Guy/);
      await lab.says(1, /a line/);
      await lab.shot('input-answered');
    },
  },
  {
    name: 'commands',
    cells: [QUICKSORT, ':cost quicksort({rand(10000) : i in [0:n]}) for n = 1e2, 2e2, 5e2, 1e3, 2e3', ':flatten {sum(row) : row in [[2, 1], [7, 3, 0], [] int, [4]]}', 'xs = [0:200000];\n:kernels', ':kernels sum({x * x : x in [0:200000]})', 'ys = {x * 2 : x in [0:100000]};\nzs = [[1, 2], [3]];\nzs', ':vars', ':doc plus_scan', ':ir flat {sum(r) : r in [[2, 1], [3]]}', ':help', '%time 1 + 1'],
    async see(lab) {
      for (const number of [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]) await lab.run(number);
      await lab.says(1, /work\s+≈/);
      await lab.outputs(1).locator('.vega-embed canvas, .vega-embed svg').first().waitFor();
      await lab.picture('cost', 1);
      await lab.says(2, /the sum of each segment/);
      await lab.outputs(2).locator('img, svg').first().waitFor();

      await lab.picture('flatten', 2);
      await lab.says(4, /200,000/);
      await lab.outputs(4).locator('svg').first().waitFor();
      await lab.picture('kernels', 4);
      await lab.says(6, /ys/);
      await lab.says(6, /not yet computed/);
      await lab.picture('vars', 5, 6);
      await lab.says(7, /plus_scan/);
      await lab.picture('doc', 7);
      await lab.picture('ir', 8);
      await lab.picture('help', 9);
      await lab.says(10, /:time/);
      await lab.picture('magic', 10);
    },
  },
  {
    name: 'flood',
    cells: ['line = {`x : i in [0:2000]};\nfunction flood(n) =\n  if n == 0 then 0\n  else let done = print_line(line) in flood(n - 1);\n\nflood(2500)', '1 + 1'],
    async see(lab) {
      await lab.run(0);
      await lab.says(0, /A cell shows 1 MB of what it prints at once/);
      await lab.run(1);
      await lab.says(1, /^2\b/);
      await lab.shot('flood');
    },
  },
];

function equal(seen, expected) {
  if (seen !== expected) throw new Error(`it shows ${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`);
}

/** The text of the cell that is written in. */
async function typed(lab) {
  return lab.page.locator('.jp-Notebook .jp-CodeCell').last().locator('.cm-content').innerText();
}

/** The pieces of a cell's text, each with its colour. */
async function coloursOf(lab, number) {
  const pieces = await lab.cell(number).locator('.cm-content').evaluate((content) => {
    const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node; (node = walker.nextNode()); ) found.push([node.data, getComputedStyle(node.parentElement).color]);
    return found;
  });
  return new Map(pieces.map(([text, colour]) => [text.trim(), colour]));
}

/** How many colours a plot has: an empty one has those of its frame. */
async function inks(plot) {
  return plot.evaluate((element) => {
    if (element.tagName.toLowerCase() === 'svg') return element.querySelectorAll('path, rect, circle').length;
    const { data } = element.getContext('2d').getImageData(0, 0, element.width, element.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
}
