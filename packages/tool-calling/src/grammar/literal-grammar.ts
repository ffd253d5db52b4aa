// The grammar of arguments in a notation that is not JSON. Required ones come first, because then no separator depends on
// what was left out.

import type { TagNode } from '@ortler/structured-output';
import type { ArgumentsForm, LiteralNotation, ToolSchema } from '../tool-dialect.ts';
import { isSchema, typesOf, type ValueType } from '../value-kinds.ts';
import { LiteralRules } from './literal-rules.ts';
import { choice, json, optional, repeated, sequence, text, textValue } from './nodes.ts';
import { checkKeywords, openSchema, type Property, propertiesOf, type SchemaPart } from './schema-part.ts';
import { ToolGrammarError } from './tool-grammar-error.ts';

type LiteralsForm = Extract<ArgumentsForm, { readonly kind: 'literals' }>;

const DEPTH_LIMIT = 32;
const ARGUMENT_NAME = /^[A-Za-z_]\w*$/;
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
  return values.rules.around(listOf(entries, separator), whole.place);
}

interface Entry {
  readonly isRequired: boolean;
  readonly node: TagNode;
}

/** All required entries, then any of the others in their order. */
function listOf(entries: readonly Entry[], separator: string): TagNode {
  const required = entries.filter(entry => entry.isRequired);
  const others = entries.filter(entry => !entry.isRequired);
  const behind = (from: number) =>
    others.slice(from).map(({ node }) => optional(sequence(text(separator), node)));
  if (required.length > 0)
    return sequence(
      ...required.flatMap(({ node }, index) => (index === 0 ? [node] : [text(separator), node])),
      ...behind(0),
    );
  const firsts = others.map(({ node }, index) => sequence(node, ...behind(index + 1)));
  return firsts.length === 0 ? text('') : optional(choice(firsts));
}

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
    if ('const' in schema) return text(toLiteral(schema.const, this.#notation));
    if (Array.isArray(schema.enum))
      return choice(schema.enum.map(value => text(toLiteral(value, this.#notation))));
    const branches = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(branches)) {
      checkKeywords(part, schema, ['anyOf']);
      const inner = (branch: unknown, index: number) =>
        this.of({ ...part, schema: branch, place: `${part.place}/anyOf/${index}` }, depth - 1);
      return choice(branches.map(inner));
    }
    const said = typesOf(schema, part.root);
    const isOpen = schema.type === undefined && said.size === 7;
    // Where the schema says nothing, the values are plain ones.
    const types: readonly ValueType[] = isOpen ? ['string', 'number', 'boolean', 'null'] : [...said];
    return choice(types.map(type => this.#typedGrammar({ ...part, schema }, schema, type, depth)));
  }

  #typedGrammar(part: SchemaPart, schema: ToolSchema, type: ValueType, depth: number): TagNode {
    const { words, quote, separator } = this.#notation;
    switch (type) {
      case 'boolean':
        return choice([text(words.true), text(words.false)]);
      case 'null':
        return text(words.null);
      case 'number':
      case 'integer':
        return json({ ...part, schema: { ...pick(schema, NUMBER_KEYWORDS), type } });
      case 'string':
        if (quote === 'json') return json({ ...part, schema: { ...pick(schema, STRING_KEYWORDS), type } });
        checkKeywords(part, schema, ['type']);
        return sequence(text(quote.mark), textValue(part.place), text(quote.mark));
      case 'array': {
        checkKeywords(part, schema, ['type', 'items']);
        const items = { ...part, schema: schema.items ?? {}, place: `${part.place}/items` };
        const all = repeated(this.of(items, depth - 1), separator);
        return sequence(text('['), optional(all), text(']'));
      }
      case 'object': {
        checkKeywords(part, schema, ['type', 'properties', 'required', 'additionalProperties']);
        const entries = propertiesOf(part, schema).map(property => this.#objectEntry(property, depth));
        return sequence(text('{'), listOf(entries, separator), text('}'));
      }
    }
  }

  #objectEntry({ name, isRequired, part }: Property, depth: number): Entry {
    const { keys, keyEnd } = this.#notation;
    if (keys === 'bare' && !BARE_KEY.test(name))
      throw new ToolGrammarError(part.place, 'This key cannot be written by this model');
    const key = keys === 'bare' ? name : JSON.stringify(name);
    return { isRequired, node: sequence(text(key + keyEnd), this.of(part, depth - 1)) };
  }
}

function toLiteral(value: unknown, notation: LiteralNotation): string {
  const { words, quote, keys, keyEnd, separator } = notation;
  if (value === null) return words.null;
  if (typeof value === 'boolean') return value ? words.true : words.false;
  if (typeof value === 'string')
    return quote === 'json' ? JSON.stringify(value) : quote.mark + value + quote.mark;
  if (Array.isArray(value)) return `[${value.map(item => toLiteral(item, notation)).join(separator)}]`;
  if (!isSchema(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([key, item]) => (keys === 'bare' ? key : JSON.stringify(key)) + keyEnd + toLiteral(item, notation),
  );
  return `{${entries.join(separator)}}`;
}

function pick(schema: ToolSchema, names: readonly string[]): ToolSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => names.includes(name)));
}
