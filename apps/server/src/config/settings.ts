// The table of all settings, joined from its groups. Parsing, `--help` and the table of the README are made from it, in
// this order.

import { CONSTRAINT_SETTINGS } from './settings/constraint-settings.ts';
import { DATA_SETTINGS } from './settings/data-settings.ts';
import { GENERATION_SETTINGS } from './settings/generation-settings.ts';
import { HUB_SETTINGS } from './settings/hub-settings.ts';
import { KV_EVENT_SETTINGS } from './settings/kv-event-settings.ts';
import { LIMIT_SETTINGS } from './settings/limit-settings.ts';
import { MODEL_SETTINGS } from './settings/model-settings.ts';
import { SERVER_SETTINGS } from './settings/server-settings.ts';
import type { Setting } from './settings/setting.ts';
import { TOOL_SETTINGS } from './settings/tool-settings.ts';
import { UPSTREAM_SETTINGS } from './settings/upstream-settings.ts';

export const SETTINGS = {
  ...SERVER_SETTINGS,
  ...LIMIT_SETTINGS,
  ...DATA_SETTINGS,
  ...MODEL_SETTINGS,
  ...HUB_SETTINGS,
  ...UPSTREAM_SETTINGS,
  ...KV_EVENT_SETTINGS,
  ...GENERATION_SETTINGS,
  ...CONSTRAINT_SETTINGS,
  ...TOOL_SETTINGS,
} as const;

/** The default of a setting as `--help` and the README show it. */
export function shownDefault({ fallback, shownFallback }: Setting<unknown>): string {
  return shownFallback ?? fallback ?? 'none';
}

/** All settings as a Markdown table: the one in apps/server/README.md, which a test compares. */
export function describeSettings(): string {
  const rows = (Object.values(SETTINGS) as Setting<unknown>[]).map(
    setting =>
      `| \`${setting.variable}\` | \`${setting.flag}\` | ${shownDefault(setting)} | ${setting.description} |`,
  );
  return ['| Variable | Flag | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}
