// The error class of this package: a template that cannot be parsed or rendered, with the line where it is known.

export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  /** The first line is 1. Filled in by the innermost caller that knows it. */
  line: number | undefined;

  constructor(message: string, line?: number, options?: ErrorOptions) {
    super(message, options);
    this.line = line;
  }
}
