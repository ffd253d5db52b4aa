// `ortler trajectories prune` and `ortler checkpoints prune`: arguments and help. prune.ts runs them.

import type { Command } from 'commander';
import { toCount } from '../argument-values.ts';
import { addSettings, configFrom, DATABASE_SETTINGS } from '../command-settings.ts';
import { endWithOutput, processTerminal } from '../terminal.ts';
import type { PruneFlags, PruneSubject } from './prune.ts';

/** Adds both commands. */
export function registerTrainingCommands(program: Command): void {
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
    addSettings(command, [...DATABASE_SETTINGS, 'queryTimeLimitMs']).action(async (flags: PruneFlags) => {
      endWithOutput();
      const config = configFrom(flags);
      const { prune } = await import('./prune.ts');
      await prune(subject, flags, config, processTerminal);
    });
  }
}
