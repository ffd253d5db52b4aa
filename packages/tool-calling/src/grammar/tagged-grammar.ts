// The grammar of arguments between tags: strings as they are, other values as JSON.

import type { TagNode } from '@ortler/structured-output';
import { isReadTo } from '../find-marks.ts';
import { printValue } from '../merged-schema.ts';
import type { ArgumentsForm, ToolSchema } from '../tool-dialect.ts';
import { readTextValue, typesOf, valuesOf } from '../value-kinds.ts';
import { ANY_NAME, choice, json, optional, regex, repeated, sequence, text, textValue } from './nodes.ts';
import {
  branchesOf,
  checkKeywords,
  lengthOf,
  NOTHING_FITS,
  onlyAbout,
  openSchema,
  otherProperties,
  propertiesOf,
  type SchemaPart,
} from './schema-part.ts';
import { ToolGrammarError } from './tool-grammar-error.ts';

type TaggedForm = Extract<ArgumentsForm, { readonly kind: 'tagged' }>;

/** Throws: `ToolGrammarError`. */
export function taggedGrammar(form: TaggedForm, whole: SchemaPart): TagNode {
  const { open, nameEnd, close } = form;
  const schema = openSchema(whole);
  checkKeywords(whole, schema, ['type', 'properties', 'required', 'additionalProperties']);
  const properties = propertiesOf(whole, schema);
  const others = otherProperties(whole, schema);
  if (others !== null) return otherArguments(form, others);
  return sequence(
    ...properties.map(({ name, isRequired, part }) => {
      if (!isReadTo(nameEnd, name))
        throw new ToolGrammarError(part.place, 'The name of this argument cannot be written by this model');
      const argument = sequence(text(open + name + nameEnd), valueGrammar(part, close));
      return isRequired ? argument : optional(argument);
    }),
  );
}

function otherArguments({ open, nameEnd, close }: TaggedForm, part: SchemaPart): TagNode {
  const name = regex(ANY_NAME, part.place);
  return optional(repeated(sequence(text(open), name, text(nameEnd), valueGrammar(part, close)), ''));
}

/** One of the ways in which a value may be written. */
type ValueForm =
  | { readonly kind: 'values'; readonly values: readonly unknown[] }
  | { readonly kind: 'text'; readonly length: ReturnType<typeof lengthOf> }
  | { readonly kind: 'json'; readonly part: SchemaPart; readonly schema: ToolSchema };

/** Parts of one value: those that double with every reference would take forever. */
const PART_LIMIT = 256;

/** A value, and the mark behind it. */
function valueGrammar(part: SchemaPart, close: string): TagNode {
  const types = typesOf(part.schema, part.root);
  if (types.size === 0) throw new ToolGrammarError(part.place, NOTHING_FITS);
  if (!types.has('string')) return sequence(json(part), text(close));
  const forms = formsOf(part, { partsLeft: PART_LIMIT });
  if (forms.some(({ kind }) => kind === 'text')) checkBesideText(part, forms);
  // Any text may be written, that of other values among them.
  if (forms.some(form => form.kind === 'text' && form.length === undefined))
    return sequence(textValue(part.place), text(close));
  const written = forms.flatMap((form): readonly TagNode[] => {
    if (form.kind === 'text') return [sequence(textValue(part.place, form.length), text(close))];
    if (form.kind === 'json') return [sequence(json(form.part), text(close))];
    // A text that would be read as another value cannot be written.
    const texts = form.values
      .map(value => [typeof value === 'string' ? value : printValue(value), printValue(value)] as const)
      .filter(([given, read]) => readTextValue(given, types) === read)
      .filter(([given]) => isReadTo(close, given));
    return texts.length === 0 ? [] : [sequence(choice(texts.map(([given]) => text(given))), text(close))];
  });
  if (written.length === 0) throw new ToolGrammarError(part.place, NOTHING_FITS);
  return choice(written);
}

/** Mutates: `budget`. Throws: `ToolGrammarError`. */
function formsOf(part: SchemaPart, budget: { partsLeft: number }): readonly ValueForm[] {
  if (budget.partsLeft-- === 0)
    throw new ToolGrammarError(part.place, 'The schema has too many parts to be written');
  const schema = openSchema(part);
  const types = typesOf(part.schema, part.root);
  const values = valuesOf(schema, types);
  if (values !== null) {
    checkKeywords(part, schema, ['type', 'const', 'enum']);
    return [{ kind: 'values', values }];
  }
  const branches = branchesOf(part, schema);
  if (branches !== null) return branches.flatMap(branch => formsOf(branch, budget));
  return [...types].map((type): ValueForm => {
    const about: ToolSchema = { ...onlyAbout(type, schema), type };
    if (type !== 'string') return { kind: 'json', part: { ...part, schema: about }, schema: about };
    checkKeywords(part, about, ['type', 'minLength', 'maxLength']);
    return { kind: 'text', length: lengthOf(about) };
  });
}

/** Text may be that of any value of another type, so of these the types alone are enforced. Throws: `ToolGrammarError`. */
function checkBesideText(part: SchemaPart, forms: readonly ValueForm[]): void {
  if (!part.isStrict) return;
  for (const form of forms) {
    if (form.kind === 'json') checkKeywords(form.part, form.schema, ['type']);
    const isLimited =
      form.kind === 'values' && form.values.some(value => typeof value !== 'string' && value !== null);
    if (isLimited) checkKeywords(part, { enum: [] }, []);
  }
}
