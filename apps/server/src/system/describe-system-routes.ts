// The system routes in the OpenAPI document, whose other paths come from the procedures of the api.

type Json = { [key: string]: unknown };

const TAG = 'system';
const TEXT = { type: 'string' };

const HEALTH_REPORT: Json = {
  type: 'object',
  properties: {
    status: {
      type: 'string',
      enum: ['ok', 'degraded', 'loading', 'unavailable', 'stopping'],
      description:
        '`ok`: every model answers and storage is sound; `degraded`: some models answer, or storage has a fault; `loading`: no model yet; `unavailable`: no model; `stopping`: requests should go elsewhere.',
    },
    device: { type: 'object', description: 'The device of the models, once it is chosen.' },
    models: {
      type: 'array',
      items: { $ref: '#/components/schemas/HealthReportModel' },
      description: 'The configured models.',
    },
    disk: { $ref: '#/components/schemas/HealthReportDisk' },
    databases: {
      type: 'array',
      items: { $ref: '#/components/schemas/HealthReportDatabase' },
      description: 'The databases, the main one first.',
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

const HEALTH_REPORT_DISK: Json = {
  type: 'object',
  description: 'The disk of the data folder.',
  properties: {
    state: {
      type: 'string',
      enum: ['ok', 'low', 'full', 'unwritable', 'missing'],
      description: '`low`: less free space than configured; `missing`: the data folder is gone.',
    },
    free_bytes: { type: 'integer', description: 'Free space, where it is known.' },
  },
  required: ['state'],
};

const HEALTH_REPORT_DATABASE: Json = {
  type: 'object',
  properties: {
    name: { ...TEXT, description: '`sqlite`, `postgres` or `clickhouse`.' },
    state: {
      type: 'string',
      enum: ['ready', 'unreachable', 'read_only', 'corrupt', 'lost'],
      description:
        '`read_only`: PostgreSQL takes no writes; `corrupt`: the file is damaged; `lost`: it was removed.',
    },
  },
  required: ['name', 'state'],
};

const READINESS_REPORT: Json = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['ready', 'not_ready', 'stopping'] },
    missing: {
      type: 'array',
      items: { type: 'string', enum: ['models', 'database'] },
      description: 'What does not answer.',
    },
  },
  required: ['status'],
};

const LIVENESS_REPORT: Json = {
  type: 'object',
  properties: { status: { type: 'string', enum: ['alive'] } },
  required: ['status'],
};

const MODEL_INFO: Json = {
  type: 'object',
  properties: {
    model_path: { ...TEXT, description: 'Id of the default model.' },
    served_model_name: { ...TEXT, description: 'The same.' },
    tokenizer_path: { ...TEXT, description: 'The same.' },
    is_generation: { type: 'boolean', description: 'True: the model generates text.' },
    model_type: { ...TEXT, description: 'Architecture, once the model is loaded.' },
  },
  required: ['model_path', 'served_model_name', 'tokenizer_path', 'is_generation'],
};

const SERVER_INFO: Json = {
  type: 'object',
  properties: {
    ...(MODEL_INFO.properties as Json),
    version: { ...TEXT, description: 'Version of the server.' },
    max_running_requests: {
      type: 'integer',
      description: 'Maximum number of concurrent answers, once the model is loaded.',
    },
    context_length: {
      type: 'integer',
      description: 'Maximum number of tokens of prompt and answer together, once the model is loaded.',
    },
  },
  required: [...(MODEL_INFO.required as string[]), 'version'],
};

const VERSION: Json = {
  type: 'object',
  properties: { version: { ...TEXT, description: 'Version of the server.' } },
  required: ['version'],
};

const health = (operationId: string) =>
  probe(operationId, {
    summary: 'Report the state of models, disk and databases',
    component: 'HealthReport',
    well: 'Some model answers',
    ill: 'No model answers',
  });

const readiness = probe('getReadiness', {
  summary: 'Report whether requests should be sent here',
  component: 'ReadinessReport',
  well: 'Some model and the main database answer',
  ill: 'One of them does not',
});

function probe(
  operationId: string,
  { summary, component, well, ill }: Readonly<Record<'summary' | 'component' | 'well' | 'ill', string>>,
): Json {
  return {
    ...operation(operationId, summary, component),
    responses: {
      200: reply(well, component),
      503: {
        ...reply(ill, component),
        headers: { 'Retry-After': { description: 'Unit: seconds.', schema: { type: 'integer' } } },
      },
    },
  };
}

/** Adds the routes. Mutates: `document`. */
export function describeSystemRoutes(document: Json): Json {
  Object.assign(document.paths as Json, {
    '/health': { get: health('getHealth') },
    '/health/live': {
      get: operation('getLiveness', 'Report that the process answers', 'LivenessReport'),
    },
    '/health/ready': { get: readiness },
    '/ping': { get: health('ping'), post: health('postPing') },
    '/version': { get: operation('getVersion', 'Report the version of the server', 'Version') },
    '/server_info': {
      get: operation('getServerInfo', 'Describe the default model and its limits, for routers', 'ServerInfo'),
    },
    '/model_info': { get: operation('getModelInfo', 'Describe the default model, for routers', 'ModelInfo') },
    '/metrics': {
      get: {
        ...operation('getMetrics', 'Metrics for Prometheus, where they have no port of their own', null),
        responses: { 200: { description: 'The metrics', content: { 'text/plain': { schema: TEXT } } } },
      },
    },
  });
  const { schemas } = document.components as { schemas: Json };
  Object.assign(schemas, {
    HealthReport: HEALTH_REPORT,
    HealthReportDatabase: HEALTH_REPORT_DATABASE,
    HealthReportDisk: HEALTH_REPORT_DISK,
    HealthReportModel: HEALTH_REPORT_MODEL,
    LivenessReport: LIVENESS_REPORT,
    ModelInfo: MODEL_INFO,
    ReadinessReport: READINESS_REPORT,
    ServerInfo: SERVER_INFO,
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
