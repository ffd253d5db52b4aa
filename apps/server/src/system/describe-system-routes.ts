// The system routes in the OpenAPI document, whose other paths come from the procedures of the api.

type Json = { [key: string]: unknown };

const TAG = 'system';
const TEXT = { type: 'string' };

const HEALTH_REPORT: Json = {
  type: 'object',
  properties: {
    status: {
      type: 'string',
      enum: ['ok', 'degraded', 'loading', 'unavailable'],
      description:
        '`ok`: every model answers; `degraded`: some do; `loading`: none yet; `unavailable`: none.',
    },
    device: { type: 'object', description: 'The device of the models, once it is chosen.' },
    models: {
      type: 'array',
      items: { $ref: '#/components/schemas/HealthReportModel' },
      description: 'The configured models.',
    },
    databases: {
      type: 'array',
      items: { type: 'object' },
      description: 'Databases besides the main one.',
    },
  },
  required: ['status', 'models'],
};

const HEALTH_REPORT_MODEL: Json = {
  type: 'object',
  properties: {
    id: { ...TEXT, description: 'Id of the model.' },
    state: { type: 'string', enum: ['loading', 'ready', 'restarting', 'failed'] },
    detail: { ...TEXT, description: 'What it waits for, or why it failed.' },
  },
  required: ['id', 'state'],
};

const VERSION: Json = {
  type: 'object',
  properties: { version: { ...TEXT, description: 'Version of the server.' } },
  required: ['version'],
};

const health = (operationId: string) => ({
  ...operation(operationId, 'Tell whether requests should be sent here', 'HealthReport'),
  responses: {
    200: reply('Some model answers', 'HealthReport'),
    503: {
      ...reply('No model answers', 'HealthReport'),
      headers: { 'Retry-After': { description: 'Unit: seconds.', schema: { type: 'integer' } } },
    },
  },
});

/** Adds the routes. Mutates: `document`. */
export function describeSystemRoutes(document: Json): Json {
  Object.assign(document.paths as Json, {
    '/health': { get: health('getHealth') },
    '/ping': { get: health('ping'), post: health('postPing') },
    '/version': { get: operation('getVersion', 'Tell the version of the server', 'Version') },
    '/metrics': {
      get: {
        ...operation('getMetrics', 'Metrics for Prometheus', null),
        responses: { 200: { description: 'The metrics', content: { 'text/plain': { schema: TEXT } } } },
      },
    },
  });
  const { schemas } = document.components as { schemas: Json };
  Object.assign(schemas, {
    HealthReport: HEALTH_REPORT,
    HealthReportModel: HEALTH_REPORT_MODEL,
    Version: VERSION,
  });
  (document.tags as Json[]).push({ name: TAG });
  return document;
}

function operation(operationId: string, summary: string, component: string | null): Json {
  return {
    operationId,
    summary,
    tags: [TAG],
    security: [],
    ...(component !== null && { responses: { 200: reply(summary, component) } }),
  };
}

function reply(description: string, component: string): Json {
  return {
    description,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${component}` } } },
  };
}
