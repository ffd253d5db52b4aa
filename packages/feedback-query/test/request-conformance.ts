// Conformance of whole requests on every database: fields, order, pages, counts, cursors and payload samples.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { bindFeedbackQuery, type FeedbackQuery } from '../src/bind/bind-query.ts';
import type { SortKey } from '../src/bind/sort-order.ts';
import {
  compilePayloadSampleQuery,
  compileSampledPayloadsQuery,
  type PayloadSampleQuery,
} from '../src/compile/compile-payload-sample.ts';
import { compileFeedbackQuery } from '../src/compile/compile-query.ts';
import { DEFAULT_QUERY_LIMITS } from '../src/parse/limits.ts';
import { discoverPayloadPaths } from '../src/parse/payload-paths.ts';
import { type FeedbackRow, feedbackRow, VECTOR_ROWS } from './feedback-row.ts';
import { ask, idsByPage, optionsOf, type TestDatabase } from './test-database.ts';

const projectId = 'acme/app';
const equal = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});
const CUSTOM_SCORE = equal('feedback_type', 'custom.score');
const ALL = ['f01', 'f02', 'f03', 'f04', 'f05', 'f06', 'f07', 'f08', 'f09'];

export function describeRequests(open: () => TestDatabase): void {
  const request = (parts: Partial<FeedbackQuery>) => ask(open(), { projectId, ...parts });
  const ids = async (parts: Partial<FeedbackQuery>) =>
    (await request({ fields: ['id'], ...parts })).map(row => row.id);
  const sorted = (sortBy: readonly SortKey[], query?: unknown) => ids({ sortBy, query });

  describe('requests', () => {
    beforeAll(async () => {
      await open().clear();
      await open().insert(VECTOR_ROWS);
    });

    describe('fields', () => {
      it.each([undefined, null, []])('F1, F2: %j gives every column with its native value', async fields => {
        const [row] = await request({ fields: fields as null, query: equal('id', 'f01') });
        expect(row).toEqual({ ...VECTOR_ROWS[0], created_at: '2026-01-01T00:00:00Z' });
      });

      const one: readonly (readonly [string, string, unknown])[] = [
        ['payload.note', 'f01', 'Great answer, 100%'],
        ['payload.score', 'f03', 0.9],
        ['payload.ok', 'f03', true],
        ['payload.score', 'f01', null],
        ['payload.label', 'f05', null],
        ['payload.output.deep', 'f07', { k: [{ v: 1 }, { v: 2 }] }],
        ['payload.arr.2', 'f09', 30],
        ['payload.a\\.b', 'f09', 'dot'],
        ['scorer_ratings._rating_', 'f07', 0.25],
        ['scorer_ratings._rating_', 'f01', null],
        ['scorer_tag_reasons.nsfw', 'f07', 'bad words'],
        ['scorer_tags', 'f07', ['nsfw', 'slow']],
      ];
      it.each(one)('F3 to F9: %s of %s is %j under the name as sent', async (field, id, value) => {
        expect(await request({ fields: [field], query: equal('id', id) })).toEqual([{ [field]: value }]);
      });

      it('F18: payload_dump shows as payload', async () => {
        const rows = await request({ fields: ['payload_dump'], query: equal('id', 'f08') });
        expect(rows).toEqual([{ payload: { value: 7 } }]);
      });

      it('shows a duplicate name once and * as every column', async () => {
        const [row] = await request({ fields: ['id', '*', 'id'], query: equal('id', 'f01') });
        expect(Object.keys(row!).sort()).toEqual(Object.keys(VECTOR_ROWS[0]!).sort());
      });

      it('F10 to F13: count(*) is one row, and the window applies to that row', async () => {
        expect(await request({ fields: ['count(*)'] })).toEqual([{ 'count(*)': 9 }]);
        expect(await request({ fields: ['COUNT(*)'], query: equal('id', 'nope') })).toEqual([
          { 'COUNT(*)': 0 },
        ]);
        expect(await request({ fields: ['count(*)'], limit: 2 })).toEqual([{ 'count(*)': 9 }]);
        expect(await request({ fields: ['count(*)'], limit: 0 })).toEqual([]);
        expect(await request({ fields: ['count(*)'], offset: 1 })).toEqual([]);
      });

      it('F14, F15: a mixed count and an unknown field are refused', async () => {
        await expect(request({ fields: ['count(*)', 'id'] })).rejects.toMatchObject({ code: 'mixed_count' });
        await expect(request({ fields: ['id', 'nope'] })).rejects.toMatchObject({
          code: 'unknown_field',
          path: ['fields', 1],
          message: expect.stringContaining('Unknown field: nope; fields are '),
        });
      });

      it('shows milliseconds as six digits', async () => {
        await open().insert([
          feedbackRow({ id: 'ms', project_id: 'ms', created_at: '2026-01-02T03:04:05.678Z' }),
        ]);
        const rows = await ask(open(), { projectId: 'ms', fields: ['created_at'] });
        expect(rows).toEqual([{ created_at: '2026-01-02T03:04:05.678000Z' }]);
      });
    });

    describe('order', () => {
      const score = (direction: 'asc' | 'desc') => [{ field: 'payload.score', direction }];
      it('S1 to S3: numbers by value, then rows without the key by created_at', async () => {
        expect(await sorted(score('asc'), CUSTOM_SCORE)).toEqual(['f04', 'f03', 'f05', 'f06']);
        expect(await sorted(score('desc'), CUSTOM_SCORE)).toEqual(['f06', 'f05', 'f03', 'f04']);
        expect(await sorted(score('desc'))).toEqual([
          'f06',
          'f05',
          'f03',
          'f04',
          'f01',
          'f02',
          'f07',
          'f08',
          'f09',
        ]);
      });

      it('S4, S5: numeric texts sort as numbers, null as empty text', async () => {
        expect(await sorted([{ field: 'payload.rank' }], CUSTOM_SCORE)).toEqual(['f03', 'f04', 'f06', 'f05']);
        expect(await sorted([{ field: 'payload.label' }], CUSTOM_SCORE)).toEqual([
          'f05',
          'f06',
          'f04',
          'f03',
        ]);
      });

      it('S6: numbers, then texts, then rows without the key; desc turns only the groups', async () => {
        const payloads = [{ x: 5 }, { x: 'abc' }, { x: 1 }, {}];
        await open().insert(
          payloads.map((payload, index) => feedbackRow({ id: `s${index}`, project_id: 'acme/s6', payload })),
        );
        const by = async (direction: 'asc' | 'desc') =>
          (
            await ask(open(), {
              projectId: 'acme/s6',
              fields: ['id'],
              sortBy: [{ field: 'payload.x', direction }],
            })
          ).map(row => row.id);
        expect(await by('asc')).toEqual(['s2', 's0', 's1', 's3']);
        expect(await by('desc')).toEqual(['s0', 's2', 's1', 's3']);
      });

      it('S7 to S9: columns sort in both directions and in order of the keys', async () => {
        expect(await ids({ sortBy: [{ field: 'created_at', direction: 'desc' }], limit: 2 })).toEqual([
          'f09',
          'f08',
        ]);
        expect(await ids({ sortBy: [{ field: 'created_at' }], offset: 1, limit: 2 })).toEqual(['f02', 'f03']);
        const keys: SortKey[] = [{ field: 'feedback_type' }, { field: 'created_at', direction: 'desc' }];
        expect(await sorted(keys)).toEqual(['f09', 'f06', 'f05', 'f04', 'f03', 'f08', 'f01', 'f02', 'f07']);
      });

      it('S10, S11: missing values come last in both directions', async () => {
        for (const direction of ['asc', 'desc'] as const) {
          expect((await sorted([{ field: 'creator', direction }]))[0]).toBe('f01');
          expect((await sorted([{ field: 'scorer_ratings._rating_', direction }]))[0]).toBe('f07');
        }
      });

      it('S13 to S15: a bad direction and an unknown field are refused; no keys mean created_at and id', async () => {
        const shouted = [{ field: 'id', direction: 'DESC' as 'desc' }];
        await expect(sorted(shouted)).rejects.toMatchObject({
          code: 'literal_error',
          path: ['sort_by', 0, 'direction'],
        });
        await expect(sorted([{ field: 'nope' }])).rejects.toMatchObject({ code: 'unknown_field' });
        expect(await sorted([])).toEqual(ALL);
      });

      it('sorts the whole payload by its text in the asked direction', async () => {
        const up = await sorted([{ field: 'payload' }]);
        expect(await sorted([{ field: 'payload', direction: 'desc' }])).toEqual([...up].reverse());
      });
    });

    describe('window', () => {
      it('L1 to L4, L10: limit and offset cut the ordered rows', async () => {
        expect(await ids({ limit: null, offset: null })).toEqual(ALL);
        expect(await ids({ limit: 0 })).toEqual([]);
        expect(await ids({ offset: 100 })).toEqual([]);
        expect(await ids({ offset: 7 })).toEqual(['f08', 'f09']);
        expect(await ask(open(), { projectId: 'acme/none' })).toEqual([]);
      });

      it.each([
        [{ limit: -1 }, 'negative_limit'],
        [{ offset: -1 }, 'negative_limit'],
        [{ limit: 10.5 }, 'int_type'],
        [{ limit: 10_001 }, 'limit_too_large'],
      ])('L5 to L8: %j is refused with %s', async (parts, code) => {
        await expect(request(parts)).rejects.toMatchObject({ code });
      });
    });

    describe('cursor', () => {
      const orders: readonly (readonly SortKey[])[] = [
        [],
        [{ field: 'created_at', direction: 'desc' }],
        [{ field: 'payload.score', direction: 'desc' }],
        [{ field: 'payload.label' }, { field: 'creator', direction: 'desc' }],
        [{ field: 'scorer_ratings._rating_' }, { field: 'queue_id' }],
        [{ field: 'id', direction: 'desc' }],
      ];
      it.each(orders)('joins pages to the whole answer, sorted by %j %j', async (...sortBy) => {
        const whole = await ids({ sortBy });
        expect(whole).toHaveLength(9);
        expect(await idsByPage(open(), sortBy, 2)).toEqual(whole);
      });

      it('joins pages of the most sort keys that are allowed', async () => {
        const { maxFieldCount } = DEFAULT_QUERY_LIMITS;
        const none = Array.from({ length: maxFieldCount - 2 }, (_, index) => ({
          field: `scorer_ratings.none${index}`,
        }));
        const sortBy: SortKey[] = [
          { field: 'payload.label' },
          ...none,
          { field: 'payload.score', direction: 'desc' },
        ];
        const whole = await ids({ sortBy });
        expect(await idsByPage(open(), sortBy, 4)).toEqual(whole);
      });

      it('refuses a cursor of another sort order', () => {
        const bound = bindFeedbackQuery({ projectId, after: ['x', 'y', 'z'] });
        expect(() => compileFeedbackQuery(bound, open().dialect)).toThrowError(
          expect.objectContaining({ code: 'invalid_cursor' }),
        );
      });
    });
  });

  describe('payload samples', () => {
    const at = (second: number) => Date.UTC(2026, 0, 1, 0, 0, second);
    const stored: readonly (readonly [
      id: string,
      ref: string | null,
      type: string,
      second: number,
      payload: object,
    ])[] = [
      ['a1', 'mon:v1', 'run', 1, { a: 0 }],
      ['a2', 'mon:v1', 'run', 5, { a: 1 }],
      ['b1', 'mon:v2', 'run', 3, { b: 1 }],
      ['c1', 'monday:v1', 'run', 4, { c: 1 }],
      ['n1', null, 'note', 6, { note: 'n' }],
      ['n2', null, 'score', 7, { score: 1 }],
    ];
    beforeAll(async () => {
      await open().insert(
        stored.map(([id, trigger_ref, feedback_type, second, payload]) =>
          feedbackRow({
            id: `sample-${id}`,
            project_id: 'acme/sample',
            trigger_ref,
            feedback_type,
            created_at: new Date(at(second)).toISOString(),
            payload: payload as Record<string, unknown>,
          }),
        ),
      );
    });

    const paths = async (parts: Partial<PayloadSampleQuery>) => {
      const query = { projectId: 'acme/sample', startMs: at(0), endMs: at(60), ...parts };
      const { dialect, run } = open();
      const keys = await run(compilePayloadSampleQuery(query, dialect, optionsOf(open())));
      if (keys.length === 0) return [];
      const rows = await run(compileSampledPayloadsQuery(query.projectId, keys, dialect, optionsOf(open())));
      expect(rows).toHaveLength(keys.length);
      return discoverPayloadPaths(rows.map(row => row.payload)).map(path => path.json_path);
    };
    const cases: readonly (readonly [string, Partial<PayloadSampleQuery>, readonly string[]])[] = [
      ['P21, P22: takes the newest payload of each ref, and null is one ref', {}, ['a', 'b', 'c', 'score']],
      ['P23: a type filter comes before the choice of the newest', { feedbackType: 'note' }, ['note']],
      ['P24, P26: :* covers the versions of one object', { triggerRef: 'mon:*' }, ['a', 'b']],
      ['P25: without :* the ref is exact', { triggerRef: 'mon:v1' }, ['a']],
      ['P27: any other star is a letter', { triggerRef: 'mo*' }, []],
      ['P28: a small sample takes the newest ref', { sampleLimit: 1 }, ['score']],
      ['P29: start is included and end is not', { startMs: at(3), endMs: at(5) }, ['b', 'c']],
      ['P30: an empty range gives nothing', { startMs: at(9), endMs: at(3) }, []],
    ];
    it.each(cases)('%s', async (_, parts, expected) => {
      expect(await paths(parts)).toEqual(expected);
    });

    it.each([Number.NaN, 1e15, 0.5])('refuses %d as the start', async startMs => {
      await expect(paths({ startMs })).rejects.toMatchObject({ code: 'invalid_datetime', path: ['start'] });
    });

    it.each([0, 5001, 1.5])('P31: refuses a sample of %d refs', async sampleLimit => {
      await expect(paths({ sampleLimit })).rejects.toMatchObject({ code: 'int_type' });
    });

    it('takes of random rows what a look at each of them takes', async () => {
      const row = fc.record({
        ref: fc.option(fc.constantFrom('a:v1', 'a:v2', 'b c:v1', 'é'), { nil: null }),
        type: fc.constantFrom('t', 'u'),
        second: fc.integer({ min: 0, max: 5 }),
        fraction: fc.constantFrom(0, 1, 120),
      });
      const property = fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 20 }),
        fc.constantFrom(null, 't'),
        fc.integer({ min: 1, max: 4 }),
        async (rows, feedbackType, sampleLimit) => {
          await open().clear();
          const given = rows.map(({ ref, type, second, fraction }, index) =>
            feedbackRow({
              id: `id ${String(index).padStart(2, '0')}`,
              project_id: 'acme/sample',
              trigger_ref: ref,
              feedback_type: type,
              created_at: new Date(at(second) + fraction).toISOString(),
              payload: { [`k${index}`]: index },
            }),
          );
          await open().insert(given);
          const newest = new Map<string | null, FeedbackRow>();
          for (const item of given) {
            if (item.created_at >= new Date(at(5)).toISOString()) continue;
            if (feedbackType !== null && item.feedback_type !== feedbackType) continue;
            const best = newest.get(item.trigger_ref);
            const isNewer = best === undefined || item.created_at >= best.created_at;
            if (isNewer) newest.set(item.trigger_ref, item);
          }
          // Newest groups first, then by ref in the order of bytes, and the group without a ref last.
          const rank = (ref: string | null) => (ref === null ? '\uffff' : ref);
          const chosen = [...newest.values()]
            .sort((a, b) =>
              a.created_at === b.created_at
                ? rank(a.trigger_ref) < rank(b.trigger_ref)
                  ? -1
                  : 1
                : a.created_at > b.created_at
                  ? -1
                  : 1,
            )
            .slice(0, sampleLimit)
            .flatMap(({ payload }) => Object.keys(payload));
          expect(await paths({ endMs: at(5), feedbackType, sampleLimit })).toEqual(chosen.sort());
        },
      );
      await fc.assert(property, { numRuns: 30 });
    }, 120_000);
  });
}
