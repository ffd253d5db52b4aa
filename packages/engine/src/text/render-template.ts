// Parses and renders one chat template. On the main thread for a model's own template, in a killable worker for templates that come with
// requests.

import { Template, TemplateError, type TemplateVariables } from '@ortler/jinja';
import { EngineError } from '../errors.ts';

/** The last templates parsed: a model has one or two, requests may bring others. */
const parsed = new Map<string, Template>();
const PARSED_LIMIT = 16;

/** Throws: `template_failed`, with the template's line where one is known. */
export function renderTemplate(source: string, variables: TemplateVariables, now: Date): string {
  try {
    return parseOnce(source).render(variables, now);
  } catch (cause) {
    if (!(cause instanceof TemplateError)) throw cause;
    throw new EngineError('template_failed', `The chat template failed${placeOf(cause)}: ${cause.message}`, {
      cause,
    });
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
