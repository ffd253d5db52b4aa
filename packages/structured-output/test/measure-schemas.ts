// Measures how much of real JSON Schema is served, over a folder of one of two public repositories:
//
//   node --conditions=@ortler/source packages/structured-output/test/measure-schemas.ts maskbench <jsonschemabench>/maskbench/data 20
//   node --conditions=@ortler/source packages/structured-output/test/measure-schemas.ts suite <JSON-Schema-Test-Suite>/tests/draft2020-12
//
// The number after the folder takes every so-manieth file. Each instance is fed in the layouts of JSON.stringify without and with
// an indent, and all of them must be allowed, or none. `--whitespace any` measures another style than the default one. Prints
// the totals beside those of ratchet.json, which may only improve; `--write` as last argument stores them. Their files are not
// part of this repository.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonValue, parseJson, printJson } from '@ortler/json';
import type { PreparedConstraint } from '../src/constraint.ts';
import { JSON_WHITESPACE, type JsonStyle } from '../src/constraint-spec.ts';
import { ConstraintError } from '../src/errors.ts';
import { checkFinishedText } from '../src/json-schema/check-finished-text.ts';
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

/** The spellings of an instance. A number past 2^53 has only the compact one here. */
function spellingsOf(data: JsonValue): readonly string[] {
  const compact = printJson(data);
  const value: unknown = JSON.parse(compact);
  return JSON.stringify(value) === compact ? [compact, JSON.stringify(value, null, 2)] : [compact];
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
    prepared = prepare({ jsonSchema: schema, style });
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    return { outcome: 'refused', note: error.message, isChecked: false };
  }
  const isChecked = prepared.check !== null;
  const isAllowed = (text: string) => passes(prepared, text);
  const wrong = tests.find(({ valid, data }) => !valid && spellingsOf(data).some(isAllowed));
  if (wrong !== undefined) return { outcome: 'acceptsInvalid', note: printJson(wrong.data), isChecked };
  const lost = tests.find(({ valid, data }) => valid && !spellingsOf(data).every(isAllowed));
  if (lost !== undefined) return { outcome: 'rejectsValid', note: printJson(lost.data), isChecked };
  return { outcome: 'right', note: '', isChecked };
}

const [kind = '', folder = '', ...rest] = process.argv.slice(2);
const whitespace = JSON_WHITESPACE.find(name => name === rest[rest.indexOf('--whitespace') + 1]);
const style: JsonStyle = whitespace === undefined ? {} : { whitespace };
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
