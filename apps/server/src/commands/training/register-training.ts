// `ortler trajectories prune` and `ortler checkpoints prune`: their flags. The work is in prune.ts.

import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.ts';
import { onLostReader, processTerminal } from '../terminal.ts';
import type { PruneFlags, PruneSubject } from './prune.ts';

export interface CommandParts {
  /** Adds the settings of a database. */
  addSettings(command: Command): Command;
  configFrom(flags: Readonly<Record<string, unknown>>): Config;
}

/** Adds both commands. */
export function registerTrainingCommands(program: Command, parts: CommandParts): void {
  register('trajectories', 'reward', 'Logged trajectories of a model; each split is pruned by itself.');
  register(
    'checkpoints',
    'val/reward',
    'Checkpoints of a model. The newest always stays, and weights stay on disk.',
  );

  function register(subject: PruneSubject, metric: string, description: string): void {
    const command = program
      .command(subject)
      .description(description)
      .command('prune')
      .description('Delete all but the newest and the best.')
      .requiredOption('--model <id or name>', 'the model')
      .option('--keep-newest <number>', 'how many of the newest stay', toCount, 0)
      .option('--keep-best <number>', 'how many of the best stay besides', toCount, 0)
      .option('--metric <name>', 'what makes the best; larger is better', metric)
      .option('--dry-run', 'only count', false);
    if (subject === 'trajectories') command.option('--split <name>', 'only this split');
    parts.addSettings(command).action(async (flags: PruneFlags) => {
      onLostReader(() => process.exit());
      const config = parts.configFrom(flags);
      const { prune } = await import('./prune.ts');
      await prune(subject, flags, config, processTerminal);
    });
  }
}

function toCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
