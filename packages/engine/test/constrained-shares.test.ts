// Constraints of several shares at once, through every part of the text side.

import { expect, it } from 'vitest';
import type { GenerationRequest } from '../src/request/generation-request.ts';
import { createScriptedEngine, echoText } from './scripted-engine.ts';

it('a share that brings many new schemas does not keep a constrained request of another waiting', async () => {
  const { engine, close } = await createScriptedEngine();
  const leaving = new AbortController();
  const collect = async (request: GenerationRequest, signal?: AbortSignal) => {
    let text = '';
    for await (const event of engine.generate(request, { signal }))
      if (event.kind === 'token-delta') text += event.text;
    return text;
  };
  const flood = Array.from({ length: 200 }, async (_, i) =>
    collect(
      await echoText(engine, '1', { constraint: { jsonSchema: { const: i } }, share: 'flood' }),
      leaving.signal,
    ),
  );
  await expect(Promise.race(flood)).rejects.toMatchObject({ code: 'overloaded' });
  const other = await echoText(engine, '7', { constraint: { regex: '[0-9]' }, share: 'other' });
  expect(await collect(other)).toBe('7');
  leaving.abort();
  await Promise.allSettled(flood);
  await close();
});
