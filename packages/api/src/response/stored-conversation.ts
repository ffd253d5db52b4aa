// The items of a request in full: those of the responses that it continues, and the stored items that it refers to.

import {
  type ResponseInputItem,
  type ResponseOutputItem,
  type ResponseRequest,
  responseInputItem,
} from '@ortler/schemas';
import type { ResponseStore, StoredResponse } from '../ports/response-services.ts';
import type { Principal } from '../ports/services.ts';
import { ApiError } from '../trpc/errors.ts';
import { inputItemId, readItemId } from './item-ids.ts';

/** Maximum number of responses before one, which are read one after the other. */
export const MAX_CONTINUED_COUNT = 1_000;

export interface FullInput {
  /** Items of the responses before this one, oldest first. */
  readonly history: readonly ResponseInputItem[];
  /** Items of the request itself. */
  readonly items: readonly ResponseInputItem[];
}

/** What stored responses a caller may use. */
export interface ResponseAccess {
  /** Null: responses are not stored. */
  readonly store: ResponseStore | null;
  readonly owner: string;
}

/** The owner of a caller's responses: its team, or the key alone. */
export function responseOwner({ team, keyId }: Principal): string {
  return JSON.stringify(team === undefined ? ['key', keyId] : ['team', team]);
}

/** Throws: `unsupported_parameter` where nothing is stored, `not_found` for what is not (or no longer) there. */
export async function readFullInput(
  { input, previous_response_id: previousId }: Pick<ResponseRequest, 'input' | 'previous_response_id'>,
  access: ResponseAccess,
): Promise<FullInput> {
  const history = previousId == null ? [] : await readHistory(previousId, access);
  if (typeof input === 'string')
    return { history, items: [{ type: 'message', role: 'user', content: input }] };
  const items: ResponseInputItem[] = [];
  for (const [index, item] of input.entries())
    items.push(item.type === 'item_reference' ? await readItem(item.id, `input.${index}`, access) : item);
  return { history, items };
}

async function readHistory(lastId: string, access: ResponseAccess): Promise<ResponseInputItem[]> {
  const chain = await readChain(lastId, 'previous_response_id', access);
  return chain.flatMap(({ input, response }) => [...input, ...toInputItems(response.output)]);
}

/**
 * A stored response and all those that it continues, oldest first. `place`: the field that has the id.
 * Throws: as `readFullInput`.
 */
export async function readChain(
  lastId: string,
  place: string,
  access: ResponseAccess,
): Promise<StoredResponse[]> {
  const chain: StoredResponse[] = [];
  for (let id: string | null = lastId; id !== null; id = chain.at(-1)!.previousId) {
    if (chain.length === MAX_CONTINUED_COUNT)
      throw new ApiError(
        'invalid_parameter',
        `${place} continues more than ${MAX_CONTINUED_COUNT} responses; send the items of the conversation as input.`,
        { param: place },
      );
    chain.push(await readResponse(id, place, access));
  }
  return chain.reverse();
}

async function readItem(id: string, place: string, access: ResponseAccess): Promise<ResponseInputItem> {
  const found = readItemId(id);
  const missing = new ApiError('not_found', `${place}: there is no stored item ${shorten(id)}.`, {
    param: place,
  });
  if (found === null) throw missing;
  const { input, response } = await readResponse(found.responseId, place, access);
  const { isInput, index } = found;
  const item = isInput ? input[index] : response.output[index];
  if (item === undefined || (isInput ? inputItemId(item, found.responseId, index) : item.id) !== id)
    throw missing;
  return isInput ? (item as ResponseInputItem) : toInputItems([item as ResponseOutputItem])[0]!;
}

async function readResponse(
  id: string,
  place: string,
  { store, owner }: ResponseAccess,
): Promise<StoredResponse> {
  if (store === null)
    throw new ApiError(
      'unsupported_parameter',
      `${place}: responses are not stored on this server. Send the items of the conversation as input.`,
      { param: place },
    );
  const stored = await store.find(id, owner);
  if (stored !== undefined) return stored;
  throw new ApiError('not_found', `${place}: there is no stored response ${shorten(id)}.`, { param: place });
}

/** Output of an answer as items of a later input. */
function toInputItems(output: StoredResponse['response']['output']): ResponseInputItem[] {
  return output.map(item => responseInputItem.parse(item));
}

function shorten(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
