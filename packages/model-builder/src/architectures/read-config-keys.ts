// Validates the keys of config.json. Published files also have keys that their model type does not read, with values that stand for
// nothing there: a size of 0, false or null. So an invalid value is a fault where an architecture reads it.

import { configFault } from '../hugging-face/config-file.ts';
import { type ConfigKeys, configKeys } from './config-keys.ts';

/**
 * `path` and `prefix` are for messages. Throws: `config_invalid` for keys that every architecture has, and for the others later, when
 * the key of the result is read.
 */
export function readConfigKeys(
  path: string,
  json: Readonly<Record<string, unknown>>,
  prefix: string,
): ConfigKeys {
  const whole = configKeys.safeParse(json);
  if (whole.success) return whole.data;
  const faults = new Map<string, Error>();
  for (const issue of whole.error.issues) {
    const key = String(issue.path[0]);
    if (faults.has(key)) continue;
    const message = json[key] === undefined ? 'is missing' : issue.message;
    faults.set(key, configFault('config_invalid', path, `${prefix}${issue.path.join('.')}`, message));
  }
  const rest = Object.fromEntries(Object.entries(json).filter(([key]) => !faults.has(key)));
  const parsed = configKeys.safeParse(rest);
  if (!parsed.success) throw faults.get(String(parsed.error.issues[0]!.path[0]))!;
  for (const [key, fault] of faults)
    Object.defineProperty(parsed.data, key, {
      get() {
        throw fault;
      },
    });
  return parsed.data;
}
