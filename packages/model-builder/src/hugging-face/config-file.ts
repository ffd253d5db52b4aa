// Validates JSON configuration files and reports faults with file and key: config.json of checkpoints, adapter_config.json of
// adapters.

import type { z } from 'zod';
import { ModelBuildError } from '../errors.ts';

/** The validated content; `path` is for messages. Throws: `config_invalid` for the first fault. */
export function parseConfigFile<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
  json: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw configFault('config_invalid', path, issue.path.join('.'), issue.message);
}

export function configFault(
  code: 'config_invalid' | 'unsupported',
  path: string,
  key: string,
  message: string,
): ModelBuildError {
  return new ModelBuildError(code, `${path}, key ${key}: ${message}`, { file: path, key });
}
