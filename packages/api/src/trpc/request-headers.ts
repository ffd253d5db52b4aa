// Request headers that the documented routes understand. None is required.

import { z } from 'zod';

export const requestHeaders = z.object({
  'X-Request-Id': z
    .string()
    .optional()
    .describe('Id of this request. It becomes part of the reply id, stands in the log and is sent back.'),
  'Vendor-Project': z
    .string()
    .optional()
    .describe(
      '`<team>/<project>` that the usage belongs to. Accepted without effect, like `OpenAI-Project`: usage belongs to ' +
        'the team of the key.',
    ),
});

/** Headers of a log call. */
export const logRequestHeaders = requestHeaders.extend({
  'Idempotency-Key': z
    .string()
    .optional()
    .describe(
      'Makes a repeated call harmless: with the same key and body it gives the first reply and stores nothing.',
    ),
});
