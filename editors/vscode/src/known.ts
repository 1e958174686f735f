/**
 * What a REPL knows of a file: the definitions that it began with, and those that were sent to it
 * since. When a file has others by now, what is sent next may need them.
 */

import { definitions } from './forms';

export class Known {
  private texts = new Set<string>();

  /** The REPL has read a text. */
  read(text: string): void {
    this.texts = new Set(definitions(text));
  }

  /** Forms were sent to it. */
  sent(text: string): void {
    for (const one of definitions(text)) this.texts.add(one);
  }

  /** Whether a text defines something, besides a part of it that is to be sent, that the REPL has not read. */
  lacks(text: string, part: string): boolean {
    const own = new Set(definitions(part));
    return definitions(text).some((one) => !this.texts.has(one) && !own.has(one));
  }
}
