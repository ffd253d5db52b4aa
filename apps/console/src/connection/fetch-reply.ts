// Fetches of the typed client: what it may read as a reply, and which integers in it must not be rounded.

import { replaceBigIntegers } from '@ortler/json';

/** tRPC names an absent signal. */
type Init = Omit<RequestInit, 'signal'> & { readonly signal?: AbortSignal | null | undefined };
type Fetch = (input: RequestInfo | URL, init?: Init) => Promise<Response>;

/** Like `fetch`. Throws where something before the server answered, such as a proxy with a page of its own. */
export const fetchReply: Fetch = async (input, init) => {
  const reply = await fetch(input, init as RequestInit);
  const isJson = reply.headers.get('content-type')?.startsWith('application/json') === true;
  if (reply.ok && isJson) return reply;
  const text = await reply.text();
  if (isErrorOfServer(text)) return new Response(text, reply);
  throw new Error(`The server was not reached: a proxy before it answered with status ${reply.status}.`);
};

function isErrorOfServer(text: string): boolean {
  try {
    return typeof JSON.parse(text).error.message === 'string';
  } catch {
    return false;
  }
}

/** Like `fetchReply`. Integers that `JSON.parse` would round have the form of which the transformer makes a bigint. */
export const fetchWholeNumbers: Fetch = async (input, init) => {
  const reply = await fetchReply(input, init);
  if (reply.body === null) return reply;
  const lines = reply.body.pipeThrough(new TextDecoderStream()).pipeThrough(tagLines());
  return new Response(lines.pipeThrough(new TextEncoderStream()), reply);
};

/** No number of JSON lines goes on in the next one. */
function tagLines(): TransformStream<string, string> {
  const tag = (text: string) => replaceBigIntegers(text, digits => `{"$int64":"${digits}"}`);
  let open: string[] = [];
  return new TransformStream({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf('\n') + 1;
      if (end > 0) {
        controller.enqueue(tag(open.join('') + chunk.slice(0, end)));
        open = [];
      }
      open.push(chunk.slice(end));
    },
    flush: controller => controller.enqueue(tag(open.join(''))),
  });
}
