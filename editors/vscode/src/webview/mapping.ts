/** Which lines of a stage's text belong to which part of the source. */

import type { Position, Range, SourceLine } from '../protocol';

/**
 * The lines whose source is the smallest one around a position. Where that has several lines, as on
 * the name of `less = …` the whole `let` has, what begins on the line of the position is meant.
 */
export function linesAt(lines: readonly SourceLine[], at: Position): number[] {
  const around = lines.filter(({ source }) => before(source.start, at) && before(at, source.end));
  const smallest = around.reduce<Range | undefined>(
    (best, { source }) => (best === undefined || inside(source, best) ? source : best),
    undefined,
  );
  if (smallest === undefined || smallest.start.line < smallest.end.line) {
    const here = lines.filter(({ source }) => source.start.line === at.line && source.end.line === at.line);
    if (here.length > 0) return here.map(({ line }) => line);
  }
  if (smallest === undefined) return [];
  return around.filter(({ source }) => same(source, smallest)).map(({ line }) => line);
}

/** Where a line comes from; the lines above speak for those that say nothing. */
export function sourceOf(lines: readonly SourceLine[], line: number): Range | undefined {
  return lines.find((entry) => entry.line === line)?.source;
}

function before(a: Position, b: Position): boolean {
  return a.line < b.line || (a.line === b.line && a.character <= b.character);
}

function inside(a: Range, b: Range): boolean {
  return before(b.start, a.start) && before(a.end, b.end);
}

function same(a: Range, b: Range): boolean {
  return inside(a, b) && inside(b, a);
}
