import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSettings } from './describe-settings.ts';
import { SETTINGS } from './settings.ts';

/** Cells of all table rows; how wide a column is drawn does not matter. */
function readRows(markdown: string): string[] {
  return markdown
    .split('\n')
    .filter(line => line.startsWith('|'))
    .map(line =>
      line
        .split('|')
        .map(cell => cell.trim().replace(/^-+$/, '---'))
        .join('|'),
    );
}

const root = join(import.meta.dirname, '../../../..');

describe('settings', () => {
  it('stand as a table in apps/server/README.md', () => {
    const readme = readFileSync(join(root, 'apps/server/README.md'), 'utf8');
    expect(readRows(readme).join('\n')).toContain(readRows(describeSettings()).join('\n'));
  });

  it('that README.md names exist, with the flags that it says', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const named = [...readme.matchAll(/^\| `([A-Z_]+)` +\| `(--[a-z-]+)`/gm)].map(([, variable, flag]) => [
      variable,
      flag,
    ]);
    const settings = Object.values(SETTINGS).map(({ variable, flag }) => [variable, flag]);
    expect(named.length).toBeGreaterThan(3);
    for (const pair of named) expect(settings).toContainEqual(pair);
  });
});
