// Every third family that is built, and in a long search all of them, through the server, in q8 or q4: over HTTP the log
// probabilities are near those of transformers, and those of the engine bit for bit, whether a prompt is computed alone, beside
// others, in chunks, or taken from the prefix cache. `tests/engine/family-equivalence.test.ts` has all families.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEngine } from '@ortler/engine';
import { ensureModel } from '@ortler/model-builder';
import { IS_LONG_RUN } from 'test-runs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  DECODER_GOLDENS,
  type GoldenFamily,
  logitDeviation,
  writeGoldenCheckpoint,
} from '../../packages/model-builder/test/decoder-golden.ts';
import { characterTokenizerFiles, textOf, tokenOf } from '../support/character-tokenizer.ts';
import { type ChatClient, createChatClient, type Json } from '../support/chat-client.ts';
import { distanceFromLogits, familyBound, PRECISIONS } from '../support/family-bounds.ts';
import { makeServerFolder, type RunningServer, startServer } from '../support/server.ts';

/** Families of one server. Each of its models is a process. */
const GROUP_SIZE = 14;
const ANSWER_LENGTH = 48;
/** Tokens that the last of the prompts shares with the first one. */
const SHARED_LENGTH = 29;
/** The server takes several calls for a prompt, the engine one. Unit: tokens. */
const CHUNK_LENGTH = 11;

/** The greedy token and its best candidates with their log probabilities, place by place. */
type Tokens = readonly (readonly (readonly [tokenId: number, logprob: number])[])[];

interface Answer {
  readonly cachedTokenCount: number;
  readonly tokens: Tokens;
}

interface TestedFamily extends GoldenFamily {
  readonly precision: (typeof PRECISIONS)[number];
}

const FAMILIES: readonly TestedFamily[] = DECODER_GOLDENS.filter((_, i) => IS_LONG_RUN || i % 3 === 0).map(
  (golden, i) => ({
    ...golden,
    precision: PRECISIONS[i % PRECISIONS.length]!,
  }),
);

const groups = Array.from({ length: Math.ceil(FAMILIES.length / GROUP_SIZE) }, (_, i) => {
  const families = FAMILIES.slice(i * GROUP_SIZE, (i + 1) * GROUP_SIZE);
  return { names: families.map(({ family }) => family).join(', '), families };
});

describe.each(groups)('a server of $names', ({ families }) => {
  const modelDirs = new Map<string, string>();
  let server: RunningServer;
  let client: ChatClient;

  beforeAll(async () => {
    const folder = await makeServerFolder();
    for (const tested of families) modelDirs.set(tested.family, await buildFamily(folder, tested));
    const models = [...modelDirs].map(([id, path]) => `${id}=${path}`).join(',');
    const settings = ['--device', 'cpu', '--threads', '1', '--prefill-chunk', `${CHUNK_LENGTH}`];
    server = await startServer({ folder, arguments: ['--models', models, ...settings] });
    client = createChatClient(server);
  });
  afterAll(() => server?.dispose());

  test.each(families)('$family in $precision', async ({ family, cases: [golden], precision }) => {
    const prompt = golden!.prompts.at(-1)!;
    const { tokens } = prompt;
    const prompts = [tokens, tokens.slice(0, 7), tokens.slice(5), [...tokens.slice(0, SHARED_LENGTH), 3, 1]];
    const expected = await engineAnswers(modelDirs.get(family)!, prompts);
    const bound = familyBound(family, precision) * logitDeviation(prompt);
    expect(distanceFromLogits(expected[0]![0]!, prompt.lastLogits)).toBeLessThan(bound);

    const alone: Answer[] = [];
    for (const [i, own] of prompts.entries()) alone.push(await ask(client, family, own, `alone ${i}`));
    expect(alone, 'in chunks, alone').toEqual(
      expected.map(answer => ({ cachedTokenCount: 0, tokens: answer })),
    );

    const together = await Promise.all(prompts.map((own, i) => ask(client, family, own, `together ${i}`)));
    expect(together, 'beside others').toEqual(alone);

    const hit = await ask(client, family, tokens, 'alone 0');
    expect(hit.cachedTokenCount, 'hits of the whole prompt').toBeGreaterThan(0);
    expect(hit.tokens, 'a whole prompt from the cache').toEqual(expected[0]);
    const continued = await ask(client, family, prompts[3]!, 'alone 0');
    expect(continued.cachedTokenCount, 'hits of a shared beginning').toBeGreaterThan(0);
    expect(continued.tokens, 'a shared beginning from the cache').toEqual(expected[3]);
  });
});

/** Gives the folder of the built model. */
async function buildFamily(
  folder: string,
  { family, cases: [golden], precision }: TestedFamily,
): Promise<string> {
  const sourceDir = join(folder, family);
  await writeGoldenCheckpoint(sourceDir, golden!);
  const { lastLogits } = golden!.prompts[0]!;
  for (const [name, content] of Object.entries(characterTokenizerFiles(lastLogits.length)))
    await writeFile(join(sourceDir, `${name}.json`), JSON.stringify(content));
  return ensureModel({ sourceDir, cacheDir: join(folder, 'builds'), precision });
}

/** Each prompt alone, whole, in a process of its own memory: none is found in the prefix cache. */
async function engineAnswers(modelDir: string, prompts: readonly (readonly number[])[]): Promise<Tokens[]> {
  const engine = await createEngine({ modelDir, link: 'in-process', device: 'cpu', threadCount: 1 });
  const answers: Tokens[] = [];
  for (const [i, tokenIds] of prompts.entries()) {
    const tokens: (readonly (readonly [number, number])[])[] = [];
    const request = {
      prompt: { tokenIds },
      sampling: { temperature: 0 },
      stop: { maxTokens: ANSWER_LENGTH, ignoreEos: true },
      logprobs: { topCount: 20 },
      cachePartition: `${i}`,
    };
    for await (const event of engine.generate(request))
      if (event.kind === 'token-delta')
        for (const own of event.logprobs!)
          tokens.push([own, ...own.top].map(({ tokenId, logprob }) => [tokenId, logprob]));
    expect(tokens.length).toBe(ANSWER_LENGTH);
    answers.push(tokens);
  }
  await engine.close();
  return answers;
}

/** Prompts with different salts do not share a cache. */
async function ask(
  client: ChatClient,
  model: string,
  tokenIds: readonly number[],
  salt: string,
): Promise<Answer> {
  const { usage, choices } = await client.chat({
    model,
    messages: [{ role: 'user', content: textOf(tokenIds) }],
    temperature: 0,
    max_tokens: ANSWER_LENGTH,
    ignore_eos: true,
    logprobs: true,
    top_logprobs: 20,
    cache_salt: salt,
  });
  expect(usage).toMatchObject({ prompt_tokens: tokenIds.length, completion_tokens: ANSWER_LENGTH });
  const toPair = ({ token, logprob }: Json) => [tokenOf(token), logprob] as const;
  return {
    cachedTokenCount: usage.prompt_tokens_details.cached_tokens,
    tokens: choices[0].logprobs.content.map((place: Json) => [place, ...place.top_logprobs].map(toPair)),
  };
}
