// Public surface of @ortler/jinja.

export type { RunLimits } from './meter.ts';
export { Template, type TemplateVariables } from './template.ts';
export { TemplateError, TemplateLimitError } from './template-error.ts';
