// The syntax tree of a structural tag, the same for both published shapes. parse-tag.ts makes one of what callers write; the
// grammars of tool calls are such trees too.

import type { JsonValue } from '@ortler/json';

export type TagNode =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'json';
      readonly schema: JsonValue;
      readonly place: string;
      /** Keywords that no grammar enforces are left out, where they would be refused. Default: false. */
      readonly isLenient?: boolean;
    }
  | { readonly kind: 'regex'; readonly pattern: string; readonly place: string }
  | { readonly kind: 'grammar'; readonly text: string; readonly place: string }
  /** `isValue`: the value of an argument, which the repetition guard keeps from loops. Default: false. */
  | {
      readonly kind: 'any-text';
      readonly place: string;
      readonly isValue?: boolean;
      /** Unit: characters. Only before a text. Default: any length. */
      readonly length?: { readonly min: number; readonly max: number | null };
      /** Pattern of the first character, which the text then has. Only before a text. Default: none. */
      readonly first?: string;
    }
  /** The rest of the answer, which does not begin with any of these texts. */
  | { readonly kind: 'other-text'; readonly beginnings: readonly string[] }
  | { readonly kind: 'sequence'; readonly items: readonly TagNode[] }
  | { readonly kind: 'choice'; readonly items: readonly TagNode[] }
  | TaggedNode
  /** `content`, and parts with names, which may contain themselves. */
  | { readonly kind: 'rules'; readonly rules: Readonly<Record<string, TagNode>>; readonly content: TagNode }
  /** The part of this name. It stands inside of `rules`. */
  | { readonly kind: 'rule'; readonly name: string }
  /** Free text in which each of the triggers begins a tag. */
  | {
      readonly kind: 'triggered';
      readonly triggers: readonly string[];
      readonly tags: readonly TaggedNode[];
      readonly needsOne: boolean;
      readonly stopsAfterFirst: boolean;
    }
  | {
      readonly kind: 'separated';
      /** The tags are calls of tools: after one that was made before, the repetition guard allows no further one. */
      readonly areCalls?: boolean;
      readonly separator: string;
      readonly tags: readonly TaggedNode[];
      readonly needsOne: boolean;
      readonly stopsAfterFirst: boolean;
    };

export interface TaggedNode {
  readonly kind: 'tag';
  readonly begin: string;
  readonly content: TagNode;
  readonly ends: readonly string[];
}
