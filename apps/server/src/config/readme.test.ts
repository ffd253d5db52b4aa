import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeSettings } from './describe-settings.ts';

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

it.each(['apps/server/README.md', 'README.md'])('stands as a table in %s', path => {
  const readme = readFileSync(join(import.meta.dirname, '../../../..', path), 'utf8');
  expect(readRows(readme).join('\n')).toContain(readRows(describeSettings()).join('\n'));
});
