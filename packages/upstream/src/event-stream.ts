// Server-sent events of a completion: bytes in any pieces become the text of each `data:` field, as it was sent.

import { UpstreamError } from './upstream-error.ts';

const DONE = '[DONE]';
/** Longest event. A server that sends more without an end of line is no server of this protocol. */
const MAX_EVENT_LENGTH = 64 * 1024 * 1024;

/**
 * Yields the data of each event up to `[DONE]`, which is left out. Comments and other fields are left out too.
 * Throws: `UpstreamError` `broken` when the bytes end before `[DONE]`, `invalid_reply` for bytes that are no events.
 */
export async function* readEventStream(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let data: string[] = [];
  for await (const chunk of bytes) {
    rest += decode(decoder, chunk);
    if (rest.length > MAX_EVENT_LENGTH) throw new UpstreamError('invalid_reply', 'An event has no end.');
    // A carriage return at the end may belong to a line feed that has not come yet.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line !== '') {
        if (/^data(:|$)/.test(line)) data.push(line.replace(/^data:? ?/, ''));
        continue;
      }
      if (data.length === 0) continue;
      const text = data.join('\n');
      data = [];
      if (text === DONE) return;
      yield text;
    }
  }
  throw new UpstreamError('broken', 'The stream ended before its last event.');
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch (error) {
    throw new UpstreamError('invalid_reply', 'The stream is not UTF-8.', { cause: error });
  }
}
