import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSettings, SETTINGS } from './settings.ts';

/** Cells of all table rows, without their padding. */
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

  it('that documents name exist', () => {
    const docs = readdirSync(join(root, 'docs')).filter(name => name.endsWith('.md'));
    const pages = ['README.md', 'apps/server/README.md', ...docs.map(name => `docs/${name}`)];
    const text = pages.map(page => readFileSync(join(root, page), 'utf8')).join('\n');
    const named = [...text.matchAll(/\bORTLER_\w*[A-Z]\b/g)].map(([variable]) => variable);
    const settings: readonly string[] = Object.values(SETTINGS).map(({ variable }) => variable);
    expect(named).toContain('ORTLER_DEVICE');
    expect(named.filter(variable => !settings.includes(variable))).toEqual([]);
  });
});
