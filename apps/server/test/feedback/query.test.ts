// The test vectors of the query language over HTTP, on every database.

import { QUERY_ERROR_FAULTS } from '@ortler/feedback-query';
import { anyExpr, matches, printExpr, QUERY_VECTORS, VECTOR_ROWS } from '@ortler/feedback-query/testing';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { DATABASE_HOOK_TIMEOUT_MS } from '../databases.ts';
import { PROJECT, useFeedbackApp, where } from './feedback-app.ts';
import { describeOnEveryFeedbackPlace } from './feedback-places.ts';

const ALL = ['f01', 'f02', 'f03', 'f04', 'f05', 'f06', 'f07', 'f08', 'f09'];
const SCORES = where('feedback_type', 'custom.score');
const get = (name: string) => ({ $getField: name });

describeOnEveryFeedbackPlace('POST /feedback/query', ({ open }) => {
  const feedback = useFeedbackApp(open);
  beforeAll(() => feedback.fill(VECTOR_ROWS), DATABASE_HOOK_TIMEOUT_MS);

  it.each(QUERY_VECTORS)('%s %j', async (_name, $expr, expected) => {
    if (typeof expected !== 'string') {
      expect((await feedback.ids({ query: { $expr } })).sort()).toEqual(expected);
      return;
    }
    const response = await feedback.post('query', { project_id: PROJECT, query: { $expr } });
    const isMalformed = QUERY_ERROR_FAULTS[expected] === 'malformed';
    expect(response.statusCode).toBe(isMalformed ? 422 : 400);
    const { detail } = response.json() as { detail: unknown };
    if (isMalformed)
      expect(detail).toEqual([{ loc: expect.any(Array), msg: expect.any(String), type: expected }]);
    else expect(detail).toBeTypeOf('string');
  });

  const fields: [string, Record<string, unknown>, unknown][] = [
    [
      'F3',
      { fields: ['id', 'feedback_type', 'payload.note'], query: where('id', 'f01') },
      [{ id: 'f01', feedback_type: 'wandb.note.1', 'payload.note': 'Great answer, 100%' }],
    ],
    [
      'F4',
      { fields: ['id', 'payload.score'], query: where('id', 'f03') },
      [{ id: 'f03', 'payload.score': 0.9 }],
    ],
    ['F5', { fields: ['payload.ok'], query: where('id', 'f03') }, [{ 'payload.ok': true }]],
    ['F6', { fields: ['payload.score'], query: where('id', 'f01') }, [{ 'payload.score': null }]],
    [
      'F7',
      { fields: ['payload.output.deep'], query: where('id', 'f07') },
      [{ 'payload.output.deep': { k: [{ v: 1 }, { v: 2 }] } }],
    ],
    ['F8', { fields: ['payload.arr.2'], query: where('id', 'f09') }, [{ 'payload.arr.2': 30 }]],
    ['F9', { fields: ['payload.a\\.b'], query: where('id', 'f09') }, [{ 'payload.a\\.b': 'dot' }]],
    ['F10', { fields: ['count(*)'] }, [{ 'count(*)': 9 }]],
    ['F11', { fields: ['COUNT(*)'], query: where('id', 'nope') }, [{ 'COUNT(*)': 0 }]],
    ['F12', { fields: ['count(*)'], limit: 2 }, [{ 'count(*)': 9 }]],
    ['F13 limit', { fields: ['count(*)'], limit: 0 }, []],
    ['F13 offset', { fields: ['count(*)'], offset: 1 }, []],
    ['F18', { fields: ['payload_dump'], query: where('id', 'f08') }, [{ payload: { value: 7 } }]],
  ];
  it.each(fields)('%s: %j', async (_name, parts, expected) => {
    expect(await feedback.rows(parts)).toEqual(expected);
  });

  it.each([undefined, null, []])('F1, F2: fields %j gives whole rows', async names => {
    const [row] = await feedback.rows({ fields: names, query: where('id', 'f01') });
    expect(row).toEqual({ ...VECTOR_ROWS[0], created_at: '2026-01-01T00:00:00Z' });
    expect(row).toMatchObject({ runnable_ref: null, scorer_tags: [], span_status_code: 'UNSET' });
  });

  const sorts: [string, Record<string, unknown>, string[]][] = [
    [
      'S1',
      { query: SCORES, sort_by: [{ field: 'payload.score', direction: 'asc' }] },
      ['f04', 'f03', 'f05', 'f06'],
    ],
    [
      'S2',
      { query: SCORES, sort_by: [{ field: 'payload.score', direction: 'desc' }] },
      ['f06', 'f05', 'f03', 'f04'],
    ],
    [
      'S3',
      { sort_by: [{ field: 'payload.score', direction: 'desc' }] },
      ['f06', 'f05', 'f03', 'f04', 'f01', 'f02', 'f07', 'f08', 'f09'],
    ],
    [
      'S4',
      { query: SCORES, sort_by: [{ field: 'payload.rank', direction: 'asc' }] },
      ['f03', 'f04', 'f06', 'f05'],
    ],
    [
      'S5',
      { query: SCORES, sort_by: [{ field: 'payload.label', direction: 'asc' }] },
      ['f05', 'f06', 'f04', 'f03'],
    ],
    ['S7', { sort_by: [{ field: 'created_at', direction: 'desc' }], limit: 2 }, ['f09', 'f08']],
    ['S8', { sort_by: [{ field: 'created_at', direction: 'asc' }], offset: 1, limit: 2 }, ['f02', 'f03']],
    [
      'S9',
      {
        sort_by: [
          { field: 'feedback_type', direction: 'asc' },
          { field: 'created_at', direction: 'desc' },
        ],
      },
      ['f09', 'f06', 'f05', 'f04', 'f03', 'f08', 'f01', 'f02', 'f07'],
    ],
    ['S10 asc', { sort_by: [{ field: 'creator', direction: 'asc' }], limit: 1 }, ['f01']],
    ['S10 desc', { sort_by: [{ field: 'creator', direction: 'desc' }], limit: 1 }, ['f01']],
    ['S11', { sort_by: [{ field: 'scorer_ratings._rating_', direction: 'asc' }], limit: 1 }, ['f07']],
    ['S12', { sort_by: [{ field: 'id' }] }, ALL],
    ['S15 empty', { sort_by: [] }, ALL],
    ['S15 null', { sort_by: null }, ALL],
    ['L1', { limit: null, offset: null }, ALL],
    ['L2', { limit: 0 }, []],
    ['L3', { offset: 100 }, []],
    ['L4', { offset: 7, sort_by: [{ field: 'created_at' }] }, ['f08', 'f09']],
    ['L7 text', { limit: '2' }, ['f01', 'f02']],
    ['L7 whole', { limit: 2.0 }, ['f01', 'f02']],
    ['L10', { project_id: 'acme/none' }, []],
  ];
  it.each(sorts)('%s: %j', async (_name, parts, expected) => {
    expect(await feedback.ids(parts)).toEqual(expected);
  });

  const a = { $literal: true };
  const refused: [string, Record<string, unknown>, number, string[] | string][] = [
    ['F14', { fields: ['count(*)', 'feedback_type'] }, 422, ['body', 'fields']],
    ['F15', { fields: ['nope'] }, 400, 'Unknown field: nope'],
    ['F16', { fields: 'id' }, 422, ['body', 'fields']],
    ['F17', { fields: [1] }, 422, ['body', 'fields', '0']],
    ['S13', { sort_by: [{ field: 'id', direction: 'DESC' }] }, 422, ['body', 'sort_by', '0', 'direction']],
    ['S14', { sort_by: [{ field: 'nope', direction: 'asc' }] }, 400, 'Unknown field: nope'],
    ['L5', { limit: -1 }, 422, ['body', 'limit']],
    ['L6', { offset: -1 }, 422, ['body', 'offset']],
    ['L8', { limit: 10.5 }, 422, ['body', 'limit']],
    ['L9', { project_id: undefined }, 422, ['body', 'project_id']],
    ['a limit past the maximum', { limit: 10_001 }, 400, 'Limit must be at most 10000'],
    ['a foreign cursor', { after: 'x' }, 422, ['body', 'after']],
    ['M1', { query: { $expr: { $regex: [a, a] } } }, 422, ['body', 'query', '$expr', '$regex']],
    ['M2', { query: { $expr: { $eq: [get('id')] } } }, 422, ['body', 'query', '$expr', '$eq', '1']],
    ['M3', { query: { $expr: { $eq: [a, a, a] } } }, 422, ['body', 'query', '$expr', '$eq']],
    ['M4', { query: { $expr: { $not: a } } }, 422, ['body', 'query', '$expr', '$not']],
    ['M5', { query: { $expr: { $not: [a, a] } } }, 422, ['body', 'query', '$expr', '$not']],
    ['M6', { query: { $expr: { $in: [get('id'), a] } } }, 422, ['body', 'query', '$expr', '$in', '1']],
    ['M7', { query: { $expr: { $eq: ['id', 'x'] } } }, 422, ['body', 'query', '$expr', '$eq', '0']],
    ['M8 literal', { query: { $expr: a } }, 422, ['body', 'query', '$expr']],
    ['M8 field', { query: { $expr: get('id') } }, 422, ['body', 'query', '$expr']],
    [
      'M9',
      { query: { $expr: { $not: [{ $convert: { input: a, to: 'float' } }] } } },
      422,
      ['body', 'query', '$expr', '$not', '0', '$convert', 'to'],
    ],
    [
      'M10',
      { query: { $expr: { $eq: [get('id'), { $literal: { a: 1 } }] } } },
      422,
      ['body', 'query', '$expr', '$eq', '1', '$literal'],
    ],
    [
      'M11',
      { query: { $expr: { $eq: [get('id'), { $literal: { a: { $literal: 1 } } }] } } },
      400,
      'compared',
    ],
    ['M12', { query: { $expr: { $not: [a] }, x: 1 } }, 422, ['body', 'query', 'x']],
    ['M13', { query: {} }, 422, ['body', 'query', '$expr']],
    [
      'M14',
      { query: { $expr: { $not: [get({ field: 'id' } as never)] } } },
      422,
      ['body', 'query', '$expr', '$not', '0', '$getField'],
    ],
    ['M15', { query: { $expr: { $and: [a], $or: [a] } } }, 422, ['body', 'query', '$expr']],
  ];
  it.each(refused)('refuses %s: %j', async (_name, parts, status, expected) => {
    const response = await feedback.post('query', { project_id: PROJECT, ...parts });
    const { detail } = response.json() as { detail: unknown };
    expect({ status: response.statusCode, detail }).toEqual({
      status,
      detail:
        typeof expected === 'string'
          ? expect.stringContaining(expected)
          : [{ loc: expected, msg: expect.any(String), type: expect.any(String) }],
    });
  });

  it('answers a large body, which is parsed in its turn, as a small one', async () => {
    const blank = ' '.repeat(40_000);
    for (const body of [
      JSON.stringify({ project_id: PROJECT, fields: ['id'], query: SCORES }),
      JSON.stringify({ project_id: PROJECT, fields: 7 }),
      JSON.stringify({ project_id: PROJECT, query: { $expr: { $not: [a] }, x: 1 } }),
      JSON.stringify({ project_id: 'acme/other', query: 1 }),
      '{"project_id":',
      '[]',
    ]) {
      const [small, large] = await Promise.all([
        feedback.post('query', body),
        feedback.post('query', blank + body),
      ]);
      const place = /"loc":\["body","\d+"\]/;
      expect(large.body.replace(place, '')).toBe(small.body.replace(place, ''));
      expect(large.statusCode).toBe(small.statusCode);
    }
  });

  it('gives every row once over pages by cursor, whatever the order', async () => {
    for (const sort_by of [[], [{ field: 'payload.score', direction: 'desc' }], [{ field: 'creator' }]]) {
      const seen: unknown[] = [];
      let after: string | null = null;
      do {
        const response = await feedback.post('query', {
          project_id: PROJECT,
          fields: ['id'],
          sort_by,
          limit: 2,
          after,
          with_cursor: true,
        });
        const page = response.json() as { result: { id: string }[]; next_after: string | null };
        seen.push(...page.result.map(({ id }) => id));
        after = page.next_after;
      } while (after !== null);
      expect(seen).toEqual(await feedback.ids({ sort_by }));
    }
  });

  it('never gives a row of another project, under any expression', async () => {
    const rows = VECTOR_ROWS.filter(row => row.project_id === PROJECT);
    await fc.assert(
      fc.asyncProperty(anyExpr, async expr => {
        const $expr = printExpr(expr);
        const response = await feedback.post('query', {
          project_id: PROJECT,
          fields: ['id'],
          query: { $expr },
        });
        if (response.statusCode === 400 || response.statusCode === 422) return;
        expect(response.statusCode).toBe(200);
        const { result } = response.json() as { result: { id: string }[] };
        expect(result.map(({ id }) => id)).toEqual(
          rows.filter(row => matches(expr, row)).map(({ id }) => id),
        );
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
