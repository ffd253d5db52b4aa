// Reads the whole body of an answer: the JSON that was asked for, or a server's message about an error.

import type { Exchange } from './exchange.ts';
import type { ReplyBody } from './reply-body.ts';
import { UpstreamError, type UpstreamErrorCode } from './upstream-error.ts';

const MAX_JSON_BYTES = 256 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * The value of a JSON document. Throws: `UpstreamError` `invalid_reply` where the body is not JSON; errors of
 * the body.
 */
export async function readJson(host: string, reply: Exchange): Promise<unknown> {
  const text = await readText(reply.body, MAX_JSON_BYTES);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UpstreamError('invalid_reply', `${host} answered with something that is not JSON.`, {
      status: reply.status,
      cause: error,
    });
  }
}

/**
 * The error of an answer whose status is one.
 * @param withoutKey Applied to the text: there are servers that repeat a key that they refuse.
 */
export async function readErrorReply(
  host: string,
  { status, headers, body }: Exchange,
  withoutKey: (text: string) => string,
): Promise<UpstreamError> {
  // What arrived of the body is enough; the status is the error.
  const text = withoutKey(await readText(body, MAX_ERROR_BYTES).catch(() => ''));
  return new UpstreamError(codeOf(status), `${host} answered ${status}${toReason(text)}`, {
    status,
    body: text,
    retryAfterMs: toRetryAfterMs(headers['retry-after']),
  });
}

function codeOf(status: number): UpstreamErrorCode {
  if (status >= 500) return 'failed';
  if (status === 429) return 'rate_limited';
  // A redirect is not followed: it would take the key to another host.
  return status >= 400 ? 'rejected' : 'invalid_reply';
}

/** The message of an error in OpenAI's shape, or nothing. */
function toReason(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: unknown } };
    return typeof error?.message === 'string' ? `: ${error.message}` : '.';
  } catch {
    return '.';
  }
}

/** Seconds or a date. Undefined: neither. Unit: milliseconds. */
export function toRetryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now());
}

/** Bytes past the limit end the reading. Throws: `invalid_reply` for those, and errors of the body. */
async function readText(body: ReplyBody, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = await body.read();
    if (chunk === null) return Buffer.concat(chunks).toString('utf8');
    size += chunk.length;
    if (size > maxBytes) {
      body.leave();
      throw new UpstreamError('invalid_reply', `The answer has more than ${maxBytes} bytes.`);
    }
    chunks.push(chunk);
  }
}
