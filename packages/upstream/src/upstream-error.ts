// What can go wrong with a request to an upstream server. Callers decide on the status from `code`.

/**
 * - `unreachable`: no connection (refused, unknown host, TLS), or none within the time limit.
 * - `slow`: connected, but no first byte within the time limit.
 * - `silent`: the answer began, and then no byte came within the time limit.
 * - `broken`: the connection ended before the answer did.
 * - `invalid_reply`: the answer is not what was asked for, such as a page of HTML in place of JSON.
 * - `rate_limited`: status 429.
 * - `rejected`: another status from 400 to 499; `body` says why.
 * - `failed`: a status from 500 on.
 * - `unavailable`: every server has failed so often that none is asked now.
 */
export type UpstreamErrorCode =
  | 'unreachable'
  | 'slow'
  | 'silent'
  | 'broken'
  | 'invalid_reply'
  | 'rate_limited'
  | 'rejected'
  | 'failed'
  | 'unavailable';

export interface UpstreamErrorDetails {
  /** Status of the answer, where there was one. */
  readonly status?: number;
  /** The answer's beginning, where its status is an error. */
  readonly body?: string;
  /** Unit: milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code: UpstreamErrorCode;
  readonly status: number | undefined;
  readonly body: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: UpstreamErrorCode, message: string, details: UpstreamErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.body = details.body;
    this.retryAfterMs = details.retryAfterMs;
  }
}
