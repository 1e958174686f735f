/** Where tests find things. They run from `dist/test/`. */

import { join } from 'node:path';

export const root = join(__dirname, '..', '..');

/** The program to try things on, if one is given. */
export const binary = process.env['NESL_BINARY'] || undefined;

export const noBinary = 'no program to try it on: set NESL_BINARY to the path of `nesl`';

/** The double of the server. */
export const fake = join(root, 'dist', 'test', 'fake', 'nesl');
