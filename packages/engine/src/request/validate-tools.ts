// Validates the tools of a request: what can be said without the model. Whether the schemas compile is found out later.

import type { GenerationRequest } from './generation-request.ts';
import { wrongParameter } from './parameter-checks.ts';
import type { ToolChoice, ToolDefinition, ToolsRequest } from './tools.ts';

/** Tools with every default filled in. */
export type ValidTools = Required<Omit<ToolsRequest, 'style'>> & Pick<ToolsRequest, 'style'>;

/** The names that the Model Context Protocol allows. They are written into grammars and templates as they are. */
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** Undefined without tools. Throws: `invalid_request` naming the parameter. */
export function validateTools({
  tools,
  prompt,
  beamSearch,
}: Pick<GenerationRequest, 'tools' | 'prompt' | 'beamSearch'>): ValidTools | undefined {
  if (tools === undefined) return undefined;
  if (typeof prompt === 'string' || prompt.messages === undefined)
    throw wrongParameter(
      'tools',
      'tools needs a prompt of messages: a chat template shows them to the model.',
    );
  if (prompt.template?.tools !== undefined)
    throw wrongParameter(
      'prompt.template.tools',
      'prompt.template.tools must be left out where tools is given.',
    );
  if (beamSearch !== undefined)
    throw wrongParameter('tools', 'A beam search cannot call tools: leave one of them out.');
  const { definitions, choice = 'auto', parallel = true, style } = tools;
  checkDefinitions(definitions);
  checkChoice(choice, definitions);
  return { definitions, choice, parallel, ...(style !== undefined && { style }) };
}

function checkDefinitions(definitions: readonly ToolDefinition[]): void {
  if ((definitions ?? []).length === 0)
    throw wrongParameter('tools.definitions', 'tools.definitions must have at least one tool.');
  const names = new Set<string>();
  for (const [index, { name, parameters }] of definitions.entries()) {
    const path = `tools.definitions[${index}]`;
    if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
      const message = `${path}.name must be 1 to 128 letters, digits, "_", "-" or "."; got ${JSON.stringify(name)}.`;
      throw wrongParameter(`${path}.name`, message);
    }
    if (names.has(name))
      throw wrongParameter(`${path}.name`, `${path}.name is used twice: ${JSON.stringify(name)}.`);
    names.add(name);
    if (parameters !== undefined) checkParameters(`${path}.parameters`, parameters);
  }
}

function checkParameters(path: string, parameters: Readonly<Record<string, unknown>>): void {
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
    throw wrongParameter(path, `${path} must be a JSON Schema: an object.`);
  const { type = 'object' } = parameters;
  if (type === 'object') return;
  throw wrongParameter(path, `${path}.type must be "object"; got ${JSON.stringify(type)}.`);
}

function checkChoice(choice: ToolChoice, definitions: readonly ToolDefinition[]): void {
  if (typeof choice === 'string') {
    if (choice === 'auto' || choice === 'required') return;
    const message = `tools.choice must be "auto", "required" or a name; got ${JSON.stringify(choice)}.`;
    throw wrongParameter('tools.choice', message);
  }
  if (definitions.some(({ name }) => name === choice.name)) return;
  const message = `tools.choice.name must be the name of a tool; got ${JSON.stringify(choice.name)}.`;
  throw wrongParameter('tools.choice.name', message);
}
