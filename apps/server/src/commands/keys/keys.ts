// `ortler keys`: creates, lists and removes API keys in the configured database. It may run beside a server, which accepts
// a new key and rejects a removed one within a second.

import type { Config } from '../../config/config.ts';
import {
  addKey,
  type KeyDescription,
  type KeyLimits,
  listKeys,
  removeKey,
  TEAM_PATTERN,
} from '../../stores/key-registry.ts';
import { ownCommand } from '../../system/own-command.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';
import { requireDatabase, withDatabase } from '../with-database.ts';

/** Longest name of a key. Unit: UTF-16 code units. */
const MAX_NAME_LENGTH = 200;

/** Writes only the new key to standard output, and its description to standard error. Throws: `UserError`. */
export async function createKey(
  config: Config,
  { name, team, limits }: KeyDescription,
  terminal: Terminal,
): Promise<void> {
  if (team !== null && !TEAM_PATTERN.test(team))
    throw new UserError(
      `A team is named by 1 to 64 letters, digits, points, underscores or hyphens and begins with a letter or digit; got "${team}".`,
    );
  if (name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name))
    throw new UserError(`A name has at most ${MAX_NAME_LENGTH} characters and no control characters.`);
  await withDatabase(config, async database => {
    const { id, key } = await addKey(
      database,
      { name, team, ...(limits !== undefined && { limits }) },
      Date.now(),
    );
    const reach = team === null ? 'the data of all teams' : `the data of the team ${team}`;
    terminal.err(
      `Key ${id} has access to ${reach}. It is shown only now; its hash is stored in ${placeOf(config)}.\n`,
    );
    terminal.out(`${key}\n`);
  });
}

/** One line for each key: id, team, time, name. Throws: `UserError` where there is no database. */
export async function showKeys(config: Config, terminal: Terminal): Promise<void> {
  requireDatabase(config);
  await withDatabase(config, async database => {
    const keys = await listKeys(database);
    if (keys.length === 0) terminal.err(`There are no keys in ${placeOf(config)}.\n`);
    for (const { id, team, createdAt, name, limits } of keys)
      terminal.out(
        `${[id, team ?? '(no team)', createdAt, name, describeLimits(limits)].filter(Boolean).join('  ')}\n`,
      );
  });
}

/** Throws: `UserError` for an id that no key has, and where there is no database. */
export async function deleteKey(config: Config, id: string, terminal: Terminal): Promise<void> {
  requireDatabase(config);
  await withDatabase(config, async database => {
    if (!(await removeKey(database, id)))
      throw new UserError(`There is no key ${id}. \`${ownCommand('keys list')}\` shows them.`);
    terminal.err(`Removed key ${id}.\n`);
  });
}

/** `60 requests/min, 10000 tokens/min, 4 at once`; empty without limits of its own. */
function describeLimits({ requestsPerMinute, tokensPerMinute, concurrency }: KeyLimits = {}): string {
  const parts = [
    [requestsPerMinute, 'requests/min'],
    [tokensPerMinute, 'tokens/min'],
    [concurrency, 'at once'],
  ] as const;
  return parts
    .flatMap(([limit, unit]) => (limit === undefined ? [] : [`${limit === 0 ? 'unlimited' : limit} ${unit}`]))
    .join(', ');
}

// Messages name the database, because a server rejects keys that are stored in another one.
function placeOf({ databaseUrl, dataDir }: Config): string {
  return databaseUrl === undefined ? dataDir : 'the database of DATABASE_URL';
}
