// `ortler pull`: downloads a model into the cache.

import { existsSync } from 'node:fs';
import { formatModelReference, HubError, parseModelReference } from '@ortler/hub';
import type { Config } from '../../config/config.ts';
import { createBuildBars } from '../build-bars.ts';
import { fetchSource } from '../fetch-source.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';

/** Writes the path of the model. Throws: `UserError`. */
export async function pull(text: string, config: Config, terminal: Terminal): Promise<void> {
  if (existsSync(text)) throw new UserError(`${text} is here already: it is a path, not a name to download.`);
  const path = await fetchSource(readName(text), config, { terminal, bars: createBuildBars(terminal) });
  terminal.out(`${path}\n`);
}

function readName(text: string): string {
  try {
    return formatModelReference(parseModelReference(text));
  } catch (error) {
    if (error instanceof HubError) throw new UserError(error.message, { cause: error });
    throw error;
  }
}
