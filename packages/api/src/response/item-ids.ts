// Ids of items name their response and their place in it, so that a reference needs no index.

import type { ResponseInputItem } from '@ortler/schemas';

const PREFIXES = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  item_reference: 'ref',
} as const;

/** Kind, hexadecimal id of the response, `i` for an item of the request, and the place. */
const ITEM_ID = /^(?:msg|rs|fc|fco)_([0-9a-f]+)_(i?)(\d+)$/;

export interface ItemPlace {
  readonly responseId: string;
  readonly isInput: boolean;
  readonly index: number;
}

/** The id of an item of a request: that of the caller, or one of its place. */
export function inputItemId(item: ResponseInputItem, responseId: string, index: number): string {
  return item.id ?? `${PREFIXES[item.type]}_${responseId.replace(/^resp_/, '')}_i${index}`;
}

/** Null for an id that no item here has. */
export function readItemId(id: string): ItemPlace | null {
  const [, hex, input, index] = ITEM_ID.exec(id) ?? [];
  return hex === undefined
    ? null
    : { responseId: `resp_${hex}`, isInput: input === 'i', index: Number(index) };
}
