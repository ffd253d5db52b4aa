// Validates JSON configuration files and reports faults with file and key: config.json of checkpoints, adapter_config.json of
// adapters.

import type { z } from 'zod';
import { ModelBuildError } from '../errors.ts';

/** Makes the error of a key. */
export type ConfigFault = (
  code: 'config_invalid' | 'unsupported',
  key: string,
  message: string,
) => ModelBuildError;

/** The faults of a file, or of the object in it that `prefix` leads to: `text_config.`. */
export function configFaults(path: string, prefix = ''): ConfigFault {
  return (code, key, message) => configFault(code, path, `${prefix}${key}`, message);
}

/** The validated content; `path` and `prefix` are for messages. Throws: `config_invalid` for the first fault. */
export function parseConfigFile<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
  json: unknown,
  prefix = '',
): z.output<Schema> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw configFault('config_invalid', path, `${prefix}${issue.path.join('.')}`, issue.message);
}

export function configFault(
  code: 'config_invalid' | 'unsupported',
  path: string,
  key: string,
  message: string,
): ModelBuildError {
  return new ModelBuildError(code, `${path}, key ${key}: ${message}`, { file: path, key });
}
