// The options of an engine as tables of Markdown: names and defaults from the tables of options.ts, descriptions from the
// comments above their entries.

import { readFileSync } from 'node:fs';
import { HOST_OPTIONS, MODEL_OPTIONS, type OptionEntry, TUNING_OPTIONS } from '../src/protocol/options.ts';

type Defaults = Pick<OptionEntry<unknown>, 'cpuDefault' | 'deviceDefault'>;

const SOURCE = readFileSync(new URL('../src/protocol/options.ts', import.meta.url), 'utf8');

/** Plain options first, then those under `tuning`. */
export function describeOptions(): string {
  const plain = describe({ ...HOST_OPTIONS, ...MODEL_OPTIONS });
  return `${plain}\n\nUnder \`tuning\`:\n\n${describe(TUNING_OPTIONS)}\n`;
}

function describe(table: Readonly<Record<string, Defaults>>): string {
  const rows = Object.entries(table).map(([name, { cpuDefault, deviceDefault }]) => {
    const [onCpu, onDevice] = [showValue(cpuDefault), showValue(deviceDefault)];
    const value = onCpu === onDevice ? onCpu : `${onCpu}; on a device ${onDevice}`;
    return `| \`${name}\` | ${value} | ${commentOf(name)} |`;
  });
  return ['| option | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

function showValue(value: unknown): string {
  return value === undefined ? '' : typeof value === 'number' ? value.toLocaleString('en') : `\`${value}\``;
}

/** The comment above an entry, on one line. Throws when there is none. */
function commentOf(name: string): string {
  const found = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*(?://.*\\s*)*${name}: `).exec(SOURCE);
  if (found === null) throw new Error(`options.ts has no comment above ${name}.`);
  return found[1]!.replace(/\s*\n\s*\* ?/g, ' ').trim();
}
