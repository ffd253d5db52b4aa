// The syntax tree of a template: plain data, built by the parser, walked by the interpreter.

export type Expression =
  | { readonly kind: 'literal'; readonly value: null | boolean | number | string; readonly line: number }
  | { readonly kind: 'float'; readonly value: number; readonly line: number }
  | { readonly kind: 'name'; readonly name: string; readonly line: number }
  | { readonly kind: 'list' | 'tuple'; readonly items: readonly Expression[]; readonly line: number }
  | {
      readonly kind: 'dict';
      readonly entries: readonly (readonly [Expression, Expression])[];
      readonly line: number;
    }
  | { readonly kind: 'attribute'; readonly object: Expression; readonly name: string; readonly line: number }
  | { readonly kind: 'item'; readonly object: Expression; readonly key: Expression; readonly line: number }
  | { readonly kind: 'slice'; readonly object: Expression; readonly parts: SliceParts; readonly line: number }
  | {
      readonly kind: 'call';
      readonly callee: Expression;
      readonly args: CallArguments;
      readonly line: number;
    }
  | {
      readonly kind: 'filter';
      readonly input: Expression;
      readonly name: string;
      readonly args: CallArguments;
      readonly line: number;
    }
  | {
      readonly kind: 'test';
      readonly input: Expression;
      readonly name: string;
      readonly args: CallArguments;
      readonly line: number;
    }
  | { readonly kind: 'not' | 'negative' | 'positive'; readonly operand: Expression; readonly line: number }
  | {
      readonly kind: 'and' | 'or';
      readonly left: Expression;
      readonly right: Expression;
      readonly line: number;
    }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
      readonly line: number;
    }
  | { readonly kind: 'concat'; readonly parts: readonly Expression[]; readonly line: number }
  | {
      readonly kind: 'compare';
      readonly first: Expression;
      readonly rest: readonly Comparison[];
      readonly line: number;
    }
  | {
      readonly kind: 'condition';
      readonly test: Expression;
      readonly yes: Expression;
      readonly no: Expression | null;
      readonly line: number;
    };

export type BinaryOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**';
export type CompareOperator = '==' | '!=' | '<' | '>' | '<=' | '>=' | 'in' | 'not in';

export interface Comparison {
  readonly operator: CompareOperator;
  readonly operand: Expression;
}

/** Start, stop and step; null where left out. */
export type SliceParts = readonly [Expression | null, Expression | null, Expression | null];

export interface CallArguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  /** `*values`: a sequence of further positional arguments. */
  readonly spreadPositional?: Expression;
  /** `**values`: a dictionary of further named arguments. */
  readonly spreadNamed?: Expression;
}

/** The target of an assignment. */
export type Target =
  | { readonly kind: 'name'; readonly name: string; readonly line: number }
  | { readonly kind: 'namespace'; readonly name: string; readonly attribute: string; readonly line: number }
  | { readonly kind: 'tuple'; readonly items: readonly Target[]; readonly line: number };

export interface MacroSignature {
  readonly parameters: readonly { readonly name: string; readonly fallback: Expression | null }[];
}

export type Statement =
  | { readonly kind: 'text'; readonly text: string; readonly line: number }
  | { readonly kind: 'output'; readonly value: Expression; readonly line: number }
  | {
      readonly kind: 'if';
      readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[];
      readonly line: number;
    }
  | {
      readonly kind: 'for';
      readonly target: Target;
      readonly iterable: Expression;
      readonly filter: Expression | null;
      readonly body: readonly Statement[];
      readonly otherwise: readonly Statement[];
      readonly line: number;
    }
  | { readonly kind: 'set'; readonly target: Target; readonly value: Expression; readonly line: number }
  | {
      readonly kind: 'set-block';
      readonly target: Target;
      readonly filters: readonly FilterCall[];
      readonly body: readonly Statement[];
      readonly line: number;
    }
  | {
      readonly kind: 'macro';
      readonly name: string;
      readonly signature: MacroSignature;
      readonly body: readonly Statement[];
      readonly line: number;
    }
  | {
      readonly kind: 'call-block';
      readonly call: Expression;
      readonly signature: MacroSignature;
      readonly body: readonly Statement[];
      readonly line: number;
    }
  | {
      readonly kind: 'filter-block';
      readonly filters: readonly FilterCall[];
      readonly body: readonly Statement[];
      readonly line: number;
    }
  | {
      readonly kind: 'scope';
      readonly assignments: readonly (readonly [Target, Expression])[];
      readonly body: readonly Statement[];
      readonly line: number;
    }
  | { readonly kind: 'break' | 'continue'; readonly line: number };

export interface FilterCall {
  readonly name: string;
  readonly args: CallArguments;
  readonly line: number;
}
