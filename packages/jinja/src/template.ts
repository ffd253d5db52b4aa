// A template: parsed once, rendered with variables any number of times. The only entry point of the interpreter.

import { templateGlobals } from './globals.ts';
import { runTemplate } from './interpreter.ts';
import type { RunLimits } from './meter.ts';
import type { Statement } from './nodes.ts';
import { parseTemplate } from './parser.ts';
import { TemplateError } from './template-error.ts';
import { toValue } from './values.ts';

/** Variables by the names that the template uses; plain JSON values. An undefined one is left out. */
export type TemplateVariables = Readonly<Record<string, unknown>>;

export class Template {
  readonly #body: readonly Statement[];

  /** Throws: `TemplateError` with the line of what cannot be parsed. */
  constructor(source: string) {
    this.#body = orTemplateError(() => parseTemplate(source));
  }

  /**
   * The text with these variables. `now` is what `strftime_now` reads.
   * Throws: `TemplateError`, with the template's line where one is known; a `TemplateLimitError` for more than the limits.
   */
  render(variables: TemplateVariables, now: Date = new Date(), limits: RunLimits = {}): string {
    return orTemplateError(() => {
      const globals = templateGlobals(now);
      for (const [name, value] of Object.entries(variables)) {
        if (value !== undefined) globals.set(name, toValue(value));
      }
      return runTemplate(this.#body, globals, limits);
    });
  }
}

/** A stack overflow is the one other thing that a template can cause. */
function orTemplateError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof RangeError) throw new TemplateError(cause.message, undefined, { cause });
    throw cause;
  }
}
