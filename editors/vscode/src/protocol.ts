/**
 * What is said between the extension and `nesl lsp` beyond LSP, as `docs/book/src/protocol.md` in
 * the project's book has it. Types only, and the names of methods: nothing here runs, so that the
 * preview's own script can share it.
 */

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface DocumentId {
  uri: string;
}

/** What the server is told when it starts, and again when settings change. */
export interface Options {
  runtime: string;
  precision: number;
  values: 'hints' | 'notification' | 'off';
  lenses: boolean | { run: boolean; ir: boolean; cost: boolean };
  preview: boolean;
  askArguments: boolean;
  library: boolean;
  hints: { types: boolean; parallelism: boolean };
}

export interface IrParams {
  textDocument: DocumentId;
  stage: string;
  position?: Position;
}

export interface SourceLine {
  line: number;
  source: Range;
}

export interface IrResult {
  title: string;
  subject: string;
  text: string;
  stale: boolean;
  message?: string | null;
  lines: SourceLine[];
  summary?: string | null;
}

export interface SegmentsParams {
  textDocument: DocumentId;
  position: Position;
}

export interface SegmentsResult {
  subject: string;
  message?: string | null;
  steps: SegmentStep[];
}

export interface SegmentStep {
  title: string;
  code: string;
  source?: Range | null;
  inputs: SegmentedValue[];
  output?: SegmentedValue | null;
}

export interface Level {
  kind: 'regular' | 'contiguous' | 'views';
  starts: number[];
  lengths: number[];
}

export interface SegmentedValue {
  name: string;
  type: string;
  value: string;
  levels: Level[];
  data: string[][];
  nested?: NestedComponent[] | null;
}

/** A component of a tuple that is a sequence itself: each entry of its list, as segments. */
export interface NestedComponent {
  component: number;
  levels: Level[];
  data: string[][];
  nested?: NestedComponent[] | null;
}

export interface RunParams {
  textDocument: DocumentId;
  range?: Range;
  expression?: string;
  position?: Position;
}

export interface RunResult {
  run: number;
  version: number;
}

export interface CostResult {
  subject: string;
  text: string;
  /** False if `text` is the reason why there is no cost. */
  measured?: boolean;
}

/** Asks for the type of a selection. */
export interface SelectionParams {
  textDocument: DocumentId;
  range: Range;
}

export interface InlineValue {
  position: Position;
  text: string;
  detail: string;
  seconds: number;
  error: boolean;
  /** Something that it depends on has changed since: drawn in grey. */
  stale?: boolean;
  /** It is being computed; `seconds` is the time so far. */
  running?: boolean;
}

export type RunState = 'running' | 'done' | 'stopped' | 'failed';

export interface ValuesParams {
  textDocument: { uri: string; version: number };
  state: RunState;
  run: number;
  /** The time of the whole run, so far or in the end. */
  seconds?: number;
  values: InlineValue[];
  output: string;
}

export interface StatusParams {
  version: string;
  runtime: string;
  device: string;
  precision: number;
}

export interface ShowIrArgument {
  textDocument: DocumentId;
  position: Position;
  stage?: string;
}

export interface RunFunctionArgument {
  textDocument: DocumentId;
  position: Position;
  name: string;
  type: string;
  parameters?: string | null;
}

export const method = {
  stages: 'nesl/stages',
  ir: 'nesl/ir',
  segments: 'nesl/segments',
  run: 'nesl/run',
  stop: 'nesl/stop',
  cost: 'nesl/cost',
  library: 'nesl/library',
  hover: 'nesl/hover',
  values: 'nesl/values',
  status: 'nesl/status',
} as const;

/**
 * A stage of the compiler, as the answer to `initialize` (`capabilities.experimental.stages`) and to
 * `nesl/stages` lists them. Those with `preview` are tabs of the preview; of stage `kir`, the text is
 * every kernel that can be launched, in every variant, and the sequential code of the program.
 */
export interface Stage {
  id: string;
  title: string;
  hint: string;
  preview: boolean;
}
