// `ortler keys create`, `list` and `remove`: their flags. The work is in keys.ts.

import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { onLostReader, processTerminal } from '../terminal.ts';

export interface KeyCommandParts {
  /** Adds the settings of a database. */
  addSettings(command: Command): Command;
  configFrom(flags: Readonly<Record<string, unknown>>): Config;
}

type Flags = Readonly<Record<string, string | undefined>>;

/** Adds the commands to the program. */
export function registerKeyCommands(program: Command, { addSettings, configFrom }: KeyCommandParts): void {
  const keys = program.command('keys').description('Make, list and remove API keys.');

  addSettings(
    keys
      .command('create')
      .description('Make a key and write it to standard output.')
      .option('--name <text>', 'what the key is for', '')
      .option('--team <name>', 'what the key may reach: what this team has; without it, everything'),
  ).action(async (flags: Flags) => {
    onLostReader(() => process.exit());
    const { createKey } = await import('./keys.ts');
    await createKey(configFrom(flags), { name: flags.name ?? '', team: flags.team ?? null }, processTerminal);
  });

  addSettings(keys.command('list').description('Show all keys; their text is stored nowhere.')).action(
    async (flags: Flags) => {
      onLostReader(() => process.exit());
      const { showKeys } = await import('./keys.ts');
      await showKeys(configFrom(flags), processTerminal);
    },
  );

  addSettings(
    keys
      .command('remove')
      .description('Remove a key. Running servers refuse it within ten seconds.')
      .argument('<id>', 'id of the key'),
  ).action(async (id: string, flags: Flags) => {
    onLostReader(() => process.exit());
    const { deleteKey } = await import('./keys.ts');
    await deleteKey(configFrom(flags), id, processTerminal);
  });
}
