// The `ortler keys` commands: arguments and help. keys.ts runs them.

import type { Command } from 'commander';
import { addSettings, configFrom, DATABASE_SETTINGS } from '../command-settings.ts';
import { endWithOutput, processTerminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';

type Flags = Readonly<Record<string, string | undefined>>;

const EXAMPLES = `
Examples:
  ortler keys create --team acme --name trainer
  ortler keys create --team acme --requests-per-minute 60 --tokens-per-minute 100000 --concurrency 8
  ortler keys list
`;

/** Adds the commands to the program. */
export function registerKeyCommands(program: Command): void {
  const keys = program
    .command('keys')
    .description('Create, list and remove API keys.')
    .addHelpText('after', EXAMPLES);

  addSettings(
    keys
      .command('create')
      .description('Create an API key and write it to standard output. It cannot be shown again.')
      .option('--name <text>', 'a note for `ortler keys list`, such as who uses the key', '')
      .option('--team <name>', 'limits the key to the data of this team; default: the data of all teams')
      .option('--requests-per-minute <number>', 'rate limit of the key; 0: none; default: the setting')
      .option('--tokens-per-minute <number>', 'rate limit of the key; 0: none; default: the setting')
      .option(
        '--concurrency <number>',
        'maximum number of open requests of the key; 0: no limit; default: the setting',
      ),
    DATABASE_SETTINGS,
  ).action(async (flags: Flags) => {
    endWithOutput();
    const { createKey } = await import('./keys.ts');
    const { requestsPerMinute, tokensPerMinute, concurrency, name = '', team = null, ...settings } = flags;
    const limits = {
      requestsPerMinute: toLimit('--requests-per-minute', requestsPerMinute),
      tokensPerMinute: toLimit('--tokens-per-minute', tokensPerMinute),
      concurrency: toLimit('--concurrency', concurrency),
    };
    await createKey(configFrom({ ...settings, name, team }), { name, team, limits }, processTerminal);
  });

  addSettings(
    keys.command('list').description('List ids, teams and names of all keys, without the keys themselves.'),
    DATABASE_SETTINGS,
  ).action(async (flags: Flags) => {
    endWithOutput();
    const { showKeys } = await import('./keys.ts');
    await showKeys(configFrom(flags), processTerminal);
  });

  addSettings(
    keys
      .command('remove')
      .description('Revoke a key. Running servers reject it within a second.')
      .argument('<id>', 'id of the key, as `ortler keys list` shows it'),
    DATABASE_SETTINGS,
  ).action(async (id: string, flags: Flags) => {
    endWithOutput();
    const { deleteKey } = await import('./keys.ts');
    await deleteKey(configFrom(flags), id, processTerminal);
  });
}

/** Throws: `UserError`. */
function toLimit(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = Number(text);
  if (text.trim() === '' || !Number.isInteger(limit) || limit < 0 || limit > 1_000_000_000)
    throw new UserError(`${flag} must be a whole number from 0 to 1000000000; got "${text}".`);
  return limit;
}
