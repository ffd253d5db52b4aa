// Ports of what annotations are checked with: specs, queues, and an evaluator of JSON Schemas.

import type { JsonSchemaChecker } from '@ortler/structured-output';

export interface AnnotationSpec {
  readonly projectId: string;
  readonly name: string;
  /** Follows from the schema: the same spec made twice is one. */
  readonly digest: string;
  /** JSON Schema of the value, as JSON text. */
  readonly fieldSchema: string;
}

export interface AnnotationSpecStore {
  find(key: Omit<AnnotationSpec, 'fieldSchema'>): Promise<AnnotationSpec | null>;
  /** A spec that is there already is no error. */
  save(spec: AnnotationSpec): Promise<void>;
}

export interface AnnotationQueueStore {
  /** Whether there is such a queue that was not deleted. */
  isOpen(projectId: string, id: string): Promise<boolean>;
  /** Opens a queue, also one that was deleted. */
  open(projectId: string, id: string): Promise<void>;
  /** A queue that is not there is no error. */
  delete(projectId: string, id: string): Promise<void>;
}

export interface AnnotationServices {
  readonly specs: AnnotationSpecStore;
  readonly queues: AnnotationQueueStore;
  readonly schemas: JsonSchemaChecker;
}
