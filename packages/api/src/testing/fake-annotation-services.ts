// Annotation specs and queues in memory; every schema is fine and every value satisfies it.

import type { AnnotationServices, AnnotationSpec } from '../ports/annotation-services.ts';

/** Makes the services. */
export function createFakeAnnotationServices(): AnnotationServices {
  const specs = new Map<string, AnnotationSpec>();
  const queues = new Set<string>();
  const keyOf = (...parts: readonly string[]) => JSON.stringify(parts);
  return {
    specs: {
      find: async ({ projectId, name, digest }) => specs.get(keyOf(projectId, name, digest)) ?? null,
      save: async spec => {
        specs.set(keyOf(spec.projectId, spec.name, spec.digest), spec);
      },
    },
    queues: {
      isOpen: async (projectId, id) => queues.has(keyOf(projectId, id)),
      open: async (projectId, id) => {
        queues.add(keyOf(projectId, id));
      },
      delete: async (projectId, id) => {
        queues.delete(keyOf(projectId, id));
      },
    },
    schemas: {
      checkSchema: async () => undefined,
      findViolation: async () => null,
      close: async () => undefined,
    },
  };
}
