import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MAX_PROMPT_COUNT, MAX_TOKEN_ID_COUNT, promptList, tokenIdList } from './token-ids.ts';
import { toValidationDetails } from './validation-error.ts';

const schema = z.object({ prompt: promptList() });

function faultsOf(prompt: unknown) {
  const { error } = schema.safeParse({ prompt });
  return error === undefined ? [] : toValidationDetails(error, 'body', { prompt });
}

describe('promptList', () => {
  it.each([
    ['hi', ['hi']],
    [
      ['a', ''],
      ['a', ''],
    ],
    [
      ['1', '2'],
      ['1', '2'],
    ],
    [[1, 2], [[1, 2]]],
    [[1.0, true], [[1, 1]]],
    [
      [[1], []],
      [[1], []],
    ],
  ])('reads %j as the prompts %j', (given, prompts) => {
    expect(schema.parse({ prompt: given })).toEqual({ prompt: prompts });
  });

  it.each([
    [5, 'string_type', []],
    [['a', ['b']], 'string_type', ['1']],
    [[1, '2'], 'int_type', ['1']],
    [[[1], 'a'], 'list_type', ['1']],
    [[[1, null]], 'int_type', ['0', '1']],
    [[1, 2n ** 60n], 'int_parsing_size', ['1']],
    [new Array(MAX_PROMPT_COUNT + 1).fill('a'), 'too_long', []],
    [new Array(MAX_TOKEN_ID_COUNT + 1).fill(1), 'too_long', []],
    [[[1], new Array(MAX_TOKEN_ID_COUNT).fill(1)], 'too_long', []],
  ])('reports the first fault at its place (%#)', (given, type, path) => {
    expect(faultsOf(given)).toEqual([
      {
        loc: ['body', 'prompt', ...path],
        type,
        msg: expect.stringMatching(/^(Input|Lists?) should|^Unable/),
      },
    ]);
  });

  it('is shown in documents as its four forms', () => {
    const document = z.toJSONSchema(schema, { io: 'input' });
    expect(document.properties?.prompt).toMatchObject({ anyOf: { length: 4 } });
  });
});

describe('tokenIdList', () => {
  it('keeps the ids and stops at the first fault of a long list', () => {
    const list = tokenIdList();
    expect(list.parse([3, 2.0])).toEqual([3, 2]);
    const { error } = list.safeParse(new Array(100_000).fill('x'));
    expect(error?.issues).toHaveLength(1);
  });
});
