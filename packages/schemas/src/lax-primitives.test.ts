import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { MAX_NAMED_VALUES } from './bounded-collections.ts';
import { chatCompletionRequest } from './chat-completion-request.ts';
import { checkpointMetricsInput, checkpointRegistration } from './checkpoint-write.ts';
import { feedbackCreateRequest } from './feedback-write.ts';
import { trajectory } from './trajectory.ts';

const feedback = { project_id: 'a/b', weave_ref: 'r', feedback_type: 't', payload: {} };

describe('objects whose keys callers choose', () => {
  it.each<[string, z.ZodType, object, unknown]>([
    ['logit_bias', chatCompletionRequest, { messages: [{ role: 'user', content: 'a' }] }, 'x'],
    ['engine_xargs', chatCompletionRequest, { messages: [{ role: 'user', content: 'a' }] }, {}],
    ...['chat_template_kwargs', 'mm_processor_kwargs', 'kv_transfer_params'].map(
      (field): [string, z.ZodType, object, unknown] => [
        field,
        chatCompletionRequest,
        { messages: [{ role: 'user', content: 'a' }] },
        1,
      ],
    ),
    ['metrics', trajectory, {}, 'x'],
    ['metadata', trajectory, {}, {}],
    ['metrics', checkpointRegistration, {}, 'x'],
    ['metrics', checkpointMetricsInput, { model_id: 'm', checkpoint_id: 'c' }, 'x'],
    ...['scorer_ratings', 'scorer_rating_confidences', 'scorer_tag_confidences'].map(
      (field): [string, z.ZodType, object, unknown] => [field, feedbackCreateRequest, feedback, 'x'],
    ),
    ...['scorer_tag_reasons', 'scorer_rating_reasons'].map((field): [string, z.ZodType, object, unknown] => [
      field,
      feedbackCreateRequest,
      feedback,
      1,
    ]),
  ])(
    '%s is refused with one fault when it has too many entries, however many are wrong',
    (field, schema, rest, wrong) => {
      const many = Object.fromEntries(
        Array.from({ length: MAX_NAMED_VALUES + 1 }, (_, i) => [`k${i}`, wrong]),
      );
      const { error } = schema.safeParse({ ...rest, [field]: many });
      expect(error?.issues.map(({ path }) => path)).toEqual([[field]]);
      expect(error?.issues[0]?.message).toMatch(/^Dictionary should have at most \d+ items/);
    },
  );

  it('may have as many entries as the limit says', () => {
    const many = Object.fromEntries(Array.from({ length: MAX_NAMED_VALUES }, (_, i) => [`k${i}`, i]));
    expect(Object.keys(trajectory.parse({ metrics: many }).metrics)).toHaveLength(MAX_NAMED_VALUES);
  });
});

describe('objects that may hold anything', () => {
  it('are kept as they came: a copy of a million entries would block the thread for seconds', () => {
    const object = JSON.parse('{"type":"object","__proto__":{"a":1}}') as Record<string, unknown>;
    const request = chatCompletionRequest.parse({
      messages: [{ role: 'user', content: 'a' }],
      tools: [{ type: 'function', function: { name: 'f', parameters: object } }],
      documents: [object],
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: object } },
    });
    expect(request.tools![0]!.function.parameters).toBe(object);
    expect(request.documents![0]).toBe(object);
    expect(request.response_format).toMatchObject({ json_schema: { schema: object } });
    expect(feedbackCreateRequest.parse({ ...feedback, payload: object }).payload).toBe(object);
  });

  it.each([null, [], 'x', 1])('are no %j', value => {
    expect(feedbackCreateRequest.safeParse({ ...feedback, payload: value }).success).toBe(false);
  });
});
