// Keys of single models of other servers, from variables that are named after the models. Caller: `config.ts`.

import { type ConfiguredModel, isOwnModel } from './model-list.ts';
import { UPSTREAM_KEY_PREFIX } from './settings/upstream-settings.ts';

export interface UpstreamKeys {
  /** By the ids of the models. */
  readonly keys: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/** Empty variables count as absent. No problem repeats a key. */
export function readUpstreamKeys(
  environment: Readonly<Record<string, string | undefined>>,
  models: readonly ConfiguredModel[],
): UpstreamKeys {
  const keys = new Map<string, string>();
  const problems: string[] = [];
  const ids = models.filter(model => !isOwnModel(model)).map(({ id }) => id);
  for (const [variable, key] of Object.entries(environment)) {
    if (!variable.startsWith(UPSTREAM_KEY_PREFIX) || !key) continue;
    const named = ids.filter(id => toKeyVariable(id) === variable);
    if (!/^[\x21-\x7e]+$/.test(key)) problems.push(`${variable} must be printable ASCII without spaces.`);
    else if (named.length === 1) keys.set(named[0]!, key);
    else if (named.length > 1)
      problems.push(
        `${variable} is the variable of several models: ${named.join(', ')}. Rename one of them.`,
      );
    else {
      const known = ids.map(toKeyVariable).join(', ');
      problems.push(
        `${variable} names no model of other servers.${known === '' ? ' --models has none.' : ` Their variables: ${known}.`}`,
      );
    }
  }
  return { keys, problems };
}

function toKeyVariable(id: string): string {
  return `${UPSTREAM_KEY_PREFIX}${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}
