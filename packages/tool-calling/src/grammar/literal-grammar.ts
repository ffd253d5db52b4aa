// The grammar of arguments in a notation that is not JSON. Required ones come first, because then no separator depends on
// what was left out.

import type { TagNode } from '@ortler/structured-output';
import { isReadTo } from '../find-marks.ts';
import { isSchema, printValue, SILENT_KEYWORDS } from '../merged-schema.ts';
import type { ArgumentsForm, LiteralNotation, ToolSchema } from '../tool-dialect.ts';
import { allowsAllTypes, typesOf, type ValueType, valuesOf } from '../value-kinds.ts';
import { LiteralRules } from './literal-rules.ts';
import { ANY_NAME, choice, json, optional, regex, repeated, sequence, text, textValue } from './nodes.ts';
import {
  branchesOf,
  checkKeywords,
  lengthOf,
  NOTHING_FITS,
  onlyAbout,
  openSchema,
  otherProperties,
  type Property,
  propertiesOf,
  type SchemaPart,
} from './schema-part.ts';
import { ToolGrammarError } from './tool-grammar-error.ts';

type LiteralsForm = Extract<ArgumentsForm, { readonly kind: 'literals' }>;

const DEPTH_LIMIT = 32;
/** A name that is read as it is written: it has no white space and no mark of a notation. */
const ARGUMENT_NAME = /^[^\s=:,()[\]{}"'<>]+$/;
/** Names of arguments where the schema names none. */
const ANY_ARGUMENT = '[A-Za-z_][A-Za-z0-9_]{0,63}';
/** Where any property may be the first one, the grammar repeats all later ones for each. */
const OPTIONAL_LIMIT = 128;
/** Name of the rule of any value; those of references begin with a number sign. */
const ANY_VALUE = 'any value';
const BARE_KEY = /^[^\s:,{}[\]"]+$/;
const STRING_KEYWORDS = ['minLength', 'maxLength', 'pattern', 'format'];
const NUMBER_KEYWORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

/** Throws: `ToolGrammarError`. */
export function literalGrammar({ nameEnd, separator, notation }: LiteralsForm, whole: SchemaPart): TagNode {
  const schema = openSchema(whole);
  checkKeywords(whole, schema, ['type', 'properties', 'required', 'additionalProperties']);
  const values = new ValueGrammars(notation);
  const entries = propertiesOf(whole, schema).map(({ name, isRequired, part }) => {
    if (!ARGUMENT_NAME.test(name))
      throw new ToolGrammarError(part.place, 'The name of this argument cannot be written by this model');
    return { isRequired, node: sequence(text(name + nameEnd), values.of(part, DEPTH_LIMIT)) };
  });
  const others = otherProperties(whole, schema);
  const content =
    others === null
      ? listOf(entries, separator, whole.place)
      : mapOf(
          sequence(regex(ANY_ARGUMENT, whole.place), text(nameEnd), values.of(others, DEPTH_LIMIT)),
          separator,
        );
  return values.rules.around(content, whole.place);
}

interface Entry {
  readonly isRequired: boolean;
  readonly node: TagNode;
}

/** All required entries, then any of the others in their order. */
function listOf(entries: readonly Entry[], separator: string, place: string): TagNode {
  const required = entries.filter(entry => entry.isRequired);
  const others = entries.filter(entry => !entry.isRequired);
  const othersFrom = (from: number) =>
    others.slice(from).map(({ node }) => optional(sequence(text(separator), node)));
  if (required.length > 0)
    return sequence(
      ...required.flatMap(({ node }, index) => (index === 0 ? [node] : [text(separator), node])),
      ...othersFrom(0),
    );
  if (others.length > OPTIONAL_LIMIT)
    throw new ToolGrammarError(
      place,
      `Without a required property, there may be at most ${OPTIONAL_LIMIT} optional properties in the calls of this model`,
    );
  const firsts = others.map(({ node }, index) => sequence(node, ...othersFrom(index + 1)));
  return firsts.length === 0 ? text('') : optional(choice(firsts));
}

const mapOf = (entry: TagNode, separator: string) => optional(repeated(entry, separator));

/** The grammars of values in one notation, and the rules that stand in them. */
class ValueGrammars {
  readonly rules = new LiteralRules();
  readonly #notation: LiteralNotation;

  constructor(notation: LiteralNotation) {
    this.#notation = notation;
  }

  /** Throws: `ToolGrammarError`. */
  of(part: SchemaPart, depth: number): TagNode {
    if (depth === 0) throw new ToolGrammarError(part.place, 'The schema is nested too deeply');
    return this.rules.nodeOf(part, each => this.#valueGrammar(each, depth));
  }

  #valueGrammar(part: SchemaPart, depth: number): TagNode {
    const schema = openSchema(part);
    const said = typesOf(part.schema, part.root);
    const values = valuesOf(schema, said);
    if (values !== null) {
      checkKeywords(part, schema, ['type', 'const', 'enum']);
      return choiceOf(
        part,
        values
          .filter(value => isWritable(value, this.#notation))
          .map(value => text(toLiteral(value, this.#notation))),
      );
    }
    const branches = branchesOf(part, schema);
    if (branches !== null)
      return choiceOf(
        part,
        branches
          .filter(({ schema: each, root }) => typesOf(each, root).size > 0)
          .map(branch => this.of(branch, depth - 1)),
      );
    const ofTypes = () =>
      choiceOf(
        part,
        [...said].map(type => this.#typedGrammar(part, { ...onlyAbout(type, schema), type }, type, depth)),
      );
    // Where the schema says nothing, lists and objects have such values themselves.
    const isOpen = allowsAllTypes(said) && Object.keys(schema).every(keyword => SILENT_KEYWORDS.has(keyword));
    return isOpen ? this.rules.named(ANY_VALUE, ofTypes) : ofTypes();
  }

  #typedGrammar(part: SchemaPart, schema: ToolSchema, type: ValueType, depth: number): TagNode {
    const { words, quote, separator } = this.#notation;
    switch (type) {
      case 'boolean':
        checkKeywords(part, schema, ['type']);
        return choice([text(words.true), text(words.false)]);
      case 'null':
        checkKeywords(part, schema, ['type']);
        return text(words.null);
      case 'number':
      case 'integer':
        checkKeywords(part, schema, ['type', ...NUMBER_KEYWORDS]);
        return json({ ...part, schema: pick(schema, ['type', ...NUMBER_KEYWORDS]) });
      case 'string':
        if (quote === 'json') {
          checkKeywords(part, schema, ['type', ...STRING_KEYWORDS]);
          return json({ ...part, schema: pick(schema, ['type', ...STRING_KEYWORDS]) });
        }
        checkKeywords(part, schema, ['type', 'minLength', 'maxLength']);
        return sequence(text(quote.mark), textValue(part.place, lengthOf(schema)), text(quote.mark));
      case 'array': {
        const isFilled = Number(schema.minItems ?? 0) > 0;
        checkKeywords(part, schema, ['type', 'items', ...(Number(schema.minItems) > 1 ? [] : ['minItems'])]);
        const items = { ...part, schema: schema.items ?? {}, place: `${part.place}/items` };
        const all = repeated(this.of(items, depth - 1), separator);
        return sequence(text('['), isFilled ? all : optional(all), text(']'));
      }
      case 'object': {
        checkKeywords(part, schema, ['type', 'properties', 'required', 'additionalProperties']);
        const entries = propertiesOf(part, schema).map(property => this.#objectEntry(property, depth));
        const others = otherProperties(part, schema);
        const content =
          others === null
            ? listOf(entries, separator, part.place)
            : mapOf(this.#anyEntry(others, depth), separator);
        return sequence(text('{'), content, text('}'));
      }
    }
  }

  /** An entry whose key the schema does not name. */
  #anyEntry(part: SchemaPart, depth: number): TagNode {
    const { keys, keyEnd } = this.#notation;
    const key = keys === 'bare' ? regex(ANY_NAME, part.place) : json({ ...part, schema: { type: 'string' } });
    return sequence(key, text(keyEnd), this.of(part, depth - 1));
  }

  #objectEntry({ name, isRequired, part }: Property, depth: number): Entry {
    const { keys, keyEnd } = this.#notation;
    if (keys === 'bare' && !BARE_KEY.test(name))
      throw new ToolGrammarError(part.place, 'This key cannot be written by this model');
    const key = keys === 'bare' ? name : JSON.stringify(name);
    return { isRequired, node: sequence(text(key + keyEnd), this.of(part, depth - 1)) };
  }
}

/** Throws: `ToolGrammarError` where there is none. */
function choiceOf({ place }: SchemaPart, items: readonly TagNode[]): TagNode {
  if (items.length === 0) throw new ToolGrammarError(place, NOTHING_FITS);
  return choice(items);
}

/** Whether the value is read as it was written: a string must not have the mark after it, and a bare key no mark of the notation. */
function isWritable(value: unknown, notation: LiteralNotation): boolean {
  const { quote, keys } = notation;
  if (typeof value === 'string') return quote === 'json' || isReadTo(quote.mark, value);
  if (Array.isArray(value)) return value.every(item => isWritable(item, notation));
  if (!isSchema(value)) return true;
  return Object.entries(value).every(
    ([key, item]) => (keys !== 'bare' || BARE_KEY.test(key)) && isWritable(item, notation),
  );
}

/** A value in the notation. */
export function toLiteral(value: unknown, notation: LiteralNotation): string {
  const { words, quote, keys, keyEnd, separator } = notation;
  if (value === null) return words.null;
  if (typeof value === 'boolean') return value ? words.true : words.false;
  if (typeof value === 'string')
    return quote === 'json' ? JSON.stringify(value) : quote.mark + value + quote.mark;
  if (value instanceof Number) return value.toFixed(1);
  if (Array.isArray(value)) return `[${value.map(item => toLiteral(item, notation)).join(separator)}]`;
  if (!isSchema(value)) return printValue(value);
  const entries = Object.entries(value).map(
    ([key, item]) => (keys === 'bare' ? key : JSON.stringify(key)) + keyEnd + toLiteral(item, notation),
  );
  return `{${entries.join(separator)}}`;
}

function pick(schema: ToolSchema, names: readonly string[]): ToolSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => names.includes(name)));
}
