// A loaded model and its four calls. Each is a loop over the engine's events.

import type {
  ChatMessage,
  Engine,
  FinishReason,
  GenerationEvent,
  StopReason,
  TokenLogprob,
  TokenUsage,
} from '@ortler/engine';
import { ObjectError } from './errors.ts';
import { type GenerateOptions, type Messages, toGenerationRequest } from './generate-options.ts';
import { type ObjectSchema, toJsonSchema, validate } from './object-schema.ts';

export interface GeneratedText {
  /** The answer, without the reasoning. */
  readonly text: string;
  /** The functions that the model calls, in order; empty without `tools`. */
  readonly toolCalls: readonly GeneratedToolCall[];
  /** The model's reasoning before the answer; empty for a model without one. */
  readonly reasoning: string;
  readonly usage: TokenUsage;
  readonly finishReason: FinishReason;
  /** The stop string or the stop token that ended the answer; null for any other end. */
  readonly stopReason: StopReason;
  /** The answer as a message of the conversation that goes on, with its calls. */
  readonly message: ChatMessage;
  /** One for each generated token; empty unless `logprobs` was asked for. */
  readonly logprobs: readonly TokenLogprob[];
}

/** One call of a function. */
export interface GeneratedToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text of an object; incomplete where the answer was cut off inside it (`finishReason` is not `tool-calls`). */
  readonly arguments: string;
}

export interface GeneratedObject<Output> extends GeneratedText {
  readonly object: Output;
}

/** Calls may overlap: they share steps of the model (continuous batching) and equal beginnings of prompts (prefix caching). */
export class Model implements AsyncDisposable {
  /** The engine below: tokens, health, decoding and every field of a request. */
  readonly engine: Engine;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  /** The text of one answer while it is generated, without its reasoning. Throws: `EngineError`. */
  async *textStream(
    messages: Messages,
    options: GenerateOptions = {},
  ): AsyncGenerator<string, void, undefined> {
    for await (const event of this.stream(messages, options))
      if (event.kind === 'token-delta' && event.text !== '') yield event.text;
  }

  /** One answer, whole. Throws: `EngineError`. */
  async generateText(messages: Messages, options: GenerateOptions = {}): Promise<GeneratedText> {
    let text = '';
    let reasoning = '';
    const logprobs: TokenLogprob[] = [];
    const toolCalls: { id: string; name: string; arguments: string }[] = [];
    let finish: { readonly reason: FinishReason; readonly stopReason: StopReason } | null = null;
    let usage: TokenUsage | null = null;
    for await (const event of this.stream(messages, options)) {
      if (event.kind === 'request-finish') usage = event.usage;
      if (event.kind !== 'token-delta') continue;
      text += event.text;
      reasoning += event.reasoning;
      for (const { index, start, arguments: json } of event.toolCalls ?? []) {
        if (start !== undefined) toolCalls[index] = { ...start, arguments: '' };
        toolCalls[index]!.arguments += json;
      }
      logprobs.push(...(event.logprobs ?? []));
      finish ??= event.finish;
    }
    const { reason: finishReason, stopReason } = finish!;
    const message = toMessage(text, finishReason === 'tool-calls' ? toolCalls : []);
    return { text, toolCalls, message, reasoning, usage: usage!, finishReason, stopReason, logprobs };
  }

  /**
   * One answer as an object of the schema, which holds token by token: a Zod schema (or another one with Standard JSON Schema),
   * or plain JSON Schema. Throws: `EngineError`, with `invalid_request` for a schema that cannot be enforced; `ObjectError`.
   */
  async generateObject<Output>(
    schema: ObjectSchema<Output>,
    messages: Messages,
    options: Omit<GenerateOptions, 'constraint' | 'tools'> = {},
  ): Promise<GeneratedObject<Output>> {
    const constraint = { jsonSchema: toJsonSchema(schema) };
    const answer = await this.generateText(messages, { ...options, constraint });
    const result = await validate(schema, parseWhole(answer));
    if (result.kind === 'invalid')
      throw new ObjectError('invalid', `The object does not satisfy its schema: ${result.problem}.`, answer);
    return { ...answer, object: result.value };
  }

  /** The engine's events: the prompt, each step's tokens with text and reasoning apart, the usage. Throws: `EngineError`. */
  stream(messages: Messages, options: GenerateOptions = {}): AsyncIterable<GenerationEvent> {
    const { signal, ...others } = options;
    return this.engine.generate(
      toGenerationRequest(messages, others),
      signal === undefined ? {} : { signal },
    );
  }

  /** Waits for open calls up to `deadlineMs`, aborts the rest, and frees the model's memory. */
  close(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    return this.engine.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The value of an answer that ended by itself. Throws: `ObjectError`, also where a stop string or a stop token of the caller cut it. */
function parseWhole(answer: GeneratedText): unknown {
  const { text, finishReason, stopReason } = answer;
  const isCut = finishReason !== 'stop' || typeof stopReason === 'string';
  try {
    if (!isCut) return JSON.parse(text);
  } catch {
    // A stop token ended it.
  }
  const end = stopReason === null ? finishReason : `${finishReason}: ${stopReason}`;
  throw new ObjectError('truncated', `The answer ended before its object (${end}).`, answer);
}

/** Templates show the reasoning of past answers in ways of their own, if at all, so it stays out. */
function toMessage(content: string, calls: readonly GeneratedToolCall[]): ChatMessage {
  if (calls.length === 0) return { role: 'assistant', content };
  return {
    role: 'assistant',
    content,
    tool_calls: calls.map(({ id, name, arguments: json }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.parse(json) },
    })),
  };
}
