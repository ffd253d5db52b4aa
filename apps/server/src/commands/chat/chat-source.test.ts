import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { openServerSource } from './chat-source.ts';

it.each(['', '/', '/v1', '/v1/', '/prefix/v1'])(
  'finds the procedures of a server at an address ending in "%s"',
  async path => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url!.split('?')[0]!);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const source = await openServerSource(`http://127.0.0.1:${port}${path}`, 'key', undefined);
    const answer = source.answer(
      [{ role: 'user', content: 'Hello' }],
      { temperature: undefined, maxTokens: undefined },
      AbortSignal.timeout(60_000),
    );
    await expect(answer[Symbol.asyncIterator]().next()).rejects.toThrow();
    expect(asked).toEqual([`${path.startsWith('/prefix') ? '/prefix' : ''}/trpc/chat.stream`]);
    server.close();
  },
);
