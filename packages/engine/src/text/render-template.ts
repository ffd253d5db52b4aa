// Renders one chat template. The only door to the template interpreter in `jinja/`; runs on the main thread for
// a model's own template and in a killable worker for templates that come with requests.

import { EngineError } from '../errors.ts';
import { templateGlobals } from './jinja/globals.ts';
import { runTemplate } from './jinja/interpreter.ts';
import type { Statement } from './jinja/nodes.ts';
import { parseTemplate } from './jinja/parser.ts';
import { TemplateError } from './jinja/template-error.ts';
import { toValue } from './jinja/values.ts';

/** Variables by the names that published templates use; plain JSON values. */
export type TemplateVariables = Readonly<Record<string, unknown>>;

/** The last templates parsed: a model has one or two, requests may bring others. */
const parsed = new Map<string, readonly Statement[]>();
const PARSED_LIMIT = 16;

/** Throws: `template_failed`, with the template's line where one is known. */
export function renderTemplate(source: string, variables: TemplateVariables, now: Date): string {
  try {
    const globals = templateGlobals(now);
    for (const [name, value] of Object.entries(variables)) {
      if (value !== undefined) globals.set(name, toValue(value));
    }
    return runTemplate(parseOnce(source), globals);
  } catch (cause) {
    // A stack overflow is the only other thing that a template can cause.
    const isForeseen = cause instanceof TemplateError || cause instanceof RangeError;
    if (!isForeseen) throw cause;
    const place = cause instanceof TemplateError && cause.line !== undefined ? ` at line ${cause.line}` : '';
    throw new EngineError('template_failed', `The chat template failed${place}: ${cause.message}`, { cause });
  }
}

function parseOnce(source: string): readonly Statement[] {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const body = parseTemplate(source);
  if (parsed.size >= PARSED_LIMIT) parsed.delete(parsed.keys().next().value!);
  parsed.set(source, body);
  return body;
}
