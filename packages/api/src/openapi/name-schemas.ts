// Gives the schemas of the OpenAPI document names, so that generated clients have types such as `ChatCompletion` in place of
// one for each position. The generator writes every schema inline. Here
//
// - a schema that equals an export of @ortler/schemas becomes a component with the name of the export,
// - any other body is named after its operation: `DeleteCheckpointsRequest`,
// - an object inside a component is named after it and its property: `UsagePromptTokensDetails`.

import * as exported from '@ortler/schemas';
import { z } from 'zod';
import { createSchema } from 'zod-openapi';
import {
  ComponentTable,
  isJson,
  isObjectSchema,
  type Json,
  type NamedSchema,
  pascalCase,
} from './component-table.ts';

/** Exports whose components have other names. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  chatChunk: 'ChatCompletionChunk',
  modelRecord: 'Model',
  openAiErrorBody: 'ErrorBody',
};

/** Answers that no operation has inline: errors, and the events of streams. */
const REFERRED_TO = [
  exported.chatChunk,
  exported.completionChunk,
  exported.detailErrorBody,
  exported.openAiErrorBody,
  exported.responseStreamEvent,
  exported.validationErrorBody,
];

type Paths = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** Makes the bodies of all operations refer to components. Returns the components. Mutates: `paths`. */
export function nameSchemas(paths: Paths): Json {
  const table = new ComponentTable(listExports());
  for (const operation of Object.values(paths).flatMap(item => Object.values(item))) {
    const id = pascalCase(String(operation.operationId));
    nameBody(operation.requestBody, table, `${id}Request`);
    nameBody((operation.responses as Json)[200], table, `${id}Response`);
  }
  for (const schema of REFERRED_TO) table.refer(createSchema(schema, { io: 'output' }).schema as Json, '');
  return table.toJson();
}

function nameBody(body: unknown, table: ComponentTable, name: string): void {
  if (!isJson(body) || !isJson(body.content)) return;
  const json = body.content['application/json'];
  if (isJson(json) && isObjectSchema(json.schema)) json.schema = table.refer(json.schema as Json, name);
}

/** Every exported schema of an object or of a union with one, as requests and as answers have it. */
function listExports(): NamedSchema[] {
  return Object.entries(exported).flatMap(([key, value]) => {
    if (!(value instanceof z.ZodType)) return [];
    const name = OTHER_NAMES[key] ?? pascalCase(key);
    return (['input', 'output'] as const)
      .map(io => ({ name, suffix: pascalCase(io) as NamedSchema['suffix'], schema: toJsonSchema(value, io) }))
      .filter((named): named is NamedSchema => named.schema !== null);
  });
}

/** Null where the schema has no such form, or none that is worth a name. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json | null {
  try {
    const json = createSchema(schema, { io }).schema as Json;
    const members = [json, ...((json.anyOf ?? json.oneOf ?? []) as unknown[])];
    return members.some(isObjectSchema) ? json : null;
  } catch {
    // Requests that convert their values have no form as answers.
    return null;
  }
}
