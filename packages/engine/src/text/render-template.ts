// Parses and renders one chat template. On the main thread, within limits, for a model's own template; in a killable worker for
// templates that come with requests, and for what exceeds those limits.

import {
  type RunLimits,
  Template,
  TemplateError,
  TemplateLimitError,
  type TemplateVariables,
} from '@ortler/jinja';
import { EngineError } from '../errors.ts';

/**
 * What a model's own template may take of the main thread for one short conversation; published ones take less than a millisecond and
 * 64 kB. The files of a model are not trusted with the time of other models.
 */
const MAIN_THREAD_LIMITS = { timeMs: 20, memory: 512 * 1024 };

/** The last templates parsed: a model has one or two, requests may bring others. */
const parsed = new Map<string, Template>();
const PARSED_LIMIT = 16;

/** In a worker. Throws: `template_failed`, with the template's line where one is known. */
export function renderTemplate(
  source: string,
  variables: TemplateVariables,
  now: Date,
  limits?: RunLimits,
): string {
  try {
    return parseOnce(source).render(variables, now, limits);
  } catch (cause) {
    if (!(cause instanceof TemplateError)) throw cause;
    throw new EngineError('template_failed', `The chat template failed${placeOf(cause)}: ${cause.message}`, {
      cause,
    });
  }
}

/** As `renderTemplate`, on the main thread; undefined where the template needs more of it than it may take. */
export function renderHere(
  source: string,
  variables: TemplateVariables,
  timeMs: number = MAIN_THREAD_LIMITS.timeMs,
): string | undefined {
  try {
    return renderTemplate(source, variables, new Date(), { ...MAIN_THREAD_LIMITS, timeMs });
  } catch (error) {
    if (error instanceof EngineError && error.cause instanceof TemplateLimitError) return undefined;
    throw error;
  }
}

/** Why a template cannot be parsed, with its line where one is known and without a full stop; undefined for one that can. */
export function findParseFault(source: string): string | undefined {
  try {
    parseOnce(source);
    return undefined;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return `cannot be parsed${placeOf(error)}: ${error.message.replace(/\.$/, '')}`;
  }
}

function placeOf({ line }: TemplateError): string {
  return line === undefined ? '' : ` at line ${line}`;
}

function parseOnce(source: string): Template {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const template = new Template(source);
  if (parsed.size >= PARSED_LIMIT) parsed.delete(parsed.keys().next().value!);
  parsed.set(source, template);
  return template;
}
