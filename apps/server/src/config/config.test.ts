import { resolve } from 'node:path';
import { DEFAULT_CONSTRAINT_LIMITS } from '@ortler/engine';
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';
import { DEMO_MODEL_DIR } from './settings/model-settings.ts';

function problemsOf(
  environment: Record<string, string>,
  flags: Record<string, string> = {},
): readonly string[] {
  try {
    readConfig(environment, flags);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('readConfig', () => {
  it('has a default for everything', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 8000,
      dataDir: resolve('.ortler'),
      queryTimeLimitMs: 30_000,
      responseRetentionDays: 30,
      models: [{ id: 'ortler-demo', source: DEMO_MODEL_DIR }],
      upstreamKeys: new Map(),
      upstreamConnectMs: 5_000,
      upstreamFirstByteMs: 300_000,
      upstreamSilenceMs: 120_000,
      offline: false,
      device: 'auto',
      precision: 'auto',
      kvCache: 'auto',
      kvEventsFormat: 'array',
      kvEventsTopic: '',
      threads: 0,
      maxSequences: 8,
      chatTemplates: { ofModel: new Map(), ofOthers: undefined },
      reasoningParsers: { ofModel: new Map(), ofOthers: 'auto' },
      toolCalling: 'off',
      toolDialects: { ofModel: new Map(), ofOthers: 'auto' },
      generationConfig: 'on',
      promptCacheScope: 'team',
      maxQueued: 256,
      scheduling: 'fcfs',
      prefixCache: 'on',
      cacheSlots: 4,
      speculation: 'auto',
      stepTimeoutMs: 300_000,
      constraintTimeLimitMs: 2_000,
      constraintSizeBytes: DEFAULT_CONSTRAINT_LIMITS.sourceBytes,
      constraintDepth: DEFAULT_CONSTRAINT_LIMITS.depth,
      constraintValues: DEFAULT_CONSTRAINT_LIMITS.valueCount,
      constraintRules: DEFAULT_CONSTRAINT_LIMITS.ruleCount,
      constraintPatternSize: DEFAULT_CONSTRAINT_LIMITS.patternSize,
      jsonWhitespace: 'canonical',
      jsonNumberLimits: 'on',
      jsonRepetitionGuard: 'on',
      jsonClosedObjects: 'off',
      prefillChunk: 256,
      maxLoadedCheckpoints: 2,
      checkpointIdleMs: 600_000,
      corsOrigins: '*',
      bodyLimitBytes: 8 * 1024 * 1024,
      logBodyLimitBytes: 256 * 1024 * 1024,
      stalledReaderMs: 120_000,
      drainMs: 10_000,
      drainDelayMs: 0,
      logLevel: 'warn',
      keyRequestsPerMinute: 0,
      keyTokensPerMinute: 0,
      keyConcurrency: 0,
      teamRequestsPerMinute: 0,
      teamTokensPerMinute: 0,
      teamConcurrency: 0,
      lowDiskBytes: 256 * 1024 * 1024,
      otlpTracesShare: 1,
      buildMaxAgeDays: 30,
      buildMaxBytes: 0,
      maxCheckpointsPerModel: 1_000,
      maxCheckpointsPerTeam: 10_000,
    });
  });

  it('takes a flag over a variable, and a variable over the default', () => {
    expect(readConfig({ ORTLER_PORT: '1' }, { port: '2' }).port).toBe(2);
    expect(readConfig({ ORTLER_PORT: '1' }).port).toBe(1);
    expect(readConfig({ ORTLER_PORT: '' }).port).toBe(8000);
  });

  it('cannot be changed after it was read', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });

  it('reports every mistake at once, each with its source and what was given', () => {
    expect(problemsOf({ ORTLER_DEVICE: 'tpu', ORTLER_BODY_LIMIT: 'lots' }, { port: '70000' })).toEqual([
      '--port must be a whole number from 0 to 65535 (got "70000").',
      'ORTLER_BODY_LIMIT must be a size such as 500kb or 8mb, from 1kb to 1gb (got "lots").',
      'ORTLER_DEVICE must be one of auto, cpu, webgpu, cuda (got "tpu").',
    ]);
  });

  it('refuses an int8 KV cache on CUDA, before anything is built', () => {
    expect(problemsOf({ ORTLER_DEVICE: 'cuda', ORTLER_KV_CACHE: 'int8' })).toEqual([
      'ORTLER_KV_CACHE=int8 is for ORTLER_DEVICE=cpu and webgpu; models on cuda have f16.',
    ]);
    expect(readConfig({ ORTLER_DEVICE: 'webgpu', ORTLER_KV_CACHE: 'int8' }).kvCache).toBe('int8');
  });

  it('refuses settings that contradict each other or have no effect', () => {
    expect(problemsOf({ ORTLER_METRICS_PORT: '9000', ORTLER_PORT: '9000' })).toEqual([
      'ORTLER_METRICS_PORT and ORTLER_PORT are both 9000; without the first, /metrics is on the port of the API.',
    ]);
    expect(readConfig({ ORTLER_METRICS_PORT: '0', ORTLER_PORT: '0' }).metricsPort).toBe(0);
    const traced = { ORTLER_OTLP_TRACES_ENDPOINT: 'http://localhost:4318/v1/traces' };
    expect(problemsOf({ ...traced, OTEL_EXPORTER_OTLP_CLIENT_KEY: 'key.pem' })).toEqual([
      'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY need each other; only one is set.',
    ]);
    expect(problemsOf({ ORTLER_KV_EVENTS_TOPIC: 'kv', ORTLER_KV_EVENTS_FORMAT: 'map' })).toEqual([
      'ORTLER_KV_EVENTS_TOPIC needs ORTLER_KV_EVENTS.',
      'ORTLER_KV_EVENTS_FORMAT needs ORTLER_KV_EVENTS.',
    ]);
    expect(problemsOf({ ORTLER_REASONING_PARSER: 'think,none' })).toEqual([
      'ORTLER_REASONING_PARSER names two for all models (got "think,none").',
    ]);
    expect(problemsOf({}, { chatTemplates: 'a=x,a=y' })).toEqual([
      '--chat-template names the model a twice (got "a=x,a=y").',
    ]);
  });

  it('takes the words of the Hub for yes and no, and no other', () => {
    for (const [word, offline] of [
      ['1', true],
      ['ON', true],
      ['False', false],
      ['0', false],
    ] as const)
      expect(readConfig({ HF_HUB_OFFLINE: word }).offline).toBe(offline);
    expect(problemsOf({ HF_HUB_OFFLINE: 'ture' })).toEqual([
      'HF_HUB_OFFLINE must be on or off (got "ture").',
    ]);
  });

  it('reports the wrong entry of a list, once', () => {
    expect(problemsOf({ ORTLER_CORS_ORIGINS: '*.example.org' }, { models: 'demo' })).toEqual([
      'ORTLER_CORS_ORIGINS must list origins such as https://example.org; "*.example.org" is not an origin (got "*.example.org").',
      '--models must list id=path pairs, id=URL pairs, paths that exist, or names such as org/model, separated by commas; "demo" is none of these (got "demo").',
    ]);
  });

  it('takes a reasoning parser for all models or for one each', () => {
    const of = (text: string) =>
      readConfig({ ORTLER_REASONING_PARSER: text, ORTLER_MODELS: 'a=/a,b=/b' }).reasoningParsers;
    expect(of('none')).toEqual({ ofModel: new Map(), ofOthers: 'none' });
    expect(of('a=mistral, think')).toEqual({ ofModel: new Map([['a', 'mistral']]), ofOthers: 'think' });
    expect(problemsOf({ ORTLER_REASONING_PARSER: 'a=thnk' })).toEqual([
      'ORTLER_REASONING_PARSER must list names or id=name pairs with a name of auto, none, think, mistral, seed, granite, channels (got "a=thnk").',
    ]);
    expect(problemsOf({ ORTLER_REASONING_PARSER: 'c=think', ORTLER_MODELS: 'a=/a' })).toEqual([
      'ORTLER_REASONING_PARSER names the model c, which is not served. Models: a.',
    ]);
  });

  it('never repeats a secret', () => {
    expect(
      problemsOf({ ORTLER_API_KEY: 'my secret', DATABASE_URL: 'mysql://me:secret@host/database' }),
    ).toEqual([
      'ORTLER_API_KEY must be printable ASCII without spaces.',
      expect.stringContaining(
        'DATABASE_URL must be a URL such as postgres://user:password@host:5432/database.',
      ),
    ]);
  });

  it('explains which data each database stores when their URLs are swapped', () => {
    const [postgres] = problemsOf({ CLICKHOUSE_URL: 'postgres://me:secret@host/database' });
    expect(postgres).toMatch(/^CLICKHOUSE_URL must .* holds feedback only; .*DATABASE_URL\.$/);
    const [clickhouse] = problemsOf({ DATABASE_URL: 'http://me:secret@host:8123/database' });
    expect(clickhouse).toMatch(
      /^DATABASE_URL must .* ClickHouse can take feedback only, by CLICKHOUSE_URL\.$/,
    );
  });

  it('refuses an unknown variable under its prefix and names the near one', () => {
    expect(problemsOf({ ORTLER_MODEL: 'x' })).toEqual([
      'ORTLER_MODEL is not a setting. Did you mean ORTLER_MODELS?',
    ]);
    expect(problemsOf({ ORTLER_TELEMETRY_URL: 'x' })[0]).toContain('Settings: ORTLER_HOST');
    expect(problemsOf({ OTHER: 'x' })).toEqual([]);
  });

  it('ignores service links of Kubernetes for a Service named ortler', () => {
    const links = {
      ORTLER_SERVICE_HOST: '10.0.0.1',
      ORTLER_SERVICE_PORT: '80',
      ORTLER_SERVICE_PORT_HTTP: '80',
      ORTLER_PORT: 'tcp://10.0.0.1:80',
      ORTLER_PORT_80_TCP: 'tcp://10.0.0.1:80',
      ORTLER_PORT_80_TCP_ADDR: '10.0.0.1',
      ORTLER_GPU_SERVICE_HOST: '10.0.0.2',
      ORTLER_GPU_PORT: 'tcp://10.0.0.2:80',
    };
    expect(readConfig(links).port).toBe(8000);
    expect(readConfig({ ...links, ORTLER_PORT: '9000' }).port).toBe(9000);
    expect(problemsOf({ ...links, ORTLER_PORT: 'http' })).toHaveLength(1);
    expect(problemsOf({ ORTLER_PORT: 'tcp://10.0.0.1:80' })).toHaveLength(1);
    expect(problemsOf({ ...links, ORTLER_SERVICE_NAME: 'x' })).toHaveLength(1);
  });

  it('reads several models and resolves their folders', () => {
    expect(readConfig({ ORTLER_MODELS: 'a=/m/a, org/b=rel' }).models).toEqual([
      { id: 'a', source: '/m/a' },
      { id: 'org/b', source: resolve('rel') },
    ]);
  });

  it('reads names of the Hub, with an id or as their own', () => {
    const list = 'a=org/model@v1, https://huggingface.co/org/other:q8_0 ,org/third@main';
    expect(readConfig({ ORTLER_MODELS: list }).models).toEqual([
      { id: 'a', source: 'org/model@v1' },
      { id: 'org/other:q8_0', source: 'org/other:q8_0' },
      { id: 'org/third', source: 'org/third' },
    ]);
  });

  it('takes a path that exists over a name, with its last part as id', () => {
    expect(readConfig({ ORTLER_MODELS: `${DEMO_MODEL_DIR},a=${DEMO_MODEL_DIR}` }).models).toEqual([
      { id: 'demo', source: DEMO_MODEL_DIR },
      { id: 'a', source: DEMO_MODEL_DIR },
    ]);
  });

  it('reads the variables of the Hub, and never repeats its token', () => {
    expect(readConfig({ HF_HUB_OFFLINE: '1' }).offline).toBe(true);
    expect(readConfig({ HF_HUB_OFFLINE: '1' }, { offline: 'off' }).offline).toBe(false);
    expect(readConfig({ HF_HUB_CACHE: '/c', HF_TOKEN: 't' })).toMatchObject({
      hubCacheDir: '/c',
      hubToken: 't',
    });
    expect(problemsOf({ HF_ENDPOINT: 'x' })[0]).toContain('HF_ENDPOINT must be a URL');
  });

  it.each([
    ['a', 'must list id=path pairs'],
    ['./no/such/folder', 'must list id=path pairs'],
    ['org/a,org/a@main', 'names the model org/a twice'],
    ['a=/x,a=/y', 'names the model a twice'],
    ['=x', 'must list id=path pairs'],
  ])('refuses the model list %s', (text, problem) => {
    expect(problemsOf({ ORTLER_MODELS: text })[0]).toContain(problem);
  });

  it('reads sizes with units', () => {
    expect(readConfig({ ORTLER_BODY_LIMIT: '2048' }).bodyLimitBytes).toBe(2048);
    expect(readConfig({ ORTLER_BODY_LIMIT: '3KB' }).bodyLimitBytes).toBe(3072);
  });

  it('reads origins and refuses invalid ones', () => {
    expect(readConfig({ ORTLER_CORS_ORIGINS: 'none' }).corsOrigins).toEqual([]);
    expect(readConfig({ ORTLER_CORS_ORIGINS: 'https://a.example' }).corsOrigins).toEqual([
      'https://a.example',
    ]);
    expect(problemsOf({ ORTLER_CORS_ORIGINS: 'a.example/' })[0]).toContain('must list origins');
  });
});

it('refuses KV-cache events that nobody would get', () => {
  const events = { ORTLER_KV_EVENTS: 'tcp://*:5557' };
  expect(readConfig(events).kvEvents).toEqual({ host: '*', port: 5557 });
  expect(() => readConfig({ ORTLER_KV_EVENTS: '5557' })).toThrow(
    'ORTLER_KV_EVENTS must be an address such as tcp://*:5557 (got "5557").',
  );
  expect(() => readConfig({ ...events, ORTLER_PREFIX_CACHE: 'off' })).toThrow('needs --prefix-cache on');
  expect(() => readConfig({ ORTLER_KV_EVENTS_REPLAY: 'tcp://*:5558' })).toThrow('needs ORTLER_KV_EVENTS.');
});
