// Measures how much of real JSON Schema is served, over a folder of one of two public repositories:
//
//   node --conditions=source packages/structured-output/test/measure-schemas.ts maskbench <jsonschemabench>/maskbench/data 20
//   node --conditions=source packages/structured-output/test/measure-schemas.ts suite <JSON-Schema-Test-Suite>/tests/draft2020-12
//
// The number after the folder takes every so-manieth file. Prints the totals beside those of ratchet.json, which may only improve;
// `--write` as last argument stores them. Their files are not part of this repository.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonValue, parseJson, printJson } from '@ortler/json';
import { checkFinishedText } from '../src/check-finished-text.ts';
import type { PreparedConstraint } from '../src/constraint.ts';
import { ConstraintError } from '../src/errors.ts';
import { allows, prepare } from './feed-text.ts';

interface SchemaFile {
  readonly schema: JsonValue;
  readonly tests: readonly { readonly valid: boolean; readonly data: JsonValue }[];
}

/** Schemas by what came of them; `acceptsInvalid` must be 0. */
interface Totals {
  right: number;
  refused: number;
  acceptsInvalid: number;
  rejectsValid: number;
  /** Of the right ones: some keyword is checked only when the text is finished. */
  checkedAtEnd: number;
}

const RATCHET = new URL('./ratchet.json', import.meta.url);

function readFiles(
  kind: string,
  folder: string,
  step: number,
): readonly { name: string; file: SchemaFile }[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.json') && name !== 'refRemote.json')
    .filter((_, i) => i % step === 0)
    .flatMap(name => {
      const content = parseJson(readFileSync(join(folder, name), 'utf8'));
      const files = (kind === 'suite' ? content : [content]) as unknown as readonly SchemaFile[];
      return files.map((file, i) => ({ name: `${name}#${i}`, file }));
    });
}

function passes(prepared: PreparedConstraint, text: string): boolean {
  if (!allows(prepared, text)) return false;
  try {
    if (prepared.check !== null) checkFinishedText(prepared.check, text);
    return true;
  } catch (error) {
    if (error instanceof ConstraintError) return false;
    throw error;
  }
}

function judge({ schema, tests }: SchemaFile): {
  readonly outcome: keyof Totals;
  readonly note: string;
  readonly isChecked: boolean;
} {
  let prepared: PreparedConstraint;
  try {
    prepared = prepare({ jsonSchema: schema });
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    return { outcome: 'refused', note: error.message, isChecked: false };
  }
  const isChecked = prepared.check !== null;
  const wrong = tests.find(({ valid, data }) => !valid && passes(prepared, printJson(data)));
  if (wrong !== undefined) return { outcome: 'acceptsInvalid', note: printJson(wrong.data), isChecked };
  const lost = tests.find(({ valid, data }) => valid && !passes(prepared, printJson(data)));
  if (lost !== undefined) return { outcome: 'rejectsValid', note: printJson(lost.data), isChecked };
  return { outcome: 'right', note: '', isChecked };
}

const [kind = '', folder = '', ...rest] = process.argv.slice(2);
const step = Number(rest.find(word => /^\d+$/.test(word)) ?? 1);
const totals: Totals = {
  right: 0,
  refused: 0,
  acceptsInvalid: 0,
  rejectsValid: 0,
  checkedAtEnd: 0,
};
for (const { name, file } of readFiles(kind, folder, step)) {
  const { outcome, note, isChecked } = judge(file);
  totals[outcome]++;
  if (outcome === 'right' && isChecked) totals.checkedAtEnd++;
  if (outcome !== 'right') console.log(`${outcome} ${name}: ${note.slice(0, 200).replaceAll('\n', ' ')}`);
}
const ratchet = JSON.parse(readFileSync(RATCHET, 'utf8')) as Record<
  string,
  { source: string; totals: Totals }
>;
const before = ratchet[kind]?.totals;
console.log('before', before, '\nnow', totals);
const isWorse = before !== undefined && (totals.right < before.right || totals.refused > before.refused);
if (totals.acceptsInvalid > 0 || isWorse) {
  console.error('Worse than ratchet.json, which may only improve.');
  process.exitCode = 1;
} else if (rest.includes('--write')) {
  ratchet[kind] = { source: ratchet[kind]?.source ?? '', totals };
  writeFileSync(RATCHET, `${JSON.stringify(ratchet, null, 2)}\n`);
}
