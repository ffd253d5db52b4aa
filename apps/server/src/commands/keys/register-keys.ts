// The `ortler keys` commands: arguments and help. keys.ts runs them.

import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { onClosedPipe, processTerminal } from '../terminal.ts';

export interface KeyCommandParts {
  /** Adds the settings of the database. */
  addSettings(command: Command): Command;
  configFrom(flags: Readonly<Record<string, unknown>>): Config;
}

type Flags = Readonly<Record<string, string | undefined>>;

const EXAMPLES = `
Examples:
  ortler keys create --team acme --name trainer
  ortler keys list
`;

/** Adds the commands to the program. */
export function registerKeyCommands(program: Command, { addSettings, configFrom }: KeyCommandParts): void {
  const keys = program
    .command('keys')
    .description('Create, list and remove API keys.')
    .addHelpText('after', EXAMPLES);

  addSettings(
    keys
      .command('create')
      .description('Create an API key and write it to standard output. It cannot be shown again.')
      .option('--name <text>', 'a note for `ortler keys list`, such as who uses the key', '')
      .option('--team <name>', 'limits the key to the data of this team; default: the data of all teams'),
  ).action(async (flags: Flags) => {
    onClosedPipe(() => process.exit());
    const { createKey } = await import('./keys.ts');
    await createKey(configFrom(flags), { name: flags.name ?? '', team: flags.team ?? null }, processTerminal);
  });

  addSettings(
    keys.command('list').description('List ids, teams and names of all keys, without the keys themselves.'),
  ).action(async (flags: Flags) => {
    onClosedPipe(() => process.exit());
    const { showKeys } = await import('./keys.ts');
    await showKeys(configFrom(flags), processTerminal);
  });

  addSettings(
    keys
      .command('remove')
      .description('Revoke a key. Running servers reject it within ten seconds.')
      .argument('<id>', 'id of the key, as `ortler keys list` shows it'),
  ).action(async (id: string, flags: Flags) => {
    onClosedPipe(() => process.exit());
    const { deleteKey } = await import('./keys.ts');
    await deleteKey(configFrom(flags), id, processTerminal);
  });
}
