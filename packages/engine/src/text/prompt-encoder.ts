// Turns a prompt of any kind into token ids: renders, bounds and encodes. Work of bounded cost runs here; templates of
// requests, templates of models that exceed their limits here and long texts run in workers that can be killed, so that neither a
// request nor a model can block this thread.

import { entryModule } from '@ortler/worker';
import { EngineError } from '../errors.ts';
import type { ChatMessage, ChatTemplateOptions } from '../request/chat-message.ts';
import type { Prompt } from '../request/generation-request.ts';
import { promptTooLong } from '../request/prompt-too-long.ts';
import type { ChatTemplates, TemplateCall } from './chat-template.ts';
import { cutAtMark } from './continue-final-message.ts';
import { LongTextEncoder } from './long-text-encoder.ts';
import { renderHere } from './render-template.ts';
import type { RenderTask } from './template-worker-entry.ts';
import { TextWorker, type TextWorkerOptions } from './text-worker.ts';
import type { Tokenizer } from './tokenizer.ts';

export interface PromptEncoderOptions {
  readonly modelDir: string;
  readonly tokenizer: Tokenizer;
  readonly templates: ChatTemplates;
  /** Maximum number of bytes of text one token can stand for. */
  readonly longestTokenSpan: number;
  readonly contextLength: number;
  readonly templateTimeLimitMs?: number;
  readonly encodeTimeLimitMs?: number;
}

/** Texts up to this length are handled at once; this many letters without a break take 7 to 28 ms on a busy core. */
const INLINE_TEXT_LENGTH = 2048;
const TEMPLATE_TIME_LIMIT_MS = 2_000;
/**
 * Templates of a model that exceed the limits of this thread so often in a row are left to their worker. A busy machine may make any
 * template exceed them now and then.
 */
const EXCEEDED_LIMIT = 3;
/** Far above the start time of a thread on a slow core. */
const WORKER_START_LIMIT_MS = 60_000;
/**
 * A safety net that no template should reach, because V8 may end the whole process there: the interpreter limits its output
 * to half of this.
 */
const TEMPLATE_MEMORY_MB = 1024;
const WORKER_QUEUE_LIMIT = 256;
/** Shares take turns, so this also bounds how long one waits for itself. */
const QUEUE_LIMIT_PER_SHARE = 64;

export class PromptEncoder {
  readonly #options: PromptEncoderOptions;
  readonly #templateWorker: TextWorker<RenderTask, string>;
  /** For templates of requests: one that hangs makes only others of its kind wait. */
  readonly #foreignTemplateWorker: TextWorker<RenderTask, string>;
  readonly #longTexts: LongTextEncoder;
  /** How often in a row the model's own templates exceeded the limits of this thread. */
  #exceededCount = 0;

