// Request headers of the documented routes. All are optional.

import { z } from 'zod';

export const requestHeaders = z.object({
  'X-Request-Id': z
    .string()
    .optional()
    .describe('Id of this request. It becomes part of the reply id, is logged and is sent back.'),
  'Vendor-Project': z
    .string()
    .optional()
    .describe(
      '`<team>/<project>`: the project of the usage report, at most 256 characters. Without it `OpenAI-Project` is. The ' +
        'team of the report is that of the key.',
    ),
});

/** Headers of a log call. */
export const logRequestHeaders = requestHeaders.extend({
  'Idempotency-Key': z
    .string()
    .optional()
    .describe(
      'Idempotency: a repeated call with the same key and body returns the first reply and stores nothing.',
    ),
});
