// The regular expressions of a constraint that somebody may check the answer with, and how each of them is matched then.

import type { ConstraintLimits } from '../../../request/constraint-spec.ts';
import { larkPatterns } from '../check-lark.ts';
import { isList, isMap, type JsonValue } from '../json-schema/json-value.ts';
import { DATA_KEYWORDS } from '../json-schema/resolve-ref.ts';
import type { ConstraintSource } from '../read-constraint.ts';
import { pointer } from '../refuse.ts';
import type { TagNode } from '../structural-tag/tag-node.ts';
import type { AmbiguityOptions } from './find-ambiguity.ts';

export interface PlacedPattern extends AmbiguityOptions {
  readonly text: string;
  /** A JSON pointer or a word. */
  readonly place: string;
}

/** All of them, in the order of their places. */
export function* patternsIn(source: ConstraintSource, limits: ConstraintLimits): Generator<PlacedPattern> {
  switch (source.kind) {
    case 'json':
      yield* schemaPatterns(source.document, limits, '#');
      break;
    case 'regex':
      yield { text: source.pattern, place: 'regex', notation: 'rust', extent: 'whole' };
      break;
    case 'lark':
      // A terminal is matched at the start of what is left of a text.
      for (const text of larkPatterns(source.text))
        yield { text, place: 'grammar', notation: 'rust', extent: 'search' };
      break;
    case 'tag':
      yield* tagPatterns(source.tag, limits);
      break;
    // Texts are no patterns, and rules of EBNF are no business of a regex matcher.
    case 'choice':
    case 'ebnf':
      break;
  }
}

/** Every pattern of a schema, also where the grammar leaves it to the check at the end. */
function* schemaPatterns(
  schema: JsonValue,
  limits: ConstraintLimits,
  within: string,
): Generator<PlacedPattern> {
  if (isList(schema))
    for (const [i, item] of schema.entries()) yield* schemaPatterns(item, limits, pointer(within, i));
  if (!isMap(schema)) return;
  const { pattern, patternProperties } = schema;
  if (typeof pattern === 'string') yield* shortPattern(pattern, limits, pointer(within, 'pattern'));
  if (isMap(patternProperties))
    for (const name of Object.keys(patternProperties))
      yield* shortPattern(name, limits, pointer(within, 'patternProperties', name));
  for (const [key, item] of Object.entries(schema))
    if (!DATA_KEYWORDS.has(key)) yield* schemaPatterns(item, limits, pointer(within, key));
}

/** Longer ones are refused where they are used; where they are not, nobody has read them. */
function* shortPattern(
  text: string,
  { patternBytes }: ConstraintLimits,
  place: string,
): Generator<PlacedPattern> {
  if (Buffer.byteLength(text) <= patternBytes) yield { text, place, notation: 'ecma', extent: 'search' };
}

function* tagPatterns(node: TagNode, limits: ConstraintLimits): Generator<PlacedPattern> {
  switch (node.kind) {
    case 'json':
      yield* schemaPatterns(node.schema, limits, node.place);
      break;
    case 'regex':
      yield { text: node.pattern, place: node.place, notation: 'rust', extent: 'whole' };
      break;
    case 'tag':
      yield* tagPatterns(node.content, limits);
      break;
    case 'sequence':
    case 'choice':
      for (const item of node.items) yield* tagPatterns(item, limits);
      break;
    case 'triggered':
    case 'separated':
      for (const tag of node.tags) yield* tagPatterns(tag, limits);
      break;
    // Texts are no patterns, and rules of EBNF are no business of a regex matcher.
    case 'text':
    case 'any-text':
    case 'grammar':
      break;
  }
}
