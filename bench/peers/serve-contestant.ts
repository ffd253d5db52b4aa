// The part of a contestant's process that is the same for all: messages in, measurements out.

import { processorMs, residentBytes } from '../process-usage.ts';
import type {
  ContestantOptions,
  FromContestant,
  LoadedContestant,
  Timing,
  ToContestant,
  Work,
} from './contestant.ts';

/** Answers the parent's messages with the contestant that `start` loads. */
export function serveContestant(start: (options: ContestantOptions) => Promise<LoadedContestant>): void {
  const reply = (message: FromContestant): void => void process.send!(message);
  let contestant: LoadedContestant | undefined;
  process.on('message', async (message: ToContestant) => {
    try {
      switch (message.kind) {
        case 'start':
          contestant = await start(message.options);
          reply({ kind: 'started', version: contestant.version });
          break;
        case 'work':
          reply({ kind: 'timing', timing: await measure(contestant!, message.work) });
          break;
        case 'usage': {
          const pids = contestant?.pids ?? [process.pid];
          const processes = pids.map(pid => ({
            residentBytes: residentBytes(pid),
            processorMs: processorMs(pid),
          }));
          reply({ kind: 'usage', processes });
        }
      }
    } catch (error) {
      reply({
        kind: 'failed',
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
  });
  // Whoever started this process is gone.
  process.on('disconnect', () => process.exit());
}

async function measure(contestant: LoadedContestant, work: Work): Promise<Timing> {
  const { prompts, outputLength, starts = [] } = work;
  const start = performance.now();
  const startedMs = prompts.map(() => 0);
  const stamps = prompts.map((): number[] => []);
  const tokenIds = prompts.map((): number[] => []);
  const waiting: { readonly at: number; readonly wake: () => void }[] = [];
  const run = async (prompt: readonly number[], index: number): Promise<void> => {
    const at = starts[index] ?? 0;
    if (at > 0) await new Promise<void>(wake => waiting.push({ at, wake }));
    startedMs[index] = performance.now() - start;
    for await (const token of contestant.generate(prompt, outputLength, index)) {
      stamps[index]!.push(performance.now() - start);
      tokenIds[index]!.push(token);
      if (index === 0) for (const { at, wake } of waiting) if (stamps[0]!.length === at) wake();
    }
  };
  if (contestant.isBatching ?? true) await Promise.all(prompts.map(run));
  else for (const [index, prompt] of prompts.entries()) await run(prompt, index);
  return { startedMs, stamps, tokenIds };
}
