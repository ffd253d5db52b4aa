// The type of one setting: names, default, description and validation. Callers: the tables beside this file.

import type { z } from 'zod';

/** One setting. The schema reads text, because both flags and variables are text. */
export interface Setting<Value> {
  readonly variable:
    | `ORTLER_${string}`
    | `HF_${string}`
    | `OTEL_${string}`
    | 'DATABASE_URL'
    | 'CLICKHOUSE_URL';
  readonly flag: `--${string}`;
  /** Placeholder of the flag's value in `--help`. */
  readonly valueName: string;
  /** Text used when neither flag nor variable is given; undefined leaves the setting undefined. */
  readonly fallback: string | undefined;
  /** How `--help` and the README show the default, where the text itself says too little. */
  readonly shownFallback?: string;
  readonly description: string;
  /** Whether the flag has no value; the schema reads "on". */
  readonly isSwitch?: boolean;
  /** Whether the value must not be repeated in messages. */
  readonly isSecret?: boolean;
  readonly schema: z.ZodType<Value, string>;
}

/** Infers the type of the value from the schema. */
export function setting<Value>(fields: Setting<Value>): Setting<Value> {
  return fields;
}
