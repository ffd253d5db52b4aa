// The reply header that names fields without effect.

import { describe, expect, it } from 'vitest';
import { createAppRouter } from '../app-router.ts';
import { collect, createFakeEngine, createFakeServices, TEST_API_KEY } from '../testing/index.ts';

/** A caller of the procedures, and the headers that they add to the reply. */
function connect() {
  const headers = new Map<string, string>();
  const caller = createAppRouter(createFakeServices({ demo: createFakeEngine() })).createCaller({
    credentials: { kind: 'bearer', token: TEST_API_KEY },
    requestId: 'made-id',
    headers: {},
    signal: new AbortController().signal,
    setHeader: (name, value) => headers.set(name, value),
  });
  return { caller, ignored: () => headers.get('ortler-ignored-fields') };
}

const messages = [{ role: 'user', content: 'Hi' }];

describe('a reply', () => {
  it('names the fields of a chat that have no effect', async () => {
    const { caller, ignored } = connect();
    const input = { messages, temprature: 0, temperature: 0, functions: null, think: true };
    await caller.chat.create(input);
    expect(ignored()).toBe('temprature, think');
  });

  it('names those of chunks, completions and responses', async () => {
    const { caller, ignored } = connect();
    await collect(await caller.chat.stream({ messages, ...{ a: 1 } }));
    expect(ignored()).toBe('a');
    await caller.completions.complete({ prompt: 'Say', ...{ b: 1 } });
    expect(ignored()).toBe('b');
    await caller.responses.create({ input: 'Hi', ...{ c: 1 } });
    expect(ignored()).toBe('c');
  });

  it('has no such header where all fields are known', async () => {
    const { caller, ignored } = connect();
    await caller.chat.create({ messages, ...{ keep_alive: null } });
    expect(ignored()).toBeUndefined();
  });

  it('names 20 at most, as text that a header may hold', async () => {
    const { caller, ignored } = connect();
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, i]));
    await caller.chat.create({ messages, ...{ 'línea\r\n\ud800': 1, ['x'.repeat(100)]: 1 }, ...many });
    const names = ignored()!.split(', ');
    expect(names.slice(0, 3)).toEqual(['l%C3%ADnea%0D%0A%EF%BF%BD', 'x'.repeat(64), 'f0']);
    expect(names).toHaveLength(20);
  });
});
