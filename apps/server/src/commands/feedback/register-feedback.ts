// The `ortler feedback` commands: arguments and help.

import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  addSettings,
  configFrom,
  DATABASE_SETTINGS,
  type Flags,
  type SettingName,
} from '../command-settings.ts';
import { endWithOutput, processTerminal } from '../terminal.ts';

const EXAMPLES = `
Examples:
  ortler feedback export acme/app feedback.jsonl
  ortler feedback import feedback.jsonl --project acme/copy
  ortler feedback index payload.output.score --as number
`;

const FEEDBACK_SETTINGS: readonly SettingName[] = [...DATABASE_SETTINGS, 'clickhouseUrl', 'queryTimeLimitMs'];

/** Adds the commands to the program. */
export function registerFeedbackCommands(program: Command): void {
  const feedback = program
    .command('feedback')
    .description('Export, import and index stored feedback.')
    .addHelpText('after', EXAMPLES);

  addSettings(
    feedback
      .command('export')
      .description('Write all feedback of a project as JSON lines.')
      .argument('<project>', 'the project, as <entity>/<project>')
      .argument('<file>', 'the file to write')
      .option('--resume', 'continue the file of an interrupted export'),
    FEEDBACK_SETTINGS,
  ).action(async (projectId: string, file: string, flags: Flags) => {
    endWithOutput();
    const { exportFeedback } = await import('./export-feedback.ts');
    const options = { projectId, file, resume: flags.resume === true };
    await exportFeedback(configFrom(flags), options, processTerminal);
  });

  addSettings(
    feedback
      .command('import')
      .description('Store JSON lines, such as those of an export. Importing a file twice stores it once.')
      .argument('<file>', 'the file to read')
      .option('--project <project>', 'store all rows in this project instead of the one they name')
      .option('--from-line <number>', 'first line to store', toLineNumber, 1),
    FEEDBACK_SETTINGS,
  ).action(async (file: string, flags: Flags & { project?: string; fromLine: number }) => {
    endWithOutput();
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
        'Create a database index on a payload path, such as payload.output.score, to speed up filters on it.',
      )
      .argument('<path>', 'the path, as in $getField')
      .addOption(
        new Option('--as <type>', 'type of the values that filters compare it with')
          .choices(['text', 'number'])
          .default('text'),
      )
      .option('--drop', 'drop the index instead'),
    FEEDBACK_SETTINGS,
  ).action(async (path: string, flags: Flags & { as: 'text' | 'number' }) => {
    endWithOutput();
    const { indexFeedback } = await import('./index-feedback.ts');
    await indexFeedback(
      configFrom(flags),
      { path, reading: flags.as, drop: flags.drop === true },
      processTerminal,
    );
  });
}

function toLineNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
