// The `ortler feedback` commands: their arguments, and which function runs them.

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Config } from '../../config/config.ts';
import { onLostReader, processTerminal } from '../terminal.ts';

export interface FeedbackCommandTools {
  readonly addSettings: (command: Command) => Command;
  readonly configFrom: (flags: Readonly<Record<string, unknown>>) => Config;
}

/** Adds the commands to the program. */
export function registerFeedbackCommands(
  program: Command,
  { addSettings, configFrom }: FeedbackCommandTools,
): void {
  const feedback = program
    .command('feedback')
    .description('Move stored feedback in and out, and index what is asked often.');

  addSettings(
    feedback
      .command('export')
      .description('Write all feedback of a project as JSON lines.')
      .argument('<project>', 'the project, <entity>/<project>')
      .argument('<file>', 'the file to make')
      .option('--resume', 'go on with a file that an earlier export left behind'),
  ).action(async (projectId: string, file: string, flags: Flags) => {
    onLostReader(() => process.exit());
    const { exportFeedback } = await import('./export-feedback.ts');
    const options = { projectId, file, resume: flags.resume === true };
    await exportFeedback(configFrom(flags), options, processTerminal);
  });

  addSettings(
    feedback
      .command('import')
      .description('Store JSON lines, such as an export wrote. Running it again stores nothing twice.')
      .argument('<file>', 'the file to read')
      .option('--project <project>', 'store all rows in this project instead of their own')
      .option('--from-line <number>', 'first line to store', toLineNumber, 1),
  ).action(async (file: string, flags: Flags & { project?: string; fromLine: number }) => {
    onLostReader(() => process.exit());
    const { importFeedback } = await import('./import-feedback.ts');
    const options = {
      file,
      projectId: flags.project,
      fromLine: flags.fromLine,
      userId: 'import',
      now: Date.now,
    };
    await importFeedback(configFrom(flags), options, processTerminal);
  });

  addSettings(
    feedback
      .command('index')
      .description(
        'Make an index on a payload path, such as payload.output.score, so that filters on it are quick.',
      )
      .argument('<path>', 'the path, as in $getField')
      .addOption(
        new Option('--as <type>', 'type of the literals that filters compare it with')
          .choices(['text', 'number'])
          .default('text'),
      )
      .option('--drop', 'remove the index instead'),
  ).action(async (path: string, flags: Flags & { as: 'text' | 'number' }) => {
    onLostReader(() => process.exit());
    const { indexFeedback } = await import('./index-feedback.ts');
    await indexFeedback(
      configFrom(flags),
      { path, reading: flags.as, drop: flags.drop === true },
      processTerminal,
    );
  });
}

type Flags = Readonly<Record<string, unknown>>;

function toLineNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
