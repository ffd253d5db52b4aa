// KV-cache events of a server under load, read by libzmq and decoded by msgspec: a router that keeps a picture from them alone knows
// every cache hit before it happens.

import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ChatClient, createChatClient, type Json } from '../support/chat-client.ts';
import { freePort, KvEventSubscriber, PATIENCE } from '../support/kv-event-subscriber.ts';
import { TEST_PYTHON } from '../support/python-checks.ts';
import { type RunningServer, startServer } from '../support/server.ts';

const BLOCK_LENGTH = 16;
const TOPIC = 'kv@server@demo';
const missing = findMissing();

function findMissing(): string {
  if (TEST_PYTHON === undefined) return ' (skipped: TEST_PYTHON is not set)';
  try {
    execFileSync(TEST_PYTHON, ['-c', 'import zmq, msgspec'], { stdio: 'ignore' });
    return '';
  } catch {
    return ' (skipped: TEST_PYTHON has no pyzmq and msgspec)';
  }
}

describe.skipIf(missing !== '').each(['array', 'map'] as const)(`KV-cache events as %s${missing}`, format => {
  let server: RunningServer;
  let client: ChatClient;
  let router: KvEventSubscriber;

  beforeAll(async () => {
    const endpoints = [`tcp://127.0.0.1:${await freePort()}`, `tcp://127.0.0.1:${await freePort()}`] as const;
    server = await startServer({
      arguments: [
        ...['--kv-events', endpoints[0], '--kv-events-replay', endpoints[1]],
        ...['--kv-events-topic', TOPIC, '--kv-events-format', format],
        ...['--max-sequences', '2', '--cache-slots', '1'],
      ],
    });
    client = createChatClient(server);
    router = new KvEventSubscriber(...endpoints, format, 'kv@');
    await router.connected();
  });
  afterAll(async () => {
    router?.stop();
    await server?.dispose();
  });

  const ask = async (content: string, fields: object = {}) => {
    const reply: Json = await client.chat({
      messages: [{ role: 'user', content }],
      temperature: 0,
      max_tokens: 20,
      return_token_ids: true,
      ...fields,
    });
    const prompt = reply.prompt_token_ids as number[];
    return {
      prompt,
      tokens: [...prompt, ...(reply.choices[0].token_ids as number[])],
      hits: reply.usage.prompt_tokens_details?.cached_tokens ?? 0,
    };
  };
  it('predict the hits of prompts that share beginnings, are evicted, and come again', async () => {
    const subjects = ['the sea', 'a mountain', 'bread', 'the moon', 'trains'];
    const turns = subjects.flatMap(subject =>
      [1, 2, 3].map(turn => `Tell me more about ${subject}. `.repeat(6 * turn)),
    );
    const seen = new Map<string, number[]>();
    let hitCount = 0;
    for (const content of [...turns, ...turns.slice(0, 5), ...turns.slice(-3)]) {
      const prompt = seen.get(content) ?? (await tokensOf(content));
      seen.set(content, prompt);
      const predicted = router.cachedBlocks(prompt.slice(0, -1), BLOCK_LENGTH);
      const { tokens, hits, prompt: own } = await ask(content);
      expect(own).toEqual(prompt);
      expect(Math.floor(hits / BLOCK_LENGTH)).toBe(predicted);
      hitCount += predicted;
      await arrived(tokens);
    }
    expect(hitCount).toBeGreaterThan(10);
    expect(
      router.batches.flatMap(({ events }) => events).filter(({ name }) => name === 'BlockRemoved'),
    ).not.toEqual([]);
  });

  it('stay true under load', async () => {
    const load = Array.from({ length: 24 }, (_, index) =>
      ask(`${'Count the sheep. '.repeat(10 + (index % 3))} Flock ${index % 5}.`),
    );
    await Promise.all(load);
    for (const content of ['Count the sheep. '.repeat(12), 'Count the sheep. '.repeat(12)]) {
      const prompt = await tokensOf(content);
      // A request that no other one is like is the last whose events come.
      await arrived((await ask(`Wait ${content.length} ${Math.random()} ${'and wait '.repeat(12)}`)).tokens);
      const predicted = router.cachedBlocks(prompt.slice(0, -1), BLOCK_LENGTH);
      const { hits, tokens } = await ask(content);
      expect(Math.floor(hits / BLOCK_LENGTH)).toBe(predicted);
      await arrived(tokens);
    }
  });

  it('keep prompts with a salt apart', async () => {
    const content = 'A prompt that nobody else may know of. '.repeat(6);
    const { tokens } = await ask(content, { cache_salt: 'a secret' });
    await arrived(tokens, 'a secret');
    expect(router.cachedBlocks(tokens, BLOCK_LENGTH)).toBeLessThan(4);
    expect((await ask(content)).hits).toBeLessThan(4 * BLOCK_LENGTH);
  });

  it('have numbers without a gap, begin with an empty cache, and are sent again to those who ask', async () => {
    const { batches } = router;
    expect(batches.map(({ number }) => number)).toEqual(batches.map((_, index) => index));
    expect(batches[0]!.events[0]!.name).toBe('AllBlocksCleared');
    expect(batches.every(({ rank, ts }) => rank === 0 && Math.abs(ts - Date.now() / 1000) < 3_600)).toBe(
      true,
    );
    const toBatch = ({ number, ts, rank, events }: (typeof batches)[number]) => ({
      number,
      ts,
      rank,
      events,
    });
    expect((await router.replay(0)).map(toBatch)).toEqual(batches.map(toBatch));
    expect((await router.replay(batches.length - 2)).map(toBatch)).toEqual(batches.slice(-2).map(toBatch));
  });

  it('say that nothing is cached after the model was started again', async () => {
    const content = 'What is left after a crash? '.repeat(8);
    const before = await ask(content);
    await arrived(before.tokens);
    process.kill(server.modelPids()[0]!, 'SIGKILL');
    await vi.waitFor(() => expect(router.blockCount).toBe(0), PATIENCE);
    const after = await vi.waitFor(() => ask(content), PATIENCE);
    expect(after.hits).toBe(0);
    await arrived(after.tokens);
    expect(Math.floor((await ask(content)).hits / BLOCK_LENGTH)).toBe(
      router.cachedBlocks(before.prompt.slice(0, -1), BLOCK_LENGTH),
    );
  });

  async function tokensOf(content: string): Promise<number[]> {
    const reply = await fetch(`${server.url}/tokenize`, {
      method: 'POST',
      headers: { ...client.headers },
      body: JSON.stringify({ messages: [{ role: 'user', content }] }),
    });
    return ((await reply.json()) as { tokens: number[] }).tokens;
  }

  /** All but the last token of an answer are in the cache when it has ended. */
  async function arrived(tokens: readonly number[], salt?: string): Promise<void> {
    const count = Math.floor((tokens.length - 1) / BLOCK_LENGTH);
    await vi.waitFor(
      () => expect(router.cachedBlocks(tokens, BLOCK_LENGTH, null, salt)).toBeGreaterThanOrEqual(count),
      PATIENCE,
    );
  }
});
