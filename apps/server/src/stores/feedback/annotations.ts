// Annotation specs and queues. They are in the transactional database, also when feedback is in ClickHouse.

import type { AnnotationServices } from '@ortler/api';
import type { Database } from '../../db/database.ts';

/** @param now Unit: milliseconds since 1970. */
export function createAnnotationStores(
  { db }: Pick<Database, 'db'>,
  now: () => number,
): Pick<AnnotationServices, 'specs' | 'queues'> {
  return {
    specs: {
      async find({ projectId, name, digest }) {
        const row = await db
          .selectFrom('annotation_specs')
          .select('field_schema')
          .where('project_id', '=', projectId)
          .where('name', '=', name)
          .where('digest', '=', digest)
          .executeTakeFirst();
        return row === undefined ? null : { projectId, name, digest, fieldSchema: row.field_schema };
      },
      async save({ projectId, name, digest, fieldSchema }) {
        await db
          .insertInto('annotation_specs')
          .values({ project_id: projectId, name, digest, field_schema: fieldSchema, created_at: now() })
          .onConflict(conflict => conflict.columns(['project_id', 'name', 'digest']).doNothing())
          .execute();
      },
    },
    queues: {
      async isOpen(projectId, id) {
        const row = await db
          .selectFrom('annotation_queues')
          .select('id')
          .where('project_id', '=', projectId)
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .executeTakeFirst();
        return row !== undefined;
      },
      async open(projectId, id) {
        await db
          .insertInto('annotation_queues')
          .values({ project_id: projectId, id, created_at: now(), deleted_at: null })
          .onConflict(conflict => conflict.columns(['project_id', 'id']).doUpdateSet({ deleted_at: null }))
          .execute();
      },
      async delete(projectId, id) {
        await db
          .updateTable('annotation_queues')
          .set({ deleted_at: now() })
          .where('project_id', '=', projectId)
          .where('id', '=', id)
          .execute();
      },
    },
  };
}
