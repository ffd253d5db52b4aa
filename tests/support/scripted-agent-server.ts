// The real HTTP server over a model that repeats its prompt, with a chat template that writes the script: one call of the
// first function, then a text with its result. Tokenizer, template, grammar, parser and wire are those of every model.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ScriptedServer, type ScriptedServerOptions, startScriptedServer } from './scripted-server.ts';
import { REPOSITORY } from './server.ts';

/** Its vocabulary has the marker of the scripted model, `<|im_start|>`, and the end of sequence, `<|endoftext|>`. */
const TOKENIZER = join(REPOSITORY, 'packages/engine/test/golden/tokenizers/digits/tokenizer.json');

/** Functions by which frameworks take the answer of an agent, with their argument. */
const ANSWER_TOOLS = { final_result: 'answer', final_answer: 'answer' };

const TEMPLATE = `{#- marks: tools <tool_call> -#}
{%- set last = messages[-1] -%}
{#- smolagents writes the results of its tools as messages of the user. -#}
{%- set hasResult = last.role == 'tool' or 'Observation:' in last.content -%}
{%- set result = (last.content | trim).split('\\n') | last -%}
{%- set answers = ${JSON.stringify(ANSWER_TOOLS)} -%}
{%- set script = namespace(name='', arguments='') -%}
{%- for tool in tools or [] -%}
  {%- if hasResult and tool.function.name in answers -%}
    {%- set script.name = tool.function.name -%}
    {%- set script.arguments = '{"' + answers[tool.function.name] + '": "' + result + ' in Rome"}' -%}
  {%- elif not hasResult and script.name == '' and tool.function.name not in answers -%}
    {%- set script.name = tool.function.name -%}
    {%- set script.arguments = '{"city": "Rome"}' -%}
  {%- endif -%}
{%- endfor -%}
{%- if script.name -%}
  {{- '<tool_call>\\n{"name": "' + script.name + '", "arguments": ' + script.arguments + '}\\n</tool_call>' -}}
{%- elif hasResult -%}
  {{- 'It is ' + result + ' in Rome.' -}}
{%- else -%}
  {{- '{"city": "Rome"}' -}}
{%- endif -%}
{{- '<|im_start|>' -}}`;

/** The id of its model. */
export const AGENT_MODEL = 'agent';

/** Starts it on a free port of this machine, or on the one given. */
export async function startScriptedAgentServer(options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const files = {
    tokenizer: JSON.parse(await readFile(TOKENIZER, 'utf8')),
    tokenizer_config: { eos_token: '<|endoftext|>', chat_template: TEMPLATE },
    generation_config: {},
  };
  return startScriptedServer({ id: AGENT_MODEL, files }, options);
}
