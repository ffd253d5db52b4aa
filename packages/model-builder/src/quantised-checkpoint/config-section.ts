// Checks of the section `quantization_config` of config.json, whose faults name the key inside the section.

import type { z } from 'zod';
import type { ModelBuildError } from '../errors.ts';
import { configFault } from '../hugging-face/config-file.ts';

export const KEY = 'quantization_config';

/** What is read, for messages. */
const READ =
  'gptq, awq, compressed-tensors (pack-quantized, int-quantized, naive-quantized, float-quantized) and fp8';

/** `keys`: where `section` is inside the section. Throws: `config_invalid`. */
export function parseSection<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
  section: unknown,
  keys: readonly string[] = [],
): z.output<Schema> {
  const parsed = schema.safeParse(section);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw configFault('config_invalid', path, [KEY, ...keys, ...issue.path].join('.'), issue.message);
}

/** An error that says what reading `value` would need, where `needs` has it. */
export function unsupportedValue(
  path: string,
  key: string,
  value: string,
  needs: Readonly<Record<string, string>>,
): ModelBuildError {
  const need = Object.hasOwn(needs, value) ? `, which would need ${needs[value]}` : '';
  return configFault(
    'unsupported',
    path,
    `${KEY}.${key}`,
    `is ${JSON.stringify(value)}${need}; supported: ${READ}`,
  );
}
