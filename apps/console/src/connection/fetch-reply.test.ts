import { int64Transformer } from '@ortler/api/client';
import { afterEach, expect, it, vi } from 'vitest';
import { fetchReply, fetchWholeNumbers } from './fetch-reply.ts';

afterEach(() => vi.unstubAllGlobals());

function answer(body: readonly string[], status = 200, type = 'application/json'): void {
  const stream = new ReadableStream<string>({
    start(controller) {
      for (const part of body) controller.enqueue(part);
      controller.close();
    },
  });
  const reply = new Response(stream.pipeThrough(new TextEncoderStream()), {
    status,
    headers: { 'content-type': type },
  });
  vi.stubGlobal('fetch', () => Promise.resolve(reply));
}

it.each([
  ['a page of a proxy', '<html><h1>502 Bad Gateway</h1></html>', 502, 'text/html'],
  ['the sign-in page of a proxy', '<html></html>', 200, 'text/html'],
  ['JSON of a proxy', '{"message":"no upstream"}', 503, 'application/json'],
])('%s is no reply of the server', async (_, body, status, type) => {
  answer([body], status, type);
  await expect(fetchReply('/trpc')).rejects.toThrow(`a proxy before it answered with status ${status}`);
});

it('an error of the server is a reply', async () => {
  answer(['{"error":{"message":"Unauthorized","code":-32001}}'], 401);
  const reply = await fetchReply('/trpc');
  expect(reply.status).toBe(401);
  expect(await reply.json()).toMatchObject({ error: { message: 'Unauthorized' } });
});

it('integers past 2^53 come with all digits, wherever the reply is cut', async () => {
  const lines =
    '{"0":[[0]]}\n[1,0,[[{"payload":{"id":9007199254740993,"text":"9007199254740993","x":0.5}}]]]\n';
  for (let at = 1; at < lines.length; at++) {
    answer([lines.slice(0, at), lines.slice(at)]);
    const [head, row, end] = (await (await fetchWholeNumbers('/trpc')).text()).split('\n');
    expect([head, end]).toEqual(['{"0":[[0]]}', '']);
    expect(int64Transformer.output.deserialize(JSON.parse(row!))).toEqual([
      1,
      0,
      [[{ payload: { id: 9007199254740993n, text: '9007199254740993', x: 0.5 } }]],
    ]);
  }
});
