// Renders one chat template. On the main thread for a model's own template, in a killable worker for templates that come with
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
    const place = cause.line === undefined ? '' : ` at line ${cause.line}`;
    throw new EngineError('template_failed', `The chat template failed${place}: ${cause.message}`, { cause });
  }
}

function parseOnce(source: string): Template {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const template = new Template(source);
  if (parsed.size >= PARSED_LIMIT) parsed.delete(parsed.keys().next().value!);
  parsed.set(source, template);
  return template;
}
