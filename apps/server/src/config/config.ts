// Reads settings from flags and environment variables into one frozen Config, or reports every mistake at once.

import { closestWord } from './closest-word.ts';
import { findServiceLinks } from './service-links.ts';
import type { Setting } from './settings/setting.ts';
import { UPSTREAM_KEY_PREFIX } from './settings/upstream-settings.ts';
import { SETTINGS } from './settings.ts';
import { readUpstreamKeys } from './upstream-keys.ts';

/** The checked settings of one process. */
export type Config = {
  readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name] extends Setting<infer Value>
    ? Value
    : never;
} & {
  /** Keys of single models of other servers, by their ids. */
  readonly upstreamKeys: ReadonlyMap<string, string>;
};

/** All mistakes of a configuration; `message` is for the terminal, without a stack. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`}:\n${problems.map(problem => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

const PREFIX = 'ORTLER_';

/**
 * Reads the configuration. Empty variables and those that Kubernetes sets for Services count as absent.
 * @param flags Values of flags by setting name, as text.
 * Throws: `ConfigError`.
 */
export function readConfig(
  variables: Readonly<Record<string, string | undefined>>,
  flags: Readonly<Record<string, string | undefined>> = {},
): Config {
  const links = findServiceLinks(variables);
  const environment = Object.fromEntries(Object.entries(variables).filter(([name]) => !links.has(name)));
  const problems = findUnknownVariables(environment);
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(SETTINGS) as [string, Setting<unknown>][]) {
    const flag = flags[name];
    const text = flag ?? (environment[setting.variable] || setting.fallback);
    if (text === undefined) continue;
    const result = setting.schema.safeParse(text);
    if (result.success) values[name] = result.data;
    else {
      const source = flag === undefined ? setting.variable : setting.flag;
      const shown = setting.isSecret === true ? '' : ` (got "${withoutPasswords(text)}")`;
      for (const issue of result.error.issues) problems.push(`${source} ${issue.message}${shown}.`);
    }
  }
  if (problems.length === 0) {
    problems.push(
      ...findUnservedModels(values as Config),
      ...findIdleKvEvents(values as Config),
      ...findSharedPort(values as Config),
      ...findHalfCertificate(values as Config),
      ...findInt8OnCuda(values as Config),
    );
    const upstream = readUpstreamKeys(environment, (values as Config).models);
    values.upstreamKeys = upstream.keys;
    problems.push(...upstream.problems);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(values) as Config;
}

/** Addresses may hold passwords, though they should not. */
function withoutPasswords(text: string): string {
  return text.replaceAll(/\/\/[^/\s,]*@/g, '//***@');
}

// No build for a GPU has an int8 cache that CUDA's provider reads.
function findInt8OnCuda({ device, kvCache }: Config): string[] {
  if (device !== 'cuda' || kvCache !== 'int8') return [];
  return ['ORTLER_KV_CACHE=int8 is for ORTLER_DEVICE=cpu and webgpu; models on cuda have f16.'];
}

// A setting for a model that is not served is a misspelt id.
function findUnservedModels(config: Config): string[] {
  const ids = config.models.map(({ id }) => id);
  return (['reasoningParsers', 'toolDialects', 'chatTemplates'] as const).flatMap(name =>
    [...config[name].ofModel.keys()]
      .filter(id => !ids.includes(id))
      .map(
        id =>
          `${SETTINGS[name].variable} names the model ${id}, which is not served. Models: ${ids.join(', ')}.`,
      ),
  );
}

// Both would listen on it.
function findSharedPort({ port, metricsPort }: Config): string[] {
  if (metricsPort === undefined || metricsPort === 0 || metricsPort !== port) return [];
  return [
    `${SETTINGS.metricsPort.variable} and ${SETTINGS.port.variable} are both ${port}; without the first, /metrics is on the port of the API.`,
  ];
}

function findHalfCertificate(config: Config): string[] {
  const { otlpTracesEndpoint, otlpClientCertificate: certificate, otlpClientKey: key } = config;
  // Without traces the variables may be those of another program.
  if (otlpTracesEndpoint === undefined || (certificate === undefined) === (key === undefined)) return [];
  return [
    `${SETTINGS.otlpClientCertificate.variable} and ${SETTINGS.otlpClientKey.variable} need each other; only one is set.`,
  ];
}

// A setting that would have no effect.
function findIdleKvEvents(config: Config): string[] {
  const { kvEvents, kvEventsReplay, kvEventsTopic, kvEventsFormat, prefixCache } = config;
  if (kvEvents !== undefined && prefixCache === 'off')
    return [
      `${SETTINGS.kvEvents.variable} needs ${SETTINGS.prefixCache.flag} on: nothing is cached without it.`,
    ];
  if (kvEvents !== undefined) return [];
  const idle = [
    kvEventsReplay !== undefined && SETTINGS.kvEventsReplay.variable,
    kvEventsTopic !== SETTINGS.kvEventsTopic.fallback && SETTINGS.kvEventsTopic.variable,
    kvEventsFormat !== SETTINGS.kvEventsFormat.fallback && SETTINGS.kvEventsFormat.variable,
  ];
  return idle.flatMap(name => (name === false ? [] : [`${name} needs ${SETTINGS.kvEvents.variable}.`]));
}

// A misspelt variable would silently leave a default in place, so unknown names under our prefix are mistakes.
function findUnknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.values(SETTINGS).map(({ variable }) => variable as string);
  return Object.keys(environment)
    .filter(name => name.startsWith(PREFIX) && !name.startsWith(UPSTREAM_KEY_PREFIX) && !known.includes(name))
    .map(name => {
      const near = closestWord(name, known);
      return near === undefined
        ? `${name} is not a setting. Settings: ${known.join(', ')}.`
        : `${name} is not a setting. Did you mean ${near}?`;
    });
}
