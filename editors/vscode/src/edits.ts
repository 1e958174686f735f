/**
 * What becomes of things that stand at places in a text when it is edited: those on a line that
 * was touched are gone, those below move along.
 */

import type { InlineValue, Range } from './protocol';

export interface Edit {
  range: Range;
  text: string;
}

/** The values that survive the edits, where they are now. Edits are as VS Code reports them: all
    in terms of the text before, none overlapping. */
export function afterEdits<V extends Pick<InlineValue, 'position'>>(
  values: readonly V[],
  edits: readonly Edit[],
): V[] {
  // From the bottom up, so that no edit moves what another speaks of.
  const ordered = [...edits].sort((a, b) => b.range.start.line - a.range.start.line);
  return ordered.reduce((left, edit) => left.flatMap((value) => afterEdit(value, edit)), [...values]);
}

function afterEdit<V extends Pick<InlineValue, 'position'>>(value: V, edit: Edit): V[] {
  const { start, end } = edit.range;
  const { line, character } = value.position;
  if (line < start.line) return [value];
  const moved = edit.text.split('\n').length - 1 - (end.line - start.line);
  // What ends where the line begins leaves the line whole.
  const above =
    end.line === line && end.character === 0 && (edit.text === '' ? start.character === 0 : edit.text.endsWith('\n'));
  if (line > end.line || above) return [{ ...value, position: { line: line + moved, character } }];
  // New lines below a line leave what is on it alone.
  const below = start.line === line && start.character >= character && /^\r?\n/.test(edit.text);
  if (below && end.line === start.line) return [value];
  return [];
}
