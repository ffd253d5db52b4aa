// The same weights through llama.cpp: `llama-bench` of a build for CUDA or Vulkan, on a GGUF file in Q4_0, which has 4 bits in symmetric
// blocks of 32 as our q4. Decode is one stream, which is all that it measures.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { writeGguf } from '../peers/write-gguf.ts';
import type { SpeedRow } from './speed-table.ts';

/** An entry of the output of `llama-bench -o json`, as far as it is read. */
interface LlamaBenchEntry {
  readonly build_commit: string;
  readonly backends?: string;
  /** Unit: bytes. */
  readonly model_size: number;
  readonly n_prompt: number;
  readonly n_gen: number;
  /** Unit: tokens per second. */
  readonly avg_ts: number;
}

export interface LlamaBenchOrder {
  readonly program: string;
  readonly sourceDir: string;
  /** Written if it is not there. */
  readonly file: string;
  readonly tokenCount: number;
  readonly prefillCounts: readonly number[];
}

/** Throws: when the program cannot be run, or says something else than its JSON. */
export async function runLlamaBench(order: LlamaBenchOrder): Promise<SpeedRow> {
  const { program, sourceDir, file, tokenCount, prefillCounts } = order;
  await writeGguf(sourceDir, file, 'q4_0');
  const lengths = ['-p', prefillCounts.join(','), '-n', `${tokenCount}`];
  const options = { maxBuffer: 1 << 24 };
  const { stdout } = await promisify(execFile)(
    program,
    ['-m', file, '-ngl', '999', ...lengths, '-o', 'json'],
    options,
  );
  const found = JSON.parse(stdout) as LlamaBenchEntry[];
  const [first] = found;
  if (first === undefined) throw new Error(`${program} measured nothing.`);
  return {
    engine: `llama.cpp ${first.build_commit}${first.backends === undefined ? '' : `, ${first.backends}`}`,
    precision: 'Q4_0',
    weightBytes: first.model_size,
    decode: found
      .filter(entry => entry.n_gen > 0)
      .map(entry => ({ streamCount: 1, tokensPerSecond: entry.avg_ts })),
    prefill: found
      .filter(entry => entry.n_gen === 0)
      .map(entry => ({ tokenCount: entry.n_prompt, tokensPerSecond: entry.avg_ts })),
  };
}
