// The OpenAPI 3.1 document, generated from the procedures and completed with parts that the generator does not support:
// security schemes, error bodies by style, streamed replies.

import {
  chatCompletionRequestExamples,
  completionRequestExamples,
  detokenizeRequestExamples,
  feedbackCreateRequestExamples,
  feedbackQueryRequestExamples,
  responseRequestExamples,
  tokenizeRequestExamples,
} from '@ortler/schemas';
import { generateOpenApiDocument } from 'trpc-to-openapi';
import type { AppRouter } from './app-router.ts';
import { describeSupport } from './generation/parameter-support.ts';
import type { Json } from './openapi/component-table.ts';
import { describeFeedbackFilters } from './openapi/feedback-filter.ts';
import { nameSchemas } from './openapi/name-schemas.ts';
import { listRestRoutes, type RestRoute } from './rest-routes.ts';
import { type ApiErrorCode, ERROR_TABLE } from './trpc/errors.ts';
import { JSON_TEXT } from './trpc/json-text.ts';

export interface OpenApiOptions {
  readonly version: string;
  /** Server address, which may be relative to the document. Default: `.`, which includes the path prefix of a proxy. */
  readonly baseUrl?: string;
}

/** In the order of the document. */
const TAGS = [
  'chat',
  'completions',
  'responses',
  'tokenizer',
  'models',
  'usage',
  'training models',
  'trajectories',
  'checkpoints',
  'feedback',
];

/** Errors of every route of a style, which are documented by status. */
const REASONS = {
  openai: {
    common: ['malformed_request', 'unauthorized', 'internal'],
    body: ['model_not_found', 'body_too_large', 'overloaded', 'model_unavailable'],
  },
  detail: {
    common: ['malformed_request', 'unauthorized', 'invalid_input', 'internal'],
    body: ['body_too_large'],
  },
} as const;

/** Example bodies for trying an operation on the docs page; the generator would fill in empty strings. */
const BODY_EXAMPLES: Readonly<Record<string, unknown>> = {
  createChatCompletion: chatCompletionRequestExamples.valid[0],
  queryFeedback: feedbackQueryRequestExamples.valid[1],
  createFeedback: feedbackCreateRequestExamples.valid[0],
  createResponse: responseRequestExamples.valid[1],
  createCompletion: completionRequestExamples.valid[0],
  tokenize: tokenizeRequestExamples.valid[0],
  detokenize: detokenizeRequestExamples.valid[0],
};

const REQUEST_ID_HEADER = {
  'X-Request-Id': {
    description: 'The id sent by the client, or the one generated for this request.',
    schema: { type: 'string' },
  },
};

const RETRY_AFTER_HEADER = {
  'Retry-After': {
    description: 'When to try again, if it is known. Unit: seconds.',
    schema: { type: 'integer' },
  },
};
const MAY_BE_TRIED_AGAIN: ReadonlySet<ApiErrorCode> = new Set(['overloaded', 'model_unavailable']);

/** Builds the document. */
export function createOpenApiDocument(router: AppRouter, { version, baseUrl = '.' }: OpenApiOptions): Json {
  const document = generateOpenApiDocument(router, {
    title: 'Ortler',
    version,
    description:
      'LLM inference on ONNX Runtime: chat completions, completions, tokenization, models, training (trajectories and checkpoints), and feedback.',
    baseUrl,
    tags: TAGS,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'An API key of this server.' },
      basic: {
        type: 'http',
        scheme: 'basic',
        description: 'Any user name, with an API key of this server as the password.',
      },
    },
  }) as unknown as Json;
  const paths = document.paths as Record<string, Record<string, Json>>;
  for (const route of listRestRoutes(router))
    finishOperation(paths[route.path]![route.method.toLowerCase()]!, route);
  const schemas = nameSchemas(paths) as Record<string, Json>;
  describeFeedbackFilters(schemas);
  // Fields of the same name have the same support in both endpoints.
  for (const name of ['ChatCompletionRequest', 'CompletionRequest']) describeParameters(schemas[name]!);
  (document.components as Json).schemas = schemas;
  return document;
}

