import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeOptions } from '../../test/describe-options.ts';

/** Cells of all table rows; how wide a column is drawn does not matter. */
function readRows(markdown: string): string {
  const rows = markdown.split('\n').filter(line => line.startsWith('|'));
  const cells = rows.map(row => row.split('|').map(cell => cell.trim().replace(/^-+$/, '---')));
  return cells.map(row => row.join('|')).join('\n');
}

test('every option stands with its default and its comment in README.md', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  expect(readRows(readme)).toContain(readRows(describeOptions()));
});