  constructor(options: PromptEncoderOptions) {
    this.#options = options;
    const templateTimeLimitMs = options.templateTimeLimitMs ?? TEMPLATE_TIME_LIMIT_MS;
    const renderOptions: TextWorkerOptions = {
      entry: entryModule('./template-worker-entry', import.meta.url),
      timeLimitMs: templateTimeLimitMs,
      startLimitMs: WORKER_START_LIMIT_MS,
      memoryLimitMb: TEMPLATE_MEMORY_MB,
      queueLimit: WORKER_QUEUE_LIMIT,
      queueLimitPerShare: QUEUE_LIMIT_PER_SHARE,
      toLimitError: limit =>
        new EngineError(
          'template_failed',
          limit === 'timeout'
            ? `The chat template took longer than ${templateTimeLimitMs} ms.`
            : `The chat template took more than ${TEMPLATE_MEMORY_MB} MB of memory.`,
        ),
    };
    this.#templateWorker = new TextWorker(renderOptions);
    this.#foreignTemplateWorker = new TextWorker(renderOptions);
    this.#longTexts = new LongTextEncoder({
      modelDir: options.modelDir,
      timeLimitMs: options.encodeTimeLimitMs,
    });
  }

  /**
   * Ids of a prompt. With `mayOverflow`, a text that cannot fit the context is encoded all the same, to be truncated.
   * Throws: `prompt_too_long`, `template_failed`, `invalid_request`, `overloaded`, `aborted`.
   */
  async encodePrompt(
    prompt: Prompt,
    signal?: AbortSignal,
    {
      mayOverflow = false,
      share,
    }: { readonly mayOverflow?: boolean; readonly share?: string | undefined } = {},
  ): Promise<Int32Array> {
    const encode = (text: string, addSpecialTokens: boolean) =>
      mayOverflow
        ? this.encode(text, addSpecialTokens, signal, share)
        : this.#encodeFitting(text, addSpecialTokens, signal, share);
    if (typeof prompt === 'string') return encode(prompt, true);
    if (prompt.tokenIds !== undefined) return Int32Array.from(prompt.tokenIds);
    if (prompt.text !== undefined) return encode(prompt.text, prompt.addSpecialTokens ?? true);
    const text = await this.renderChat(prompt.messages, prompt.template, signal, share);
    // The template writes the special tokens itself, unless the caller wants more of them.
    const addsSpecialTokens = prompt.template?.addSpecialTokens ?? false;
    const ids = await encode(text, addsSpecialTokens);
    return addsSpecialTokens ? withOnePrefix(ids, this.#options.tokenizer.prefixIds) : ids;
  }

  async renderChat(
    messages: readonly ChatMessage[],
    options?: ChatTemplateOptions,
    signal?: AbortSignal,
    share?: string,
  ): Promise<string> {
    const call = this.#options.templates.prepare(messages, options);
    const text = await this.#render(call, signal, share);
    return call.openText === undefined ? text : cutAtMark(text, call.openText);
  }

  async encode(
    text: string,
    addSpecialTokens: boolean,
    signal?: AbortSignal,
    share?: string,
  ): Promise<Int32Array> {
    const { tokenizer } = this.#options;
    if (text.length <= INLINE_TEXT_LENGTH && tokenizer.isCheap) {
      return Int32Array.from(tokenizer.encode(text, { addSpecialTokens }));
    }
    return this.#longTexts.encode(text, addSpecialTokens, signal, share);
  }

  async #render(call: TemplateCall, signal?: AbortSignal, share?: string): Promise<string> {
    if (!call.isForeign && this.#exceededCount < EXCEEDED_LIMIT && isShort(call)) {
      const text = renderHere(call.source, call.variables);
      if (text !== undefined) {
        this.#exceededCount = 0;
        return text;
      }
      this.#exceededCount++;
    }
    const worker = call.isForeign ? this.#foreignTemplateWorker : this.#templateWorker;
    return worker.run({ source: call.source, variables: call.variables }, signal, share);
  }

  async close(): Promise<void> {
    const parts = [this.#templateWorker, this.#foreignTemplateWorker, this.#longTexts];
    await Promise.all(parts.map(part => part.close()));
  }

  /** Refuses a text that cannot fit the context before spending time on it. */
  #encodeFitting(
    text: string,
    addSpecialTokens: boolean,
    signal: AbortSignal | undefined,
    share: string | undefined,
  ): Promise<Int32Array> {
    const { longestTokenSpan, contextLength } = this.#options;
    const minTokenCount = Math.ceil(Buffer.byteLength(text) / longestTokenSpan);
    if (minTokenCount > contextLength)
      throw promptTooLong({ contextLength, promptLength: minTokenCount, isLeast: true });
    return this.encode(text, addSpecialTokens, signal, share);
  }
}

/** Without the tokenizer's prefix where the template has written the same tokens: a text begins once. */
function withOnePrefix(ids: Int32Array, prefix: readonly number[]): Int32Array {
  const isRepeated = prefix.length > 0 && prefix.every((id, i) => ids[prefix.length + i] === id);
  return isRepeated ? ids.subarray(prefix.length) : ids;
}

/** Values nested deeper are left to the worker. */
const INLINE_DEPTH = 32;

/** Whether rendering a model's own template is probably cheap: the cost of published ones grows with their variables. */
function isShort(call: TemplateCall): boolean {
  let length = 0;
  const add = (value: unknown, depth: number): void => {
    length += typeof value === 'string' ? value.length : 1;
    if (typeof value !== 'object' || value === null) return;
    // Keys first: the values of a large object take several times as long.
    const size = Array.isArray(value) ? value.length : Object.keys(value).length;
    if (depth === INLINE_DEPTH || size > INLINE_TEXT_LENGTH) {
      length = Number.POSITIVE_INFINITY;
      return;
    }
    for (const inner of Object.values(value)) {
      if (length > INLINE_TEXT_LENGTH) return;
      add(inner, depth + 1);
    }
  };
  add(call.variables, 0);
  return length <= INLINE_TEXT_LENGTH;
}
