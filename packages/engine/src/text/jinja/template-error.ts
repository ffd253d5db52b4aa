// What goes wrong in a template, with the line when it is known. Never leaves the text room: render-template.ts
// turns it into the engine's error.

export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  /** First line is 1. Filled in by whoever knows it first. */
  line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}
