// The real HTTP server over a model that repeats its prompt, with a chat template that writes the script: one call of the
// first function, then a text with its result. Tokenizer, template, grammar, parser and wire are those of every model.

import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeServices, TEST_API_KEY } from '@ortler/api/testing';
import { MANIFEST_FILE } from '@ortler/engine/graph-contract';
import {
  createInProcessLink,
  loadScriptedCore,
  SCRIPTED_CORE_OPTIONS,
  SCRIPTED_MANIFEST,
  startEngine,
} from '@ortler/engine/testing';
import { createApp, createMetrics } from '@ortler/server';
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

const CONTEXT_LENGTH = 2_048;

/** The id of its model. */
export const AGENT_MODEL = 'agent';

export interface ScriptedAgentServer {
  readonly url: string;
  readonly apiKey: string;
  close(): Promise<void>;
}

/** Starts it on a free port of this machine, or on the one given. */
export async function startScriptedAgentServer(
  options: { readonly toolCalling?: boolean; readonly port?: number } = {},
): Promise<ScriptedAgentServer> {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-agent-'));
  await copyFile(TOKENIZER, join(folder, 'tokenizer.json'));
  const write = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value));
  await write('tokenizer_config.json', { eos_token: '<|endoftext|>', chat_template: TEMPLATE });
  await write('generation_config.json', {});
  await write(MANIFEST_FILE, { ...SCRIPTED_MANIFEST, contextLength: CONTEXT_LENGTH });
  const core = { ...SCRIPTED_CORE_OPTIONS, contextLength: CONTEXT_LENGTH };
  const engine = await startEngine(
    folder,
    createInProcessLink(core, loadScriptedCore({ vocabSize: SCRIPTED_MANIFEST.vocabSize })),
  );
  const status = { kind: 'ready', engine } as const;
  const services = {
    ...createFakeServices({ [AGENT_MODEL]: status }),
    toolCalling: options.toolCalling ?? true,
  };
  const app = await createApp({
    services,
    metrics: createMetrics(services.models),
    bodyLimitBytes: 1_000_000,
    streamedBodyLimitBytes: 1_000_000,
    corsOrigins: [],
    stopping: new AbortController().signal,
    stalledReaderMs: 0,
  });
  await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    apiKey: TEST_API_KEY,
    async close() {
      await app.close();
      await engine.close();
      await rm(folder, { recursive: true });
    },
  };
}
