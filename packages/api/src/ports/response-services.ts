// The port of stored responses: answers of POST /v1/responses that later requests may continue or refer to.

import type { ResponseInputItem, ResponseObject } from '@ortler/schemas';

export interface StoredResponse {
  readonly id: string;
  /** Team or key that may read it; see `responseOwner`. */
  readonly owner: string;
  /** Unit: milliseconds since 1970. */
  readonly createdAtMs: number;
  /** The response that this one continues. */
  readonly previousId: string | null;
  /** Items of the request, without those of the responses before it. */
  readonly input: readonly ResponseInputItem[];
  readonly response: ResponseObject;
}

/** Responses of other owners are the same as none. */
export interface ResponseStore {
  save(stored: StoredResponse): Promise<void>;
  find(id: string, owner: string): Promise<StoredResponse | undefined>;
  /** Whether there was one. */
  remove(id: string, owner: string): Promise<boolean>;
}
