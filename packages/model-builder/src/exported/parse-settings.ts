// Validates a settings file of an export. Callers: the readers of the layouts.

import type { z } from 'zod';
import { ModelBuildError } from '../errors.ts';

/** Throws: `config_invalid` with the key of the first fault. */
export function parseSettings<Schema extends z.ZodType>(
  schema: Schema,
  file: string,
  value: unknown,
): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const key = issue.path.join('.');
  throw new ModelBuildError('config_invalid', `${file}, key ${key}: ${issue.message}`, { file, key });
}
