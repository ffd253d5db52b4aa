// The errors of this package: a template that cannot be parsed or rendered, with the line where it is known.

export class TemplateError extends Error {
  override readonly name: string = 'TemplateError';
  /** The first line is 1. Filled in by the innermost caller that knows it. */
  line: number | undefined;

  constructor(message: string, line?: number, options?: ErrorOptions) {
    super(message, options);
    this.line = line;
  }
}

/** A run that exceeded one of its limits. */
export class TemplateLimitError extends TemplateError {
  override readonly name = 'TemplateLimitError';
}
