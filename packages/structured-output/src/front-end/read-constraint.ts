// First stage of the front end: parses a constraint and checks its limits. Nothing is translated yet.

import { isList, isMap, type JsonValue, parseJson, printJson } from '@ortler/json';
import {
  CONSTRAINT_FIELDS,
  type ConstraintLimits,
  type ConstraintSpec,
  type JsonStyle,
} from '../constraint-spec.ts';
import { isEbnf } from '../ebnf/parse-ebnf.ts';
import { refuse } from '../refuse.ts';
import { parseTag } from '../structural-tag/parse-tag.ts';
import type { TagNode } from '../tag-node.ts';

export type ConstraintSource =
  | {
      readonly kind: 'json';
      readonly document: JsonValue;
      readonly isStrict: boolean;
      readonly style: JsonStyle;
    }
  | { readonly kind: 'regex'; readonly pattern: string }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'ebnf' | 'lark'; readonly text: string }
  | { readonly kind: 'tag'; readonly tag: TagNode; readonly style: JsonStyle };

/** Throws: `invalid_constraint` for malformed JSON, a malformed tag, an empty grammar, and excess size or depth. */
export function readConstraint(spec: ConstraintSpec, limits: ConstraintLimits): ConstraintSource {
  const names = CONSTRAINT_FIELDS.filter(name => name in spec);
  if (names.length !== 1)
    refuse(
      '',
      `A constraint has exactly one of ${CONSTRAINT_FIELDS.join(', ')}; got ${names.join(', ') || 'none'}`,
    );
  if ('jsonSchema' in spec) {
    const { jsonSchema, strict: isStrict = false, style = {} } = spec;
    return { kind: 'json', document: readDocument(jsonSchema, limits), isStrict, style };
  }
  if ('jsonObject' in spec) {
    if (!spec.jsonObject) refuse('jsonObject', 'jsonObject must be true');
    return { kind: 'json', document: { type: 'object' }, isStrict: true, style: spec.style ?? {} };
  }
  if ('regex' in spec) return { kind: 'regex', pattern: spec.regex };
  if ('choice' in spec) {
    checkSize(spec.choice.join('\n'), limits);
    return { kind: 'choice', choices: spec.choice };
  }
  if ('grammar' in spec) {
    checkSize(spec.grammar, limits);
    if (spec.grammar.trim() === '') refuse('grammar', 'The grammar is empty');
    return { kind: isEbnf(spec.grammar) ? 'ebnf' : 'lark', text: spec.grammar };
  }
  if ('tag' in spec) {
    checkDocument(spec.tag as unknown as JsonValue, limits);
    return { kind: 'tag', tag: spec.tag, style: spec.style ?? {} };
  }
  const { structuralTag, style = {} } = spec;
  if (typeof structuralTag === 'string') checkSize(structuralTag, limits);
  else checkDocument(structuralTag as JsonValue, limits);
  return { kind: 'tag', tag: parseTag(structuralTag, limits), style };
}

function readDocument(schema: unknown, limits: ConstraintLimits): JsonValue {
  let document = schema as JsonValue;
  if (typeof schema === 'string') {
    checkSize(schema, limits);
    try {
      document = parseJson(schema);
    } catch (error) {
      refuse('json', `The JSON Schema is not JSON: ${(error as Error).message}`);
    }
  }
  checkDocument(document, limits);
  if (!isMap(document) && typeof document !== 'boolean')
    refuse('#', 'A JSON Schema must be an object or a boolean');
  return document;
}

/** Without recursion, because a document of any depth arrives here. */
function checkDocument(document: JsonValue, limits: ConstraintLimits): void {
  // A schema may hold lists and objects of values, which nest too.
  const most = limits.depth * 2;
  let level: JsonValue[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) refuse('#', `The constraint is nested deeper than ${most} levels`);
    level = level.flatMap(value => (isList(value) ? value : isMap(value) ? Object.values(value) : []));
  }
  checkSize(printJson(document), limits);
}

function checkSize(text: string, limits: ConstraintLimits): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.sourceBytes)
    refuse('', `The constraint has ${bytes} bytes; ${limits.sourceBytes} are allowed`);
  if (text.includes('\0')) refuse('', 'The constraint contains the character U+0000');
  if (!text.isWellFormed()) refuse('', 'The constraint contains half a character (a single surrogate)');
}
