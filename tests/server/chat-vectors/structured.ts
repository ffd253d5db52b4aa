// Structured outputs: what is refused already, and the vectors that wait until they are served.

import { vector } from './vector.ts';

export const structured = [
  vector(73, 'one constraint, and a sound one', ['structured_outputs'], async ({ client }) => {
    for (const structured_outputs of [{}, { regex: 'a', choice: ['a'] }, { choice: [] }, { json: '{' }])
      await client.refused({ structured_outputs });
    const both = { response_format: { type: 'json_object' }, structured_outputs: { regex: 'a' } };
    await client.refused(both);
  }),
  vector(74, 'a format has its schema, and a known type', ['response_format'], async ({ client }) => {
    await client.refused({ response_format: { type: 'json_schema' } });
    await client.refused({ response_format: { type: 'yaml' } });
    await client.chat({ response_format: { type: 'text' }, max_tokens: 1 });
  }),
];

/** Vectors that need structured outputs, which this version refuses with a 400. */
export const WAITING: readonly number[] = [44, 58, 70, 71, 72, 75, 83];
