// Main module of the worker that renders templates of requests and long conversations.

import type { TemplateVariables } from '@ortler/jinja';
import { serveTasks } from '@ortler/worker';
import { EngineError } from '../errors.ts';
import { renderTemplate } from './render-template.ts';

export interface RenderTask {
  readonly source: string;
  readonly variables: TemplateVariables;
}

serveTasks((task: RenderTask) => renderTemplate(task.source, task.variables, new Date()), EngineError);