// Appends the support of each field, such as "accepted without effect", to its description.
function describeParameters(request: Json): void {
  const properties = request.properties as Record<string, Json>;
  for (const [field, schema] of Object.entries(properties)) {
    if (schema.type === 'null') {
      // Fields that are refused are not offered to generated clients.
      delete properties[field];
      continue;
    }
    const support = describeSupport(field);
    if (support !== null) schema.description = [schema.description, support].filter(Boolean).join(' ');
  }
}

function finishOperation(
  operation: Json,
  { method, auth, errors, streams, lines, fails, requiredFields }: RestRoute,
): void {
  operation.security = auth === 'none' ? [] : [{ [auth]: [] }];
  const example = BODY_EXAMPLES[String(operation.operationId)];
  if (example !== undefined) {
    const { content } = operation.requestBody as { content: Record<string, Json> };
    content['application/json']!.example = example;
  }
  const { 200: ok } = operation.responses as Record<number, Json>;
  const success: Json = { ...ok, headers: REQUEST_ID_HEADER };
  showParsed(success);
  if (streams !== null) {
    const content = success.content as Record<string, { schema: Json }>;
    // The generator documents a union of stream and completion; the JSON reply is the completion alone.
    const [, completion] = (content['application/json']!.schema.anyOf ?? []) as Json[];
    success.content = {
      'application/json': { schema: completion },
      'text/event-stream': {
        schema: {
          type: 'string',
          description: describeStream(streams),
          contentMediaType: 'application/json',
          contentSchema: { $ref: `#/components/schemas/${streams}` },
        },
      },
    };
  }
  if (lines) {
    const schema = {
      type: 'string',
      description: 'One JSON object per line, in the shape of the list items.',
    };
    success.content = { 'application/x-ndjson': { schema } };
  }
  // The generator takes fields that convert their value for optional ones.
  for (const parameter of (operation.parameters ?? []) as Json[])
    if (parameter.in === 'query' && requiredFields.includes(String(parameter.name)))
      parameter.required = true;
  if (method === 'DELETE') moveQueryToBody(operation);
  const { common, body } = REASONS[errors];
  const reasons = [...common, ...(method === 'GET' ? [] : body), ...fails];
  operation.responses = { 200: success, ...errorResponses(reasons, errors) };
}

/** Results that are handed on as JSON text are documented as what the text holds. Mutates: the response. */
function showParsed({ content }: Json): void {
  const json = (content as Record<string, { schema: Json }> | undefined)?.['application/json'];
  const [text, parsed] = (json?.schema.anyOf ?? []) as Json[];
  if (json !== undefined && text?.contentMediaType === JSON_TEXT.contentMediaType) json.schema = parsed!;
}

function describeStream(streams: NonNullable<RestRoute['streams']>): string {
  return streams === 'ResponseStreamEvent'
    ? 'With `stream: true`: an `event:` line with the type and a `data:` line per event, each a ResponseStreamEvent.'
    : `With \`stream: true\`: one \`data:\` line per chunk, each a ${streams}, then \`data: [DONE]\`.`;
}

/** Moves the fields of DELETE to the body, because the generator documents them as query parameters. */
function moveQueryToBody(operation: Json): void {
  const parameters = (operation.parameters ?? []) as {
    in: string;
    name: string;
    required?: boolean;
    schema: Json;
  }[];
  const fields = parameters.filter(parameter => parameter.in === 'query');
  if (fields.length === 0) return;
  operation.parameters = parameters.filter(parameter => parameter.in !== 'query');
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map(field => [field.name, field.schema])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
  operation.requestBody = { required: true, content: { 'application/json': { schema } } };
}

function errorResponses(reasons: readonly ApiErrorCode[], style: 'openai' | 'detail'): Json {
  const nameOf = (reason: ApiErrorCode) => {
    if (style === 'openai') return 'ErrorBody';
    return reason === 'invalid_input' ? 'ValidationErrorBody' : 'DetailErrorBody';
  };
  return Object.fromEntries(
    reasons.map(reason => [
      ERROR_TABLE[reason].status,
      {
        description: `${ERROR_TABLE[reason].type} (\`${reason}\`)`,
        headers: MAY_BE_TRIED_AGAIN.has(reason)
          ? { ...REQUEST_ID_HEADER, ...RETRY_AFTER_HEADER }
          : REQUEST_ID_HEADER,
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${nameOf(reason)}` } } },
      },
    ]),
  );
}
