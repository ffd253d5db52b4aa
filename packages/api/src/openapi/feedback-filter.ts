// The grammar of feedback filters as components, in the place of the untyped `query` of its requests.

import { grammarJsonSchema } from '@ortler/feedback-query';
import { type Json, pascalCase } from './component-table.ts';

/** Requests with a filter, and whether theirs may be null. */
const REQUESTS = { FeedbackQueryRequest: true, FeedbackPurgeRequest: false } as const;

/** Adds `FeedbackFilter` and its parts, and refers to it from the requests. Mutates: `components`. */
export function describeFeedbackFilters(components: Record<string, Json>): void {
  const {
    $schema: _,
    $defs,
    ...filter
  } = JSON.parse(
    JSON.stringify(grammarJsonSchema()).replace(
      /"#\/\$defs\/(\w+)"/g,
      (_whole, name: string) => `"#/components/schemas/${componentName(name)}"`,
    ),
  ) as Json & { $defs: Record<string, Json> };
  components.FeedbackFilter = filter;
  for (const [name, schema] of Object.entries($defs)) components[componentName(name)] = schema;
  for (const [name, isNullable] of Object.entries(REQUESTS)) {
    const properties = components[name]!.properties as Record<string, Json>;
    const { description } = properties.query!;
    const reference = { $ref: '#/components/schemas/FeedbackFilter' };
    const type = isNullable ? { anyOf: [reference, { type: 'null' }] } : reference;
    properties.query = { ...type, description };
  }
}

function componentName(definition: string): string {
  return `Feedback${pascalCase(definition)}`;
}
