// Main module of the worker that renders templates of requests and long conversations.

import { renderTemplate, type TemplateVariables } from './render-template.ts';
import { serveTasks } from './serve-tasks.ts';

export interface RenderTask {
  readonly source: string;
  readonly variables: TemplateVariables;
}

serveTasks((task: RenderTask) => renderTemplate(task.source, task.variables, new Date()));
