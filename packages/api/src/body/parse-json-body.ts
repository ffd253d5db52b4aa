// The value of a JSON body. Large bodies are parsed in slices, each a turn of the event loop.

import { describeJsonLimit, JsonSyntaxError, parseLosslessJsonInSlices } from '@ortler/json';
import { toJsonSyntaxDetails } from '@ortler/schemas';
import { nextTurn } from '@ortler/worker';
import { releaseBytes } from '../release-bytes.ts';
import { ApiError } from '../trpc/errors.ts';
import { invalidInput } from '../trpc/report-faults.ts';
import type { ProcedureMeta } from '../trpc/trpc.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A step over so much text takes about a millisecond. */
const LARGE_BODY_BYTES = 262_144;

export interface ParseJsonBodyOptions {
  readonly style: ProcedureMeta['errors'];
  /** Default: that of all bodies. */
  readonly maxDepth?: number | undefined;
  /** Fires when the client leaves: then the rest of a large body is not parsed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Frees the memory of the parts.
 * Throws: an empty body and bad JSON are `malformed_request` in the `openai` style and listed faults in the `detail` style; the reason of
 * the signal.
 */
export async function parseJsonBody(
  parts: readonly Uint8Array[],
  { style, maxDepth, signal }: ParseJsonBodyOptions,
): Promise<unknown> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length === 0) {
    if (style === 'detail') throw invalidInput([{ loc: ['body'], msg: 'Field required', type: 'missing' }]);
    throw new ApiError('malformed_request', 'The body is empty; it must be a JSON object.');
  }
  try {
    const text = length > LARGE_BODY_BYTES ? await decodeInTurns(parts, signal) : decode(parts, length);
    return await parseInTurns(text, { maxDepth, signal });
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted === true) throw error;
    throw toJsonError(error, style);
  } finally {
    for (const part of parts) releaseBytes(part);
  }
}

/** Throws: TypeError for bytes that are not UTF-8. */
function decode(parts: readonly Uint8Array[], length: number): string {
  const bytes = Buffer.concat(parts, length);
  const text = utf8.decode(bytes);
  releaseBytes(bytes);
  return text;
}

/**
 * The text of a large body. Each step is a turn of its own, so that several such bodies do not add up to one long turn.
 * Frees the memory of the parts. Throws: TypeError for bytes that are not UTF-8, the reason of the signal.
 */
async function decodeInTurns(parts: readonly Uint8Array[], signal: AbortSignal | undefined): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let turnLength = LARGE_BODY_BYTES;
  for (const part of parts) {
    if (turnLength >= LARGE_BODY_BYTES) {
      turnLength = 0;
      await yieldUnlessAborted(signal);
    }
    turnLength += part.length;
    text += decoder.decode(part, { stream: true });
    releaseBytes(part);
  }
  await yieldUnlessAborted(signal);
  return text + decoder.decode();
}

/** The error of a text that is no JSON, or beyond a limit of it. */
function toJsonError(error: unknown, style: ProcedureMeta['errors']): ApiError {
  // Bytes that are not UTF-8 have no character position.
  const { position, limit } = error instanceof JsonSyntaxError ? error : { position: 0, limit: null };
  const beyond = describeJsonLimit(limit);
  if (style === 'detail') return invalidInput(toJsonSyntaxDetails(position, beyond));
  const reason = error instanceof Error ? error.message : String(error);
  const message =
    beyond === undefined
      ? `The body is not valid JSON: ${reason}`
      : `The body holds ${beyond}, at position ${position}.`;
  return new ApiError('malformed_request', message, { cause: error });
}

/** Throws: `JsonSyntaxError`, the reason of the signal. */
async function parseInTurns(
  text: string,
  { maxDepth, signal }: Omit<ParseJsonBodyOptions, 'style'>,
): Promise<unknown> {
  const reading = parseLosslessJsonInSlices(text, maxDepth === undefined ? {} : { maxDepth });
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
    await yieldUnlessAborted(signal);
  }
}

/** Throws: the reason of the signal. */
async function yieldUnlessAborted(signal: AbortSignal | undefined): Promise<void> {
  await nextTurn();
  signal?.throwIfAborted();
}
