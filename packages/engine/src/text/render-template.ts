// Renders one Jinja template. The only door to the template interpreter; runs on the main thread for a model's
// own template and in a killable worker for templates that come with requests.

import { Template } from '@huggingface/jinja';
import { EngineError } from '../errors.ts';

/** Variables by the names that published templates use; plain JSON values. */
export type TemplateVariables = Readonly<Record<string, unknown>>;

/** Throws: `template_failed`. */
export function renderTemplate(source: string, variables: TemplateVariables, _now: Date): string {
  try {
    return new Template(source).render({ ...variables });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('template_failed', `The chat template failed: ${reason}`, { cause });
  }
}
