// Kysely type of the table of stored responses. Times are in milliseconds since 1970.

export interface ResponsesTable {
  readonly id: string;
  /** Team or key that may read it. */
  readonly owner: string;
  readonly created_at: number;
  readonly previous_id: string | null;
  /** Items of the request, as JSON. */
  readonly input: string;
  /** The answer, as JSON. */
  readonly response: string;
}
