// The whole text side and token side against a reference that is plainly right and slow: greedy search over the
// demo model's logits, the text decoded anew after each token, stop strings searched in all of it.

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEngine, type Engine } from '@ortler/engine';
import { createSlotsRunner, type ModelRunner, readManifest } from '@ortler/engine/testing';
import { buildModel } from '@ortler/model-builder';
import { selectBackend } from '@ortler/onnxruntime';
import fc from 'fast-check';
import { runs } from 'test-runs';
import { afterAll, beforeAll, expect, test } from 'vitest';

const DEMO_DIR = fileURLToPath(new URL('../../models/demo', import.meta.url));

let folder: string;
let engine: Engine;
let runner: ModelRunner;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-stop-'));
  const modelDir = join(folder, 'model');
  await buildModel({ sourceDir: DEMO_DIR, outputDir: modelDir, precision: 'f32' });
  const { backend } = await selectBackend('native');
  runner = await createSlotsRunner(backend, modelDir, await readManifest(modelDir), {
    slotCount: 1,
    contextLength: 512,
    threadCount: 1,
    spin: false,
  });
  engine = await createEngine({
    modelDir,
    threadCount: 1,
    link: 'in-process',
    contextLength: 512,
    // The reference joins all output.
    reasoningParser: 'none',
  });
});
afterAll(async () => {
  await engine.close();
  await runner.close();
  await rm(folder, { recursive: true, force: true });
});

const settings = fc
  .record({
    content: fc.constantFrom(
      'What is the capital of France?',
      'Repeat: 👍🏽 café 日本 👨‍👩‍👧 😀😀',
      'Hello!',
      'x',
    ),
    maxTokens: fc.integer({ min: 1, max: 20 }),
    minTokens: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 12 })),
    ignoreEos: fc.boolean(),
    includeInOutput: fc.boolean(),
    skipSpecialTokens: fc.boolean(),
    strings: fc.array(
      fc.oneof(
        fc.constantFrom('a', 'e', ' ', '.', '👍', '\u{1F3FD}', '日', '😀', 'é', ' c', 'is', 'capital of'),
        fc.constantFrom('<|im_end|>', 'Paris.', 'the'),
      ),
      { maxLength: 3 },
    ),
    tokenIds: fc.uniqueArray(fc.integer({ min: 3, max: 400 }), { maxLength: 2 }),
  })
  .map(one => ({ ...one, minTokens: Math.min(one.minTokens, one.maxTokens) }));

type Settings = typeof settings extends fc.Arbitrary<infer Value> ? Value : never;

interface Answer {
  readonly text: string;
  readonly tokenIds: readonly number[];
  readonly finish: { readonly reason: string; readonly stopReason: string | number | null };
}

async function reference(prompt: readonly number[], one: Settings): Promise<Answer> {
  const endTokenIds = [...(one.ignoreEos ? [] : engine.info.eosTokenIds), ...one.tokenIds];
  const banned = [...engine.info.eosTokenIds, ...one.tokenIds];
  const decode = (ids: readonly number[]) => decodeFinished(ids, one.skipSpecialTokens);
  const output: number[] = [];
  for (;;) {
    const all = Int32Array.from([...prompt, ...output]);
    const logits = await runner.run([{ slot: 0, tokenIds: all, computedLength: 0, logitsCount: 1 }]);
    if (output.length < one.minTokens) for (const id of banned) logits[id] = -Infinity;
    const next = logits.indexOf(Math.max(...logits));
    const before = decode(output);
    output.push(next);
    const isEnd = endTokenIds.includes(next) && output.length > one.minTokens;
    const text = isEnd && !one.includeInOutput ? before : decode(output);
    const answer = (reason: string, stopReason: string | number | null, upTo = text.length): Answer => ({
      text: text.slice(0, upTo),
      tokenIds: output,
      finish: { reason, stopReason },
    });
    const match = output.length > one.minTokens ? firstMatch(text, before.length, one.strings) : undefined;
    if (match !== undefined) return answer('stop', match.stop, one.includeInOutput ? match.end : match.start);
    if (isEnd) return answer('stop', !one.ignoreEos && next === engine.info.eosTokenIds[0] ? null : next);
    if (output.length === one.maxTokens) return answer('length', null);
  }
}

interface TokenizerFile {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
  readonly added_tokens: readonly { id: number; content: string; special: boolean }[];
}

const tokenizer: TokenizerFile = JSON.parse(readFileSync(join(DEMO_DIR, 'tokenizer.json'), 'utf8'));
const spellings = new Map(Object.entries(tokenizer.model.vocab).map(([spelling, id]) => [id, spelling]));
const addedTokens = new Map(tokenizer.added_tokens.map(token => [token.id, token]));
const byteOfCharacter = byteLevelAlphabet();

/** Text of byte-level tokens by the platform's own decoder; a character whose bytes are not all there is no text. */
function decodeFinished(ids: readonly number[], skipSpecialTokens: boolean): string {
  const bytes = ids.flatMap(id => {
    const added = addedTokens.get(id);
    if (added === undefined) return [...spellings.get(id)!].map(character => byteOfCharacter.get(character)!);
    return added.special && skipSpecialTokens ? [] : [...new TextEncoder().encode(added.content)];
  });
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes), { stream: true });
}

/** GPT-2's spelling of bytes: printable Latin-1 stands for itself, the others take characters from U+0100 on. */
function byteLevelAlphabet(): ReadonlyMap<string, number> {
  const alphabet = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    alphabet.set(String.fromCodePoint(isPrintable ? byte : next++), byte);
  }
  return alphabet;
}

/** The stop string that ends first after `from`, the earlier one in the list of equals. */
function firstMatch(text: string, from: number, strings: readonly string[]) {
  for (let end = from + 1; end <= text.length; end++) {
    const stop = strings.find(candidate => text.slice(0, end).endsWith(candidate));
    if (stop !== undefined) return { stop, start: end - stop.length, end };
  }
  return undefined;
}

test('every mix of stop conditions gives what the plain reference gives', async () => {
  await fc.assert(
    fc.asyncProperty(settings, async one => {
      const { content, skipSpecialTokens, ...stop } = one;
      const messages = [{ role: 'user', content }];
      const prompt = await engine.encode(await engine.renderChat(messages));
      const tokenIds: number[] = [];
      let text = '';
      let finish: Answer['finish'] | undefined;
      let completionTokenCount = 0;
      for await (const event of engine.generate({
        prompt: { messages },
        sampling: { temperature: 0 },
        skipSpecialTokens,
        stop,
      })) {
        if (event.kind === 'token-delta') {
          text += event.text;
          tokenIds.push(...event.tokenIds);
          finish = event.finish ?? undefined;
        }
        if (event.kind === 'request-finish') completionTokenCount = event.usage.completionTokenCount;
      }
      expect({ text, tokenIds, finish }).toEqual(await reference(prompt, one));
      expect(completionTokenCount).toBe(tokenIds.length);
    }),
    { numRuns: runs({ daily: 20, full: 60 }) },
  );
});
