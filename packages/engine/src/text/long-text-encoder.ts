// Encodes long texts in workers that can be killed, because the main thread serves all requests. Common and very long texts
// have separate workers, so that a text never waits for a much longer one.

import { entryModule } from '@ortler/worker';
import { EngineError } from '../errors.ts';
import type { EncodeTask } from './encode-worker-entry.ts';
import { TextWorker, type TextWorkerOptions } from './text-worker.ts';

export interface LongTextEncoderOptions {
  readonly modelDir: string;
  /** Unit: milliseconds for one text. Default: 10,000. */
  readonly timeLimitMs?: number | undefined;
}

/**
 * Texts beyond this length wait for each other only. Unit: UTF-16 code units, about 16,000 tokens of English prose, which
 * are encoded in a tenth of a second (Qwen3's vocabulary, a busy core); longer ones take up to the time limit.
 */
const COMMON_TEXT_LENGTH = 65_536;
/** Unit: UTF-16 code units. So many letters without a break take about a gigabyte within the time limit. */
const LONGEST_TEXT_LENGTH = 4_000_000;
const TIME_LIMIT_MS = 10_000;
/** The largest published tokenizers take two seconds to load on a slow core. */
const START_LIMIT_MS = 60_000;
/** A safety net that no text should reach, because V8 may end the whole process there; `LONGEST_TEXT_LENGTH` is the bound. */
const MEMORY_LIMIT_MB = 4096;
const QUEUE_LIMIT = 256;
const QUEUE_LIMIT_PER_SHARE = 64;

export class LongTextEncoder {
  readonly #common: TextWorker<EncodeTask, Int32Array>;
  readonly #veryLong: TextWorker<EncodeTask, Int32Array>;

  /** Each worker starts with its first text. */
  constructor({ modelDir, timeLimitMs = TIME_LIMIT_MS }: LongTextEncoderOptions) {
    const options: TextWorkerOptions = {
      entry: entryModule('./encode-worker-entry', import.meta.url),
      workerData: { modelDir },
      timeLimitMs,
      startLimitMs: START_LIMIT_MS,
      memoryLimitMb: MEMORY_LIMIT_MB,
      queueLimit: QUEUE_LIMIT,
      queueLimitPerShare: QUEUE_LIMIT_PER_SHARE,
      toLimitError: limit =>
        refused(
          limit === 'timeout'
            ? `The prompt's text could not be encoded within ${timeLimitMs} ms.`
            : "The prompt's text took too much memory to encode.",
        ),
    };
    this.#common = new TextWorker(options);
    this.#veryLong = new TextWorker(options);
  }

  /** Throws: `invalid_request` for a text that is too long or takes too long; `overloaded`, `aborted`, `engine_closed`. */
  async encode(
    text: string,
    addSpecialTokens: boolean,
    signal?: AbortSignal,
    share?: string,
  ): Promise<Int32Array> {
    if (text.length > LONGEST_TEXT_LENGTH)
      throw refused(
        `A text to encode has at most ${LONGEST_TEXT_LENGTH} characters; this one has ${text.length}.`,
      );
    const worker = text.length > COMMON_TEXT_LENGTH ? this.#veryLong : this.#common;
    return worker.run({ text, addSpecialTokens }, signal, share);
  }

  async close(): Promise<void> {
    await Promise.all([this.#common.close(), this.#veryLong.close()]);
  }
}

function refused(message: string): EngineError {
  return new EngineError('invalid_request', message, { parameter: 'prompt' });
}
