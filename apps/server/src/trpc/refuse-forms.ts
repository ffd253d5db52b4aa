// Refuses forms: no procedure takes one, and tRPC would read them into memory without a limit.

import { ApiError } from '@ortler/api';

/** Throws: `malformed_request`. */
export function refuseForms(contentType: string | undefined): void {
  if (contentType?.trimStart().toLowerCase().startsWith('multipart/') !== true) return;
  throw new ApiError('malformed_request', 'The body must have Content-Type: application/json, not a form.');
}
