// Kysely types of the annotation tables: specs and queues. Times are in milliseconds since 1970.

export interface AnnotationSpecsTable {
  readonly project_id: string;
  readonly name: string;
  readonly digest: string;
  /** JSON Schema of the value. */
  readonly field_schema: string;
  readonly created_at: number;
}

export interface AnnotationQueuesTable {
  readonly project_id: string;
  readonly id: string;
  readonly created_at: number;
  readonly deleted_at: number | null;
}
