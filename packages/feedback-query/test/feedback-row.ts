// A feedback row as plain data, the common ground of the reference evaluator and the test databases, and the ten
// rows the test vectors are about.
import type { FeedbackColumns, FeedbackRecord } from '../src/bind/columns.ts';

export interface FeedbackRow extends FeedbackColumns {
  /** ISO 8601 with milliseconds and Z. */
  readonly created_at: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A row with every optional column unset. */
export function feedbackRow(values: Partial<FeedbackRow> & Pick<FeedbackRow, 'id'>): FeedbackRow {
  return {
    project_id: 'acme/app',
    weave_ref: `weave:///acme/app/call/${values.id}`,
    wb_user_id: 'u1',
    creator: null,
    created_at: '2026-01-01T00:00:00.000Z',
    feedback_type: 'custom',
    payload: {},
    annotation_ref: null,
    runnable_ref: null,
    call_ref: null,
    trigger_ref: null,
    queue_id: null,
    scorer_tags: [],
    scorer_tag_reasons: {},
    scorer_tag_confidences: {},
    scorer_ratings: {},
    scorer_rating_reasons: {},
    scorer_rating_confidences: {},
    span_agent_name: '',
    span_agent_version: '',
    span_status_code: 'UNSET',
    span_conversation_id: '',
    span_trace_id: '',
    scorer_trace_id: '',
    ...values,
  };
}

/** The row as a record to store. */
export function toRecord({ payload, created_at, ...same }: FeedbackRow): FeedbackRecord {
  return { ...same, payload_dump: JSON.stringify(payload), created_at_ms: Date.parse(created_at) };
}

function day(number: number): string {
  return `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z`;
}

/** Rows f01 to f10; f10 belongs to another project. */
export const VECTOR_ROWS: readonly FeedbackRow[] = [
  feedbackRow({
    id: 'f01',
    created_at: day(1),
    feedback_type: 'wandb.note.1',
    payload: { note: 'Great answer, 100%' },
    creator: 'Ann',
  }),
  feedbackRow({
    id: 'f02',
    created_at: day(2),
    feedback_type: 'wandb.reaction.1',
    payload: { emoji: '👍', alias: ':thumbs_up:', detoned: '👍', detoned_alias: ':thumbs_up:' },
  }),
  feedbackRow({
    id: 'f03',
    created_at: day(3),
    feedback_type: 'custom.score',
    payload: { score: 0.9, rank: 1, ok: true, label: 'good' },
  }),
  feedbackRow({
    id: 'f04',
    created_at: day(4),
    feedback_type: 'custom.score',
    payload: { score: 0.1, rank: 2, ok: false, label: 'Bad' },
  }),
  feedbackRow({
    id: 'f05',
    created_at: day(5),
    feedback_type: 'custom.score',
    payload: { score: '5', rank: '10', ok: 'true', label: null },
  }),
  feedbackRow({
    id: 'f06',
    created_at: day(6),
    feedback_type: 'custom.score',
    payload: { score: 10, rank: 9, ok: 1, label: '' },
    queue_id: 'q1',
  }),
  feedbackRow({
    id: 'f07',
    created_at: day(7),
    feedback_type: 'wandb.runnable.judge',
    payload: { output: { passed: false, score: 3.5, tags: ['a', 'b'], deep: { k: [{ v: 1 }, { v: 2 }] } } },
    runnable_ref: 'weave:///acme/app/op/judge:d1',
    call_ref: 'weave:///acme/app/call/j1',
    trigger_ref: 'weave:///acme/app/object/mon:v1',
    scorer_tags: ['nsfw', 'slow'],
    scorer_ratings: { _rating_: 0.25 },
    scorer_tag_reasons: { nsfw: 'bad words' },
  }),
  feedbackRow({
    id: 'f08',
    created_at: day(8),
    feedback_type: 'wandb.annotation.quality',
    payload: { value: 7 },
    annotation_ref: 'weave:///acme/app/object/quality:d2',
  }),
  feedbackRow({
    id: 'f09',
    created_at: day(9),
    feedback_type: 'custom.odd',
    payload: { 'a.b': 'dot', a: { b: 'nested' }, '0': 'zero', arr: [10, 20, 30] },
  }),
  feedbackRow({
    id: 'f10',
    created_at: day(10),
    feedback_type: 'custom.score',
    payload: { score: 0.9 },
    project_id: 'acme/other',
  }),
];
