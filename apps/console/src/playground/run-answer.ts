// Runs one request and shows its answer as it comes, at most once for each frame.

import { messageOf } from '../connection/api-client.ts';
import type { Answer, AnswerReader } from './answer-reader.ts';

interface RunOptions<Chunk> {
  /** Sends the request; the chunks come once the server has begun. */
  readonly open: (signal: AbortSignal) => Promise<AsyncIterable<Chunk>>;
  readonly read: (chunk: Chunk, nowMs: number) => void;
  readonly reader: AnswerReader;
  readonly signal: AbortSignal;
  readonly onAnswer: (answer: Answer) => void;
}

/** Resolves with the ended answer, also when it failed or was stopped. */
export async function runAnswer<Chunk>({
  open,
  read,
  reader,
  signal,
  onAnswer,
}: RunOptions<Chunk>): Promise<Answer> {
  let frame = 0;
  const show = () => {
    frame = 0;
    onAnswer(reader.snapshot());
  };
  try {
    for await (const chunk of await open(signal)) {
      read(chunk, performance.now());
      if (signal.aborted) break;
      if (frame === 0) frame = requestAnimationFrame(show);
    }
    reader.end(signal.aborted ? 'stopped' : 'done', performance.now());
  } catch (error) {
    if (signal.aborted) reader.end('stopped', performance.now());
    else reader.end('failed', performance.now(), messageOf(error));
  }
  cancelAnimationFrame(frame);
  const answer = reader.snapshot();
  onAnswer(answer);
  return answer;
}
