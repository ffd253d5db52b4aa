// Public surface of @ortler/jinja.

export { Template, type TemplateVariables } from './template.ts';
export { TemplateError } from './template-error.ts';
