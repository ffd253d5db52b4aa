// Sources of answers for `ortler chat`: an engine in this process, or a running server.

import { type ChatMessage, createEngine, type Engine } from '@ortler/engine';
import { explainLongRope, explainLoss, prepareModel } from '@ortler/model-builder';
import { chooseDevice } from '@ortler/onnxruntime';
import type { Config } from '../../config/config.ts';
import type { OwnModel } from '../../config/model-list.ts';
import { toBuildOptions } from '../../models/build-options.ts';
import { isOperatorError } from '../../models/is-operator-error.ts';
import { readChatTemplate } from '../../models/read-chat-template.ts';
import { createBuildBars } from '../build-bars.ts';
import { fetchSource } from '../fetch-source.ts';
import { describePrecision } from '../startup-report.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';

export interface AnswerSettings {
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
}

/** Streams the text of one answer. */
export interface ChatSource {
  readonly name: string;
  answer(
    messages: readonly ChatMessage[],
    settings: AnswerSettings,
    signal: AbortSignal,
  ): AsyncIterable<string>;
  close(): Promise<void>;
}

/** Starts an engine in a thread of this process. Throws: `UserError` when the model cannot be used. */
export async function openEngineSource(
  { id, source }: OwnModel,
  config: Config,
  terminal: Terminal,
): Promise<ChatSource> {
  const bars = createBuildBars(terminal);
  let engine: Engine;
  try {
    const chatTemplate = await readChatTemplate(config, id);
    const { device } = await chooseDevice(config.device);
    const modelDir = await prepareModel({
      sourceDir: await fetchSource(source, config, { terminal, bars }),
      ...(await toBuildOptions(config, device)),
      onPrecision: choice => {
        bars.end(id);
        terminal.err(`  ${id}: built as ${describePrecision(choice)}\n`);
      },
      onProgress: progress => bars.update(id, progress),
    });
    const notices = [await explainLoss(modelDir), await explainLongRope(modelDir)];
    bars.end(id);
    for (const notice of notices) if (notice !== undefined) terminal.err(`  ${id}: ${notice}\n`);
    engine = await createEngine({
      modelDir,
      link: 'worker',
      device,
      isDeviceOptional: config.device === 'auto',
      threadCount: config.threads,
      maxSequences: 1,
      modelDefaults: config.generationConfig === 'on',
      chatTemplate,
      reasoningParser: config.reasoningParsers.ofModel.get(id) ?? config.reasoningParsers.ofOthers,
      contextLength: config.contextLength,
    });
  } catch (error) {
    if (isOperatorError(error))
      throw new UserError(`The model ${id} cannot be used: ${error.message}`, { cause: error });
    throw error;
  } finally {
    bars.end(id);
  }
  return {
    name: id,
    async *answer(messages, { temperature, maxTokens }, signal) {
      const request = {
        prompt: { messages },
        sampling: temperature === undefined ? {} : { temperature },
        stop: maxTokens === undefined ? {} : { maxTokens },
      };
      for await (const event of engine.generate(request, { signal }))
        if (event.kind === 'token-delta') yield event.text;
    },
    close: () => engine.close(),
  };
}

/**
 * Sends requests to a running server over tRPC. The address may end in /v1, as OpenAI's clients have it. Throws: `UserError` for a
 * bad address or a missing key.
 */
export async function openServerSource(
  url: string,
  apiKey: string | undefined,
  model: string | undefined,
): Promise<ChatSource> {
  if (!URL.canParse(url))
    throw new UserError(`--url must be an address such as http://127.0.0.1:8000; got "${url}".`);
  if (apiKey === undefined)
    throw new UserError('A server needs a key: set ORTLER_API_KEY, or give --api-key.');
  const { createOrtlerClient } = await import('@ortler/api/client');
  const client = createOrtlerClient({ url: url.replace(/\/v1\/*$/, ''), apiKey });
  return {
    name: model ?? url,
    async *answer(messages, { temperature, maxTokens }, signal) {
      const plain = messages.map(({ role, content }) => ({ role, content: String(content) }));
      const request = { messages: plain, model, temperature, max_completion_tokens: maxTokens };
      const chunks = await client.chat.stream.mutate(request, { signal });
      for await (const chunk of chunks) yield chunk.choices[0]?.delta.content ?? '';
    },
    close: () => Promise.resolve(),
  };
}
