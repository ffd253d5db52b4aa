// Ports for the validation of annotations: specs, queues and a JSON Schema validator.

import type { JsonSchemaChecker } from '@ortler/structured-output';

export interface AnnotationSpec {
  readonly projectId: string;
  readonly name: string;
  /** Hash of the schema, so that creating the same spec twice gives one spec. */
  readonly digest: string;
  /** JSON Schema of the value, as JSON text. */
  readonly fieldSchema: string;
}

export interface AnnotationSpecStore {
  find(key: Omit<AnnotationSpec, 'fieldSchema'>): Promise<AnnotationSpec | null>;
  /** Idempotent: a spec that exists already is not an error. */
  save(spec: AnnotationSpec): Promise<void>;
}

export interface AnnotationQueueStore {
  /** Whether the queue exists and is not deleted. */
  isOpen(projectId: string, id: string): Promise<boolean>;
  /** Creates a queue, or reopens a deleted one. */
  open(projectId: string, id: string): Promise<void>;
  /** Idempotent: a queue that does not exist is not an error. */
  delete(projectId: string, id: string): Promise<void>;
}

export interface AnnotationServices {
  readonly specs: AnnotationSpecStore;
  readonly queues: AnnotationQueueStore;
  readonly schemas: JsonSchemaChecker;
}
