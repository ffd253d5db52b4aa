// GET /v1/responses/{id}/input_items: the items that a stored response answered, those of the responses before it included.

import type {
  ResponseInputItem,
  ResponseInputItemList,
  ResponseInputPart,
  ResponseListedItem,
} from '@ortler/schemas';
import { ApiError } from '../trpc/errors.ts';
import { inputItemId } from './item-ids.ts';
import { type ResponseAccess, readChain } from './stored-conversation.ts';

export interface ItemPage {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/** Throws: `not_found` for a response that is not stored, `invalid_parameter` for a cursor that is not one of its items. */
export async function listInputItems(
  id: string,
  { after, limit, order }: ItemPage,
  access: ResponseAccess,
): Promise<ResponseInputItemList> {
  const chain = await readChain(id, 'response_id', access);
  const items = chain.flatMap(({ id: responseId, input, response }, index) => {
    const given = input.map((item, at) => toListedItem(item, inputItemId(item, responseId, at)));
    const isLast = index === chain.length - 1;
    return isLast ? given : [...given, ...response.output.map(item => toListedItem(item, item.id))];
  });
  if (order === 'desc') items.reverse();
  const start = after === undefined ? 0 : items.findIndex(item => item.id === after) + 1;
  if (after !== undefined && start === 0)
    throw new ApiError(
      'invalid_parameter',
      `after: there is no item ${JSON.stringify(after.slice(0, 100))}.`,
      {
        param: 'after',
      },
    );
  const data = items.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  };
}

/** Items of answers are input items with more fields. */
function toListedItem(item: ResponseInputItem, id: string): ResponseListedItem {
  switch (item.type) {
    case 'message':
      return { ...item, id, status: item.status ?? 'completed', content: toParts(item.content, item.role) };
    case 'function_call_output': {
      const output = typeof item.output === 'string' ? item.output : toParts(item.output, 'user');
      return { ...item, id, status: item.status ?? 'completed', output };
    }
    case 'function_call':
    case 'reasoning':
      return { ...item, id, status: item.status ?? 'completed' };
    case 'item_reference':
      throw new Error(`The reference to the item ${item.id} was stored.`);
  }
}

type ListedPart = Extract<ResponseListedItem, { type: 'message' }>['content'][number];

function toParts(content: string | readonly ResponseInputPart[], role: string): ListedPart[] {
  const parts: readonly ResponseInputPart[] =
    typeof content === 'string'
      ? [{ type: role === 'assistant' ? 'output_text' : 'input_text', text: content }]
      : content;
  return parts.map(part => {
    switch (part.type) {
      case 'input_text':
      case 'refusal':
        return part;
      case 'output_text':
        return { ...part, annotations: [], logprobs: [] };
      default:
        throw new Error(`A part of type ${part.type} was stored.`);
    }
  });
}
