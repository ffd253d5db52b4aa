// The settings table as text, for the README and for tests that keep the README true.

import type { Setting } from './settings/setting.ts';
import { SETTINGS } from './settings.ts';

/** How a default is shown to people. */
export function shownDefault({ fallback, shownFallback }: Setting<unknown>): string {
  return shownFallback ?? fallback ?? 'none';
}

/** All settings as a Markdown table. */
export function describeSettings(): string {
  const rows = (Object.values(SETTINGS) as Setting<unknown>[]).map(
    setting =>
      `| \`${setting.variable}\` | \`${setting.flag}\` | ${shownDefault(setting)} | ${setting.description} |`,
  );
  return ['| Variable | Flag | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}
