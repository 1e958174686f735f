/** What the preview's panel and its page say to each other. */

import type { CostResult, IrResult, Position, Range, SegmentsResult, Stage } from './protocol';

/** A tab that is no stage of the compiler. */
export const SEGMENTS = 'segments';
export const COST = 'cost';

export type ToPage =
  | { type: 'tabs'; tabs: Stage[]; selected: string; follow: boolean; whole: boolean }
  | { type: 'ir'; stage: string; result: IrResult }
  | { type: 'segments'; result: SegmentsResult }
  | { type: 'cost'; result: CostResult | undefined; message?: string }
  /** Nothing new could be made: what is shown stays, greyed; or there is nothing to show. */
  | { type: 'nothing'; stage: string; message: string }
  | { type: 'cursor'; position: Position | undefined }
  | { type: 'busy'; busy: boolean };

export type FromPage =
  | { type: 'ready' }
  | { type: 'select'; stage: string }
  | { type: 'reveal'; range: Range | undefined; go: boolean }
  | { type: 'follow'; follow: boolean }
  | { type: 'whole'; whole: boolean }
  | { type: 'measure' };
