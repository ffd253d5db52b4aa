// SQL fragments: SQL text with bound parameters. The compiler joins fragments and passes Kysely one raw node per
// clause, which is much cheaper than one Kysely node per operator, and keeps values out of the SQL text.
import { ExpressionWrapper, RawNode, ValueNode } from 'kysely';

/** A parameter of a database driver. */
export type ParameterValue = string | number | bigint;

/**
 * Shape: `texts.length === values.length + 1`; value `i` is between text `i` and `i + 1`.
 */
export interface SqlFragment {
  readonly texts: readonly string[];
  readonly values: readonly ParameterValue[];
}

/** SQL text as a tagged template. Every part is a fragment, so no value can enter the text. */
export function fragment(strings: TemplateStringsArray, ...parts: readonly SqlFragment[]): SqlFragment {
  const texts: string[] = [strings[0]!];
  const values: ParameterValue[] = [];
  for (let index = 0; index < parts.length; index += 1) {
    append(texts, values, parts[index]!, strings[index + 1]!);
  }
  return { texts, values };
}

/** One bound parameter. */
export function parameter(value: ParameterValue): SqlFragment {
  return { texts: ['', ''], values: [value] };
}

/** SQL text of this package. Must never contain input of a caller. */
export function trustedSql(text: string): SqlFragment {
  return { texts: [text], values: [] };
}

/** Fragments joined by a separator. */
export function joinFragments(parts: readonly SqlFragment[], separator: string): SqlFragment {
  const texts: string[] = [''];
  const values: ParameterValue[] = [];
  for (let index = 0; index < parts.length; index += 1) {
    append(texts, values, parts[index]!, index + 1 < parts.length ? separator : '');
  }
  return { texts, values };
}

/** Clauses joined by spaces, so that long SQL is written one clause per line of source. */
export function clauses(...parts: readonly SqlFragment[]): SqlFragment {
  return joinFragments(parts, ' ');
}

function append(texts: string[], values: ParameterValue[], part: SqlFragment, after: string): void {
  texts[texts.length - 1] += part.texts[0]!;
  for (let index = 0; index < part.values.length; index += 1) {
    values.push(part.values[index]!);
    texts.push(part.texts[index + 1]!);
  }
  texts[texts.length - 1] += after;
}

/** The fragment as a Kysely expression. */
export function toExpression<T>(part: SqlFragment): ExpressionWrapper<never, never, T> {
  const values = part.values.map(value => ValueNode.create(value));
  return new ExpressionWrapper(RawNode.create(part.texts, values));
}
