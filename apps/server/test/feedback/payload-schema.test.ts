// The payload schema vectors over HTTP, on every database.

import { type FeedbackRow, feedbackRow } from '@ortler/feedback-query/testing';
import { expect, it } from 'vitest';
import { PROJECT, useFeedbackApp } from './feedback-app.ts';
import { describeOnEveryFeedbackPlace } from './feedback-places.ts';

type Given = Partial<FeedbackRow>;

const MON = 'weave:///acme/app/object/mon';
const START = '2026-01-01T00:00:00Z';
const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z`;
/** Payloads with a ref of their own each. */
const each = (...payloads: Record<string, unknown>[]): Given[] =>
  payloads.map((payload, index) => ({ payload, trigger_ref: `r${index}` }));

const NULL_REFS: Given[] = [
  { payload: { note: 'n' }, feedback_type: 'note', created_at: day(1) },
  { payload: { score: 1 }, feedback_type: 'score', created_at: day(2) },
];
const VERSIONS: Given[] = [
  { payload: { a: 1 }, trigger_ref: `${MON}:v1` },
  { payload: { b: 1 }, trigger_ref: `${MON}:v2` },
];
const THREE: Given[] = [1, 2, 3].map(number => ({
  payload: { [`p${number}`]: 1 },
  trigger_ref: `r${number}`,
  created_at: day(number),
}));

const VECTORS: [string, Given[], string[], Record<string, unknown>?][] = [
  ['P1', each({ output: { score: 0.9 } }), ['output.score:numeric']],
  ['P2', each({ passed: true }), ['passed:boolean']],
  ['P3', each({ score: 1.0 }, { score: 0.5, label: 'good' }), ['label:categorical', 'score:numeric']],
  ['P4', each({ items: [1, 2, 3] }), ['items:numeric']],
  ['P5', each({ items: [{ a: 1 }] }), []],
  ['P6', each({ items: [[1]] }), []],
  ['P7', each({ items: [1, 'x'] }), ['items:categorical']],
  ['P8', each({ items: [] }, { o: {} }, {}), []],
  ['P9', each({ x: null }), ['x:boolean']],
  ['P10', each({ x: null }, { x: 1 }), ['x:numeric']],
  ['P11', each({ x: null }, { x: 's' }), ['x:categorical']],
  ['P12', each({ x: true }, { x: 1 }), ['x:categorical']],
  ['P13', each({ x: 1 }, { x: '1' }), ['x:categorical']],
  ['P14', each({ 'a.b': 1, c: 2 }), ['c:numeric']],
  ['P15', each({ 'Low quality': { confidence: 0.9 } }), ['Low quality.confidence:numeric']],
  ['P16', each({ 'a-b': 1, é: 2, "it's": 3 }), []],
  ['P17', each({ z: 1, a: 2, M: 3 }), ['M:numeric', 'a:numeric', 'z:numeric']],
  ['P18', each({ a: 1 }, { a: { b: 2 } }), ['a:numeric', 'a.b:numeric']],
  ['P19', each({ a: [{ b: 1 }, 5] }), ['a:numeric']],
  ['P20 booleans', each({ x: [true, false] }), ['x:boolean']],
  ['P20 null', each({ x: [null] }), ['x:boolean']],
  [
    'P21',
    [
      { payload: { old: 1 }, trigger_ref: 'r', created_at: day(1) },
      { payload: { new: 1 }, trigger_ref: 'r', created_at: day(2) },
    ],
    ['new:numeric'],
  ],
  ['P22', NULL_REFS, ['score:numeric']],
  ['P23', NULL_REFS, ['note:categorical'], { feedback_type: 'note' }],
  ['P24', VERSIONS, ['a:numeric', 'b:numeric'], { trigger_ref: `${MON}:*` }],
  ['P25', VERSIONS, ['a:numeric'], { trigger_ref: `${MON}:v1` }],
  [
    'P26',
    [...VERSIONS, { payload: { c: 1 }, trigger_ref: `${MON}day:v1` }],
    ['a:numeric', 'b:numeric'],
    { trigger_ref: `${MON}:*` },
  ],
  ['P27', VERSIONS, [], { trigger_ref: 'weave:///acme/app/object/mo*' }],
  ['P28', THREE, ['p3:numeric'], { sample_limit: 1 }],
  ['P29', THREE, ['p1:numeric', 'p2:numeric'], { start: day(1), end: day(3) }],
  ['P30', THREE, [], { start: day(3), end: day(1) }],
  ['P34 date', THREE, ['p1:numeric', 'p2:numeric', 'p3:numeric'], { start: '2024-01-01' }],
  ['P34 number', THREE, ['p1:numeric', 'p2:numeric', 'p3:numeric'], { start: 1_700_000_000 }],
  ['P34 text', THREE, ['p1:numeric', 'p2:numeric', 'p3:numeric'], { start: '1700000000' }],
  ['the clock as the end', [{ ...THREE[0], created_at: '2099-01-01T00:00:00.000Z' }], []],
  ['another project', [{ payload: { a: 1 }, project_id: 'acme/other' }], []],
];

const REFUSED: [string, Record<string, unknown>, string, string][] = [
  ['P31', { sample_limit: 0 }, 'greater_than_equal', 'Input should be greater than or equal to 1'],
  ['P31', { sample_limit: 5001 }, 'less_than_equal', 'Input should be less than or equal to 5000'],
  ['P32', { sample_limit: null }, 'int_type', 'Input should be a valid integer'],
  ['P33', { start: undefined }, 'missing', 'Field required'],
  ['P33', { start: null }, 'datetime_type', 'Input should be a valid datetime'],
  ['P33', { start: 'x' }, 'datetime_from_date_parsing', 'input is too short'],
  [
    'P33',
    { start: '2026-13-01' },
    'datetime_from_date_parsing',
    'month value is outside expected range of 1-12',
  ],
];

describeOnEveryFeedbackPlace('POST /feedback/payload_schema', ({ open }) => {
  const feedback = useFeedbackApp(open);

  it.each(VECTORS)('%s', async (_name, given, expected, request = {}) => {
    await feedback.fill(given.map((row, index) => feedbackRow({ id: `s${index}`, ...row })));
    const response = await feedback.post('payload_schema', { project_id: PROJECT, start: START, ...request });
    expect(response.statusCode).toBe(200);
    const { paths } = response.json() as { paths: { json_path: string; value_type: string }[] };
    expect(paths.map(({ json_path, value_type }) => `${json_path}:${value_type}`)).toEqual(expected);
  });

  it.each(REFUSED)('refuses %s: %j', async (_name, request, type, message) => {
    const response = await feedback.post('payload_schema', { project_id: PROJECT, start: START, ...request });
    expect(response.statusCode).toBe(422);
    const [field] = Object.keys(request);
    expect(response.json()).toEqual({
      detail: [{ loc: ['body', field], msg: expect.stringContaining(message), type }],
    });
  });
});
