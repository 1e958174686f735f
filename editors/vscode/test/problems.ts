/**
 * The patterns of the problem matcher, as `package.json` contributes them, applied the way VS Code
 * does: for tests, which run them over what `nesl check` really prints.
 */

export interface Pattern {
  regexp: string;
  message?: number;
  severity?: number;
  file?: number;
  line?: number;
  column?: number;
}

export interface Problem {
  message: string;
  severity: string;
  file: string;
  line: number;
  column: number;
}

/** All problems in an output. */
export function match(patterns: readonly Pattern[], output: string): Problem[] {
  const lines = output.replace(/\u001b\[[0-9;]*m/g, '').split(/\r?\n/);
  const problems: Problem[] = [];
  for (let at = 0; at + patterns.length <= lines.length; at++) {
    const found = matchAt(patterns, lines, at);
    if (found !== undefined) problems.push(found);
  }
  return problems;
}

function matchAt(patterns: readonly Pattern[], lines: string[], at: number): Problem | undefined {
  const problem: Record<string, string> = {};
  for (const [n, pattern] of patterns.entries()) {
    const groups = new RegExp(pattern.regexp).exec(lines[at + n] ?? '');
    if (groups === null) return undefined;
    for (const field of ['message', 'severity', 'file', 'line', 'column'] as const) {
      const group = pattern[field];
      if (group !== undefined) problem[field] = groups[group] ?? '';
    }
  }
  const { message = '', severity = '', file = '', line, column } = problem;
  return { message, severity, file, line: Number(line), column: Number(column) };
}
