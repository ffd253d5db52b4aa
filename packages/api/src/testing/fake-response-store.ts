// Stored responses in memory.

import type { ResponseStore, StoredResponse } from '../ports/response-services.ts';

/** Makes the store. */
export function createFakeResponseStore(): ResponseStore {
  const stored = new Map<string, StoredResponse>();
  const find = (id: string, owner: string) => {
    const found = stored.get(id);
    return found?.owner === owner ? found : undefined;
  };
  return {
    save: async response => {
      stored.set(response.id, response);
    },
    find: async (id, owner) => find(id, owner),
    remove: async (id, owner) => find(id, owner) !== undefined && stored.delete(id),
  };
}
