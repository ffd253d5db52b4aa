// Reads a server-sent event stream of chat chunks, strictly: any line outside the wire format throws.

/** JSON bodies of all events before `[DONE]`. Throws when the stream ends without it. */
export async function readEvents(response: Response): Promise<readonly Record<string, unknown>[]> {
  const events: Record<string, unknown>[] = [];
  for await (const data of eventData(response)) {
    if (data === '[DONE]') return events;
    events.push(JSON.parse(data));
  }
  throw new Error('The stream ended without [DONE].');
}

/** Data of each event as it arrives. */
export async function* eventData(response: Response): AsyncGenerator<string> {
  if (response.body === null) throw new Error('No body.');
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    rest += text;
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (!block.startsWith('data: ') || block.includes('\n')) throw new Error(`Not an event: ${block}`);
      yield block.slice('data: '.length);
    }
  }
  if (rest !== '') throw new Error(`Text after the last event: ${rest}`);
}
