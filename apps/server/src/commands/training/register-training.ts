// `ortler trajectories prune` and `ortler checkpoints prune`: arguments and help. prune.ts runs them.

import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.ts';
import { onClosedPipe, processTerminal } from '../terminal.ts';
import type { PruneFlags, PruneSubject } from './prune.ts';

export interface CommandParts {
  /** Adds the settings of the database. */
  addSettings(command: Command): Command;
  configFrom(flags: Readonly<Record<string, unknown>>): Config;
}

/** Adds both commands. */
export function registerTrainingCommands(program: Command, parts: CommandParts): void {
  register('trajectories', 'reward', 'Prune the logged trajectories of a model, each split separately.');
  register(
    'checkpoints',
    'val/reward',
    'Prune the checkpoints of a model. The newest is always kept, and weights stay on disk.',
  );

  function register(subject: PruneSubject, metric: string, description: string): void {
    const command = program
      .command(subject)
      .description(description)
      .command('prune')
      .description('Delete all but the newest and the best.')
      .requiredOption('--model <id or name>', 'the model, by id or as <entity>/<project>/<name>')
      .option('--keep-newest <number>', 'how many of the newest are kept', toCount, 0)
      .option('--keep-best <number>', 'how many of the best by --metric are kept in addition', toCount, 0)
      .option('--metric <name>', 'metric that ranks the best; larger is better', metric)
      .option('--dry-run', 'count without deleting', false);
    if (subject === 'trajectories') command.option('--split <name>', 'prune this split only');
    parts.addSettings(command).action(async (flags: PruneFlags) => {
      onClosedPipe(() => process.exit());
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
