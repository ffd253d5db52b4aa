// A light client of server-sent events: what reads the streams of servers in a comparison should cost next to nothing,
// as it shares the cores with them.

import { Agent, type IncomingMessage, request } from 'node:http';

/** An idle connection ends here before the server ends it: one whose end comes with the next request fails that request. */
const agent = new Agent({ keepAlive: true, timeout: 2_000 });

/** Posts `body` and gives the data of each event but the last one, `[DONE]`. */
export async function* postForEvents(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): AsyncGenerator<string, void, undefined> {
  const text = JSON.stringify(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const facts = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const sent = request(url, { agent, method: 'POST', headers: { ...headers, ...facts } });
    sent.once('response', resolve).once('error', reject).end(text);
  });
  response.setEncoding('utf8');
  let rest = '';
  for await (const piece of response) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith('data: ') && line !== 'data: [DONE]') yield line.slice(6);
  }
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${rest}`);
}
