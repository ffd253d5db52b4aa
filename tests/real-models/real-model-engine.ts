// The engine on a real model, and its answers. The model is downloaded by `npm run test-models`; tests are skipped without it,
// unless TEST_MODELS=required.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ConstraintSpec,
  createEngine,
  type Engine,
  type EngineOptions,
  type Prompt,
  type TokenLogprob,
} from '@ortler/engine';
import { prepareModel } from '@ortler/model-builder';
import { describe } from 'vitest';
import { hasRealModel, REAL_MODELS_FOLDER, realModelPath } from '../../scripts/real-models/real-models.ts';

export const SMOLLM2 = 'smollm2-135m-instruct';
export const GEMMA3 = 'gemma3-270m';

const IS_REQUIRED = process.env.TEST_MODELS === 'required';

/** A suite that needs a model. */
export function describeWithModel(model: string, name: string, suite: () => void): void {
  if (IS_REQUIRED || hasRealModel(model)) describe(`${model}: ${name}`, suite);
  else describe.skip(`${model}: ${name} (needs the model: npm run test-models)`, suite);
}

/** An engine on the model; builds are kept beside the download. */
export async function startEngine(
  model: string,
  precision: 'file' | 'f32',
  options: Omit<EngineOptions, 'modelDir'> = {},
): Promise<Engine> {
  const sourceDir = realModelPath(model);
  const cacheDir = join(REAL_MODELS_FOLDER, 'builds');
  const modelDir = await prepareModel({ sourceDir, cacheDir, precision });
  return createEngine({ modelDir, device: 'cpu', threadCount: 2, modelDefaults: false, ...options });
}

export function readGolden<Content>(model: string, name: string): Content {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'golden', model, name), 'utf8')) as Content;
}

export interface AnswerSettings {
  readonly maxTokens: number;
  readonly constraint?: ConstraintSpec;
  readonly signal?: AbortSignal;
  /** Candidates of each position with their log probabilities. Default: none. */
  readonly topCount?: number;
  /** Called with the tokens so far. */
  readonly onTokens?: (tokenIds: readonly number[]) => void;
}

export interface Answer {
  /** With the end-of-sequence token. */
  readonly tokenIds: readonly number[];
  readonly text: string;
  /** The model or the constraint ended the answer. */
  readonly isEnded: boolean;
  readonly logprobs: readonly TokenLogprob[];
  readonly promptTokenCount: number;
  readonly cachedTokenCount: number;
}

/** The greedy answer. Throws: as `Engine.generate`. */
export async function answer(engine: Engine, prompt: Prompt, settings: AnswerSettings): Promise<Answer> {
  const { maxTokens, constraint, signal, topCount, onTokens } = settings;
  const tokenIds: number[] = [];
  const logprobs: TokenLogprob[] = [];
  let text = '';
  let isEnded = false;
  let usage = { promptTokenCount: 0, cachedTokenCount: 0 };
  const events = engine.generate(
    {
      prompt,
      sampling: { temperature: 0 },
      stop: { maxTokens },
      ...(topCount === undefined ? {} : { logprobs: { topCount } }),
      ...(constraint === undefined ? {} : { constraint }),
    },
    { signal },
  );
  for await (const event of events) {
    if (event.kind === 'request-finish') usage = event.usage;
    if (event.kind !== 'token-delta') continue;
    tokenIds.push(...event.tokenIds);
    logprobs.push(...(event.logprobs ?? []));
    text += event.text;
    if (event.finish?.reason === 'stop') isEnded = true;
    onTokens?.(tokenIds);
  }
  const { promptTokenCount, cachedTokenCount } = usage;
  return { tokenIds, text, isEnded, logprobs, promptTokenCount, cachedTokenCount };
}
