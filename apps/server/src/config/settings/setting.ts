// What every setting says of itself: names, default, meaning and check. Callers: the tables beside this file.

import type { z } from 'zod';

/** One setting. The schema reads text, because both flags and variables are text. */
export interface Setting<Value> {
  readonly variable: `ORTLER_${string}` | 'DATABASE_URL' | 'CLICKHOUSE_URL';
  readonly flag: `--${string}`;
  /** Placeholder of the flag's value in `--help`. */
  readonly valueName: string;
  /** Text used when neither flag nor variable is given; undefined when the setting is then absent. */
  readonly fallback: string | undefined;
  /** How `--help` shows the default where the text itself would not help. */
  readonly shownFallback?: string;
  readonly description: string;
  /** Whether the value must not be repeated in messages. */
  readonly isSecret?: boolean;
  readonly schema: z.ZodType<Value, string>;
}

/** Keeps the type of the value that the schema gives. */
export function setting<Value>(fields: Setting<Value>): Setting<Value> {
  return fields;
}
