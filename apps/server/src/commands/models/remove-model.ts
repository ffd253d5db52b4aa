// `ortler models remove`: removes a model from the cache, after a question on a terminal.

import { createInterface } from 'node:readline/promises';
import {
  formatBytes,
  HubError,
  type RemovedModel,
  type RemoveOptions,
  readHubSettings,
  removeCachedModel,
} from '@ortler/hub';
import type { Config } from '../../config/config.ts';
import { toHubOptions } from '../../models/hub-options.ts';
import { ownCommand } from '../../system/own-command.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';

/** Throws: `UserError`, also without a terminal to ask on. */
export async function removeModel(
  name: string,
  { isConfirmed }: { readonly isConfirmed: boolean },
  config: Config,
  terminal: Terminal,
): Promise<void> {
  const { cacheDir } = await readHubSettings(toHubOptions(config));
  const onNotice = (message: string) => terminal.err(`${message}\n`);
  const found = await removeFrom(name, { cacheDir, dryRun: true, onNotice });
  const shown = `${found.name} (${formatBytes(found.bytes)})`;
  if (!isConfirmed && !(await ask(`Remove ${shown} from ${cacheDir}? [y/N] `, name))) {
    terminal.err('Nothing was removed.\n');
    return;
  }
  await removeFrom(name, { cacheDir, onNotice });
  terminal.out(`Removed ${shown}\n`);
}

async function removeFrom(name: string, options: RemoveOptions): Promise<RemovedModel> {
  try {
    return await removeCachedModel(name, options);
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    const hint = error.code === 'not_found' ? ` \`${ownCommand('models list')}\` shows its models.` : '';
    throw new UserError(`${error.message}${hint}`, { cause: error });
  }
}

async function ask(question: string, name: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UserError(
      `There is no terminal to ask on. \`${ownCommand(`models remove ${name} --yes`)}\` removes it without a question.`,
    );
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(question)).trim());
  } finally {
    lines.close();
  }
}
