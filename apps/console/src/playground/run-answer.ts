// Runs one request and shows its answers as they come, at most once for each frame.

import { messageOf } from '../connection/api-client.ts';
import { type Answer, AnswerReader } from './answer-reader.ts';

interface RunOptions<Chunk> {
  /** Sends the request; the chunks come once the server has begun. */
  readonly open: (signal: AbortSignal) => Promise<AsyncIterable<Chunk>>;
  readonly read: (reader: AnswerReader, chunk: Chunk, nowMs: number) => void;
  /** One for each choice. */
  readonly readers: readonly AnswerReader[];
  readonly signal: AbortSignal;
  readonly onAnswers: (answers: readonly Answer[]) => void;
}

/** Readers of a request that begins now. */
export function createReaders(count: number): readonly AnswerReader[] {
  const nowMs = performance.now();
  return Array.from({ length: count }, (_, index) => new AnswerReader(nowMs, { index, count }));
}

/** Resolves when the answers have ended, also when they failed or were stopped. */
export async function runAnswers<Chunk>(options: RunOptions<Chunk>): Promise<void> {
  const { open, read, readers, signal, onAnswers } = options;
  let frame = 0;
  const show = () => {
    frame = 0;
    onAnswers(readers.map(reader => reader.snapshot()));
  };
  const end = (phase: 'done' | 'stopped' | 'failed', error?: string) => {
    for (const reader of readers) reader.end(phase, performance.now(), error);
  };
  try {
    for await (const chunk of await open(signal)) {
      for (const reader of readers) read(reader, chunk, performance.now());
      if (signal.aborted) break;
      if (frame === 0) frame = requestAnimationFrame(show);
    }
    end(signal.aborted ? 'stopped' : 'done');
  } catch (error) {
    if (signal.aborted) end('stopped');
    else end('failed', messageOf(error));
  }
  cancelAnimationFrame(frame);
  show();
}
