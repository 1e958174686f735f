/** What the double of the server answers: texts as the compiler prints them, and one nested value. */

import type { SegmentsResult } from '../../src/protocol';

export const IR: Record<string, string> = {
  types: 'dot : ([int], [int]) -> int\n  a : [int]\n  b : [int]',
  ir: `main "dot@int"

fn "dot@int"(v0: [int], v1: [int]) -> int {
  v5: [int] = each v2: int in v0, v3: int in v1 {
    v4: int = mul(v2, v3)
    v4
  }
  v6: int = reduce_sum(v5)
  v6
}`,
  flat: `flat "dot@int"(v0: [int], v1: [int]) -> int {
  v7: bool in s0 = same_length(v0, v1, nest_length)
  s1 = elements v0 of s0
  v8: int in s1 = element(v0)
  v9: int in s1 = element(v1) after v7
  v4: int in s1 = mul(v8, v9)
  v6: int in s0 = reduce_sum v4 from s1
  v6
}`,
};

export const SEGMENTS: SegmentsResult = {
  subject: '{sum(a) : a in [[2, 3], [8, 3, 9], [], [7]]}',
  steps: [
    {
      title: 'the nested sequence',
      code: 'v0: [[int]]',
      inputs: [],
      output: {
        name: 'v0',
        type: '[[int]]',
        value: '[[2, 3], [8, 3, 9], [], [7]]',
        levels: [
          { kind: 'contiguous', starts: [0], lengths: [4] },
          { kind: 'contiguous', starts: [0, 2, 5, 5], lengths: [2, 3, 0, 1] },
        ],
        data: [['2', '3', '8', '3', '9', '7']],
      },
    },
    {
      title: 'the sum of each row',
      code: 'v6: int in s1 = reduce_sum v4 from s2',
      source: { start: { line: 0, character: 1 }, end: { line: 0, character: 7 } },
      inputs: [
        {
          name: 'v4',
          type: 'int in s2',
          value: '[[2, 3], [8, 3, 9], [], [7]]',
          levels: [{ kind: 'contiguous', starts: [0, 2, 5, 5], lengths: [2, 3, 0, 1] }],
          data: [['2', '3', '8', '3', '9', '7']],
        },
      ],
      output: {
        name: 'v6',
        type: 'int in s1',
        value: '[5, 20, 0, 7]',
        levels: [{ kind: 'contiguous', starts: [0], lengths: [4] }],
        data: [['5', '20', '0', '7']],
      },
    },
    {
      title: 'windows of two',
      code: 'v9: [int] in s1 = views(v4)',
      inputs: [],
      output: {
        name: 'v9',
        type: '[[int]]',
        value: '[[2, 3], [3, 8], [8, 3]]',
        levels: [{ kind: 'views', starts: [0, 1, 2], lengths: [2, 2, 2] }],
        data: [['2', '3', '8', '3', '9', '7']],
      },
    },
  ],
};
