// The grammar of arguments between tags: strings as they are, other values as JSON.

import type { TagNode } from '@ortler/structured-output';
import { isReadTo } from '../find-marks.ts';
import { printValue } from '../merged-schema.ts';
import { taggedString } from '../tagged-string.ts';
import type { ArgumentsForm, ToolSchema } from '../tool-dialect.ts';
import { readTextValue, typesOf, type ValueType, valuesOf } from '../value-kinds.ts';
import {
  ANY_NAME,
  choice,
  json,
  optional,
  regex,
  repeated,
  sequence,
  type TextLength,
  text,
  textValue,
} from './nodes.ts';
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
  const { open } = form;
  const schema = openSchema(whole);
  checkKeywords(whole, schema, ['type', 'properties', 'required', 'additionalProperties']);
  const properties = propertiesOf(whole, schema);
  const others = otherProperties(whole, schema);
  if (others !== null) return otherArguments(form, others);
  return sequence(
    ...properties.map(({ name, isRequired, part }) => {
      if (![form.nameEnd, form.jsonNameEnd ?? form.nameEnd].every(end => isReadTo(end, name)))
        throw new ToolGrammarError(part.place, 'The name of this argument cannot be written by this model');
      const argument = sequence(text(open + name), valueGrammar(part, form));
      return isRequired ? argument : optional(argument);
    }),
  );
}

function otherArguments(form: TaggedForm, part: SchemaPart): TagNode {
  const name = regex(ANY_NAME, part.place);
  return optional(repeated(sequence(text(form.open), name, valueGrammar(part, form)), ''));
}

/** One of the ways in which a value may be written. */
type ValueForm =
  | { readonly kind: 'values'; readonly values: readonly unknown[] }
  | { readonly kind: 'text'; readonly length: ReturnType<typeof lengthOf> }
  | { readonly kind: 'json'; readonly part: SchemaPart; readonly schema: ToolSchema };

/** Maximum number of parts of one value: those that double with every reference would take forever. */
const PART_LIMIT = 256;

/** The mark after a name, its value, and the mark after that. */
function valueGrammar(part: SchemaPart, form: TaggedForm): TagNode {
  const { nameEnd, jsonNameEnd, close } = form;
  const types = typesOf(part.schema, part.root);
  if (types.size === 0) throw new ToolGrammarError(part.place, NOTHING_FITS);
  const jsonValue = (of: SchemaPart) => sequence(text(jsonNameEnd ?? nameEnd), json(of), text(close));
  if (!types.has('string')) return jsonValue(part);
  const forms = formsOf(part, { partsLeft: PART_LIMIT });
  if (jsonNameEnd === undefined) {
    if (forms.some(({ kind }) => kind === 'text')) checkBesideText(part, forms);
    // Any text is allowed, including that of other values.
    if (forms.some(each => each.kind === 'text' && each.length === undefined))
      return sequence(text(nameEnd), textGrammar(part.place, form));
  }
  const written = forms.flatMap((each): readonly TagNode[] => {
    if (each.kind === 'json') return [jsonValue(each.part)];
    if (each.kind === 'text') return [sequence(text(nameEnd), textGrammar(part.place, form, each.length))];
    const texts = each.values.map(value => writtenValue(form, value, types)).filter(given => given !== null);
    return texts.length === 0 ? [] : [sequence(choice(texts.map(text)), text(close))];
  });
  if (written.length === 0) throw new ToolGrammarError(part.place, NOTHING_FITS);
  return choice(written);
}

/**
 * A string and the mark after it. Where strings may be wrapped in marks, a string that begins like such a
 * mark is wrapped.
 */
function textGrammar(place: string, { wrap, close }: TaggedForm, length?: TextLength): TagNode {
  if (wrap === undefined) return sequence(textValue(place, length), text(close));
  const isEmptyAllowed = length === undefined || length.min === 0;
  const isEmptyOnly = length?.max === 0;
  const plain = sequence(textValue(place, length, `[^${wrap.open[0]}]`), text(close));
  return choice([
    ...(isEmptyAllowed ? [text(close)] : []),
    ...(isEmptyOnly ? [] : [plain]),
    sequence(text(wrap.open), textValue(place, length), text(wrap.close + close)),
  ]);
}

/** The mark after a name, and the text of one value. Null where that would be read as another value. */
function writtenValue(form: TaggedForm, value: unknown, types: ReadonlySet<ValueType>): string | null {
  const { nameEnd, jsonNameEnd = nameEnd, close } = form;
  if (typeof value !== 'string') {
    const json = printValue(value);
    return form.jsonNameEnd !== undefined || readTextValue(json, types) === json ? jsonNameEnd + json : null;
  }
  const given = taggedString(form, value);
  const isRead = given !== value || form.jsonNameEnd !== undefined || isReadAsString(value, types);
  return isRead && isReadTo(close, given) ? nameEnd + given : null;
}

const isReadAsString = (value: string, types: ReadonlySet<ValueType>) =>
  readTextValue(value, types) === printValue(value);

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

/**
 * The text of a string may read as a value of another type, so only the types of such values are enforced.
 * Throws: `ToolGrammarError`.
 */
function checkBesideText(part: SchemaPart, forms: readonly ValueForm[]): void {
  if (!part.isStrict) return;
  for (const form of forms) {
    if (form.kind === 'json') checkKeywords(form.part, form.schema, ['type']);
    const isLimited =
      form.kind === 'values' && form.values.some(value => typeof value !== 'string' && value !== null);
    if (isLimited) checkKeywords(part, { enum: [] }, []);
  }
}
