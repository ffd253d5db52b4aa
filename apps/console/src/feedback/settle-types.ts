// Values that were typed have the type of the field beside them, which may be known only later: when the payload's types arrive, or
// when the field is chosen after the value. Pure.

import { type FieldInfo, typeOf } from './field-info.ts';
import { type FieldType, typedLiteral } from './filter-edit.ts';
import type { FilterNode } from './filter-node.ts';

/** The filter with typed values in the types of their fields; the same object where nothing changes. */
export function settleTypes<Node extends FilterNode>(node: Node, fields: readonly FieldInfo[]): Node {
  return settle(node, fields, 'unknown') as Node;
}

/** `type` is that of the field that a value is compared with. */
function settle(node: FilterNode, fields: readonly FieldInfo[], type: FieldType): FilterNode {
  const inside = (child: FilterNode, ofField: FieldType = 'unknown') => settle(child, fields, ofField);
  switch (node.kind) {
    case 'literal': {
      if (node.typed === undefined) return node;
      const settled = typedLiteral(node.typed, type);
      return settled.value === node.value ? node : settled;
    }
    case 'group':
      return changed(node, { children: settleAll(node.children, inside) });
    case 'not':
      return changed(node, { child: inside(node.child) });
    case 'compare':
      return changed(node, {
        left: inside(node.left),
        right: inside(node.right, fieldType(node.left, fields)),
      });
    case 'member':
      return changed(node, {
        value: inside(node.value),
        list: settleAll(node.list, element => inside(element, fieldType(node.value, fields))),
      });
    case 'text':
      return changed(node, { input: inside(node.input), needle: inside(node.needle) });
    case 'exists':
    case 'convert':
    case 'size':
      return changed(node, { input: inside(node.input) });
    case 'field':
      return node;
  }
}

/** Type of a field; `unknown` for other nodes. */
export function fieldType(node: FilterNode, fields: readonly FieldInfo[]): FieldType {
  return node.kind === 'field' ? typeOf(fields, node.name) : 'unknown';
}

function settleAll(
  nodes: readonly FilterNode[],
  settleOne: (node: FilterNode) => FilterNode,
): readonly FilterNode[] {
  const settled = nodes.map(node => settleOne(node));
  return settled.some((node, index) => node !== nodes[index]) ? settled : nodes;
}

function changed<Node extends FilterNode>(node: Node, changes: Partial<Node>): Node {
  const isSame = Object.entries(changes).every(([key, value]) => value === node[key as keyof Node]);
  return isSame ? node : { ...node, ...changes };
}
