// The grammars of schemas that others refer to, as rules with names: so a schema may contain itself.

import type { TagNode } from '@ortler/structured-output';
import { isSchema, peelSchema, SILENT_KEYWORDS } from '../merged-schema.ts';
import type { SchemaPart } from './schema-part.ts';
import { ToolGrammarError } from './tool-grammar-error.ts';

/** Maximum number of parts: those that double with every reference would take forever. */
const PART_LIMIT = 10_000;

export class LiteralRules {
  /** Null while a grammar is made. */
  readonly #rules = new Map<string, TagNode | null>();
  #madeCount = 0;

  /** The grammar of a part, made once for each reference. Throws: as `make`. */
  nodeOf(part: SchemaPart, make: (part: SchemaPart) => TagNode): TagNode {
    const schema = peelSchema(part.schema);
    const name = isSchema(schema) ? schema.$ref : undefined;
    const saysMore = isSchema(schema) && Object.keys(schema).some(keyword => !SILENT_KEYWORDS.has(keyword));
    if (typeof name !== 'string' || saysMore) {
      if (++this.#madeCount > PART_LIMIT)
        throw new ToolGrammarError(part.place, 'The schema has too many parts to be written');
      return make(part);
    }
    return this.named(name, () => make({ ...part, schema: { $ref: name } }));
  }

  /** The grammar of this name, made once. Throws: as `make`. */
  named(name: string, make: () => TagNode): TagNode {
    if (!this.#rules.has(name)) {
      this.#rules.set(name, null);
      this.#rules.set(name, make());
    }
    return { kind: 'rule', name };
  }

  /** The node with the rules that stand in it. Throws: `ToolGrammarError` where a value would never end. */
  around(content: TagNode, place: string): TagNode {
    const rules = new Map([...this.#rules].map(([name, node]) => [name, node!]));
    if (rules.size === 0) return content;
    const finite = new Set<string>();
    for (let count = -1; count !== finite.size; ) {
      count = finite.size;
      for (const [name, node] of rules) if (ends(node, finite)) finite.add(name);
    }
    const left = withoutEndless(content, finite);
    if (left === null)
      throw new ToolGrammarError(place, 'The schema requires values that are nested without end');
    const kept = [...rules].flatMap(([name, node]) => {
      const own = finite.has(name) ? withoutEndless(node, finite) : null;
      return own === null ? [] : [[name, own] as const];
    });
    return { kind: 'rules', rules: Object.fromEntries(kept), content: left };
  }
}

/** Whether the node has a finite text, if the rules of these names have one. */
function ends(node: TagNode, finite: ReadonlySet<string>): boolean {
  switch (node.kind) {
    case 'rule':
      return finite.has(node.name);
    case 'sequence':
      return node.items.every(item => ends(item, finite));
    case 'choice':
      return node.items.some(item => ends(item, finite));
    case 'separated':
      return node.tags.some(tag => ends(tag.content, finite));
    default:
      return true;
  }
}

/** The node without the choices that have no finite text; null where nothing is left. */
function withoutEndless(node: TagNode, finite: ReadonlySet<string>): TagNode | null {
  if (!ends(node, finite)) return null;
  switch (node.kind) {
    case 'sequence':
      return { ...node, items: node.items.map(item => withoutEndless(item, finite)!) };
    case 'choice':
      return { ...node, items: node.items.flatMap(item => withoutEndless(item, finite) ?? []) };
    case 'separated':
      return {
        ...node,
        tags: node.tags.flatMap(tag => {
          const content = withoutEndless(tag.content, finite);
          return content === null ? [] : [{ ...tag, content }];
        }),
      };
    default:
      return node;
  }
}
