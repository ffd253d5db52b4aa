// An engine whose model says what the prompt tells it to: text in, the same text out, through every part of the
// text side. The folder has a real tokenizer; only the model is scripted.

import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from '../src/create-engine.ts';
import { MANIFEST_FILE } from '../src/graph-contract/index.ts';
import type { CoreLink } from '../src/link/core-link.ts';
import { createInProcessLink } from '../src/link/in-process-link.ts';
import type { CoreOptions } from '../src/protocol/options.ts';
import type { ChoiceFinish, GenerationEvent } from '../src/request/generation-event.ts';
import type { GenerationRequest } from '../src/request/generation-request.ts';
import type { ReasoningParser } from '../src/request/reasoning-parser.ts';
import {
  ECHO_TOKEN,
  loadScriptedCore,
  SCRIPTED_CORE_OPTIONS,
  type ScriptedCoreSettings,
} from '../src/testing/scripted-core.ts';
import { SCRIPTED_MANIFEST } from '../src/testing/scripted-manifest.ts';
import type { LinkedEngine } from '../src/text-side/linked-engine.ts';
import { familyDir } from './tokenizer-families.ts';

export interface ScriptedEngineOptions extends ScriptedCoreSettings {
  readonly core?: Partial<CoreOptions>;
  readonly generationConfig?: Readonly<Record<string, unknown>>;
  readonly modelDefaults?: boolean;
  readonly reasoningParser?: ReasoningParser;
  readonly chatTemplate?: string;
  /** Default: `chatTemplate`. */
  readonly ownTemplate?: string;
  readonly createLink?: (options: CoreOptions) => CoreLink;
}

/** The echo marker is `<|im_start|>` and the end of sequence `<|endoftext|>` in this tokenizer. */
const TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}{{ '<|im_start|>' }}";

export interface ScriptedEngine {
  readonly engine: LinkedEngine;
  readonly close: () => Promise<void>;
}

export async function createScriptedEngine(options: ScriptedEngineOptions = {}): Promise<ScriptedEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-engine-'));
  await copyFile(`${familyDir('digits')}tokenizer.json`, join(folder, 'tokenizer.json'));
  const write = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value));
  await write('tokenizer_config.json', {
    eos_token: '<|endoftext|>',
    chat_template: options.ownTemplate ?? options.chatTemplate ?? TEMPLATE,
  });
  await write('generation_config.json', options.generationConfig ?? {});
  await write(MANIFEST_FILE, SCRIPTED_MANIFEST);
  const coreOptions = { ...SCRIPTED_CORE_OPTIONS, ...options.core };
  const createLink =
    options.createLink ??
    (core => createInProcessLink(core, loadScriptedCore({ vocabSize: 600, ...options })));
  const engine = await startEngine(folder, createLink(coreOptions), options);
  return {
    engine,
    close: async () => {
      await engine.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** A request that makes the scripted model answer with this text. */
export async function echoText(
  engine: LinkedEngine,
  text: string,
  more: Partial<GenerationRequest> = {},
): Promise<GenerationRequest> {
  const tokenIds = await engine.encode(text);
  return {
    prompt: { tokenIds: [...tokenIds, ECHO_TOKEN] },
    sampling: { temperature: 0 },
    ...more,
  };
}

export async function collect(events: AsyncIterable<GenerationEvent>): Promise<GenerationEvent[]> {
  const all: GenerationEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Joined text, reasoning, ids and end of one choice. */
export function choiceOf(events: readonly GenerationEvent[], choiceIndex = 0) {
  let text = '';
  const tokenIds: number[] = [];
  let reasoning = '';
  let finish: ChoiceFinish | null = null;
  for (const event of events) {
    if (event.kind !== 'token-delta') continue;
    if (event.choiceIndex !== choiceIndex) continue;
    text += event.text;
    tokenIds.push(...event.tokenIds);
    reasoning += event.reasoning;
    finish = event.finish;
  }
  return { text, reasoning, tokenIds, finish };
}
