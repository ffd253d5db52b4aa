// The filter language as the builder edits it: one node for each operator of the `$expr` language. filter-json.ts turns
// nodes into JSON and back.

export type LiteralValue = string | number | boolean | null;

export const CONVERT_TARGETS = ['double', 'string', 'int', 'bool', 'exists'] as const;
export type ConvertTarget = (typeof CONVERT_TARGETS)[number];

export const COMPARISONS = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** A condition, or a value that is used as one: null, 0, false and what is empty are false. */
export type FilterNode =
  | { readonly kind: 'group'; readonly operator: '$and' | '$or'; readonly children: readonly FilterNode[] }
  | { readonly kind: 'not'; readonly child: FilterNode }
  | {
      readonly kind: 'compare';
      readonly operator: Comparison;
      readonly left: FilterNode;
      readonly right: FilterNode;
    }
  | {
      readonly kind: 'member';
      readonly operator: '$in' | '$nin';
      readonly value: FilterNode;
      readonly list: readonly FilterNode[];
    }
  | {
      readonly kind: 'text';
      readonly operator: '$contains' | '$startsWith';
      readonly input: FilterNode;
      readonly needle: FilterNode;
      readonly ignoresCase: boolean;
    }
  | { readonly kind: 'exists'; readonly input: FilterNode }
  | { readonly kind: 'field'; readonly name: string }
  | Literal
  | { readonly kind: 'convert'; readonly input: FilterNode; readonly to: ConvertTarget }
  | { readonly kind: 'size'; readonly input: FilterNode };

export interface Literal {
  readonly kind: 'literal';
  readonly value: LiteralValue;
  /** The text that was typed for it: its type follows that of the field. Absent where the type was chosen or written. */
  readonly typed?: string;
}

export type Kind = FilterNode['kind'];
export type Group = Extract<FilterNode, { kind: 'group' }>;

const CONDITIONS: readonly Kind[] = ['group', 'not', 'compare', 'member', 'text', 'exists'];

/** Whether it is true or false by itself. A filter is a condition. */
export function isCondition({ kind }: FilterNode): boolean {
  return CONDITIONS.includes(kind);
}

export const field = (name: string): FilterNode => ({ kind: 'field', name });
export const literal = (value: LiteralValue): Literal => ({ kind: 'literal', value });
export const group = (operator: Group['operator'], ...children: readonly FilterNode[]): Group => ({
  kind: 'group',
  operator,
  children,
});

/** What the builder begins with, and adds. */
export function newCondition(name: string): FilterNode {
  return { kind: 'compare', operator: '$eq', left: field(name), right: literal('') };
}
