// A request as code: curl, the openai SDK, the AI SDK, and the package `ortler`. Pure. The key is never part of it.

import { randomId } from '../components/random-id.ts';

export type SnippetName = 'curl' | 'openai' | 'AI SDK' | 'ortler';

export interface SnippetRequest {
  /** The body of the chat, as it would be sent. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Address of the server, without a slash at its end. */
  readonly serverUrl: string;
}

/** Fields that only make the playground's own view, and not the answer. */
const VIEW_FIELDS = ['stream', 'stream_options', 'logprobs', 'top_logprobs', 'return_token_ids'];

/** Parameters that the AI SDK has names for. */
const AI_SDK_NAMES: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  max_completion_tokens: 'maxOutputTokens',
  stop: 'stopSequences',
};

/** The options of the package `ortler`, by the parameters of the wire. */
const ORTLER_NAMES: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  min_p: 'minP',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  repetition_penalty: 'repetitionPenalty',
  max_completion_tokens: 'maxTokens',
  min_tokens: 'minTokens',
  stop: 'stop',
  stop_token_ids: 'stopTokenIds',
};

export function toSnippet(name: SnippetName, { body, serverUrl }: SnippetRequest): string {
  const request = Object.fromEntries(Object.entries(body).filter(([field]) => !VIEW_FIELDS.includes(field)));
  switch (name) {
    case 'curl':
      return toCurl(request, serverUrl);
    case 'openai':
      return toOpenai(request, serverUrl);
    case 'AI SDK':
      return toAiSdk(request, serverUrl);
    case 'ortler':
      return toOrtler(request);
  }
}

type Request = Readonly<Record<string, unknown>>;

function toCurl(request: Request, serverUrl: string): string {
  // In single quotes a shell takes every character but the quote itself.
  const json = toJson(request).replaceAll("'", `'\\''`);
  return [
    `curl '${serverUrl}/v1/chat/completions' \\`,
    `  -H "Authorization: Bearer $ORTLER_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${json}'`,
  ].join('\n');
}

function toOpenai(request: Request, serverUrl: string): string {
  return lines(
    "import OpenAI from 'openai';",
    '',
    `const client = new OpenAI({ baseURL: ${quote(`${serverUrl}/v1`)}, apiKey: process.env.ORTLER_API_KEY });`,
    `const completion = await client.chat.completions.create(${toJson(request)});`,
    'console.log(completion.choices[0].message.content);',
  );
}

function toAiSdk({ model, messages, ...rest }: Request, serverUrl: string): string {
  const { known, others } = renamed(rest, AI_SDK_NAMES);
  const settings = [
    `model: ortler(${quote(String(model ?? 'default'))})`,
    `messages: ${indented(messages)}`,
    ...Object.entries(known).map(([name, value]) => `${name}: ${indented(value)}`),
    ...(Object.keys(others).length === 0 ? [] : [`providerOptions: { ortler: ${indented(others)} }`]),
  ];
  return lines(
    "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';",
    "import { generateText } from 'ai';",
    '',
    'const ortler = createOpenAICompatible({',
    "  name: 'ortler',",
    `  baseURL: ${quote(`${serverUrl}/v1`)},`,
    '  apiKey: process.env.ORTLER_API_KEY,',
    '});',
    'const { text } = await generateText({',
    ...settings.map(setting => `  ${setting},`),
    '});',
    'console.log(text);',
  );
}

function toOrtler({ model, messages, seed, ...rest }: Request): string {
  const { known, others } = renamed(rest, ORTLER_NAMES);
  const options = Object.entries(known).map(([name, value]) => `${name}: ${toInline(value)}`);
  // Seeds have 64 bits in the engine.
  if (seed !== undefined) options.push(`seed: ${String(seed)}n`);
  const notes = [
    ...(model === undefined
      ? []
      : [`// In place of demoModel: the name or the folder of ${oneLine(String(model))}.`]),
    ...(Object.keys(others).length === 0
      ? []
      : [`// Fields of the wire format that have other names here: ${Object.keys(others).join(', ')}.`]),
  ];
  const last = options.length === 0 ? '' : `, { ${options.join(', ')} }`;
  return lines(
    "import { demoModel, loadModel } from 'ortler';",
    '',
    ...notes,
    'await using model = await loadModel(demoModel);',
    `const { text } = await model.generateText(${toJson(messages)}${last});`,
    'console.log(text);',
  );
}

const lines = (...all: readonly string[]) => `${all.join('\n')}\n`;

function renamed(request: Request, names: Readonly<Record<string, string>>) {
  const entries = Object.entries(request);
  return {
    known: Object.fromEntries(
      entries.flatMap(([field, value]) => (names[field] === undefined ? [] : [[names[field], value]])),
    ),
    others: Object.fromEntries(entries.filter(([field]) => names[field] === undefined)),
  };
}

/** JSON, whose 64-bit seeds stay whole: each is marked in the text, and its quotes are taken away. */
function toJson(value: unknown): string {
  const mark = randomId();
  const json = JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${mark}${each}` : each), 2);
  return (json ?? 'undefined').replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

const indented = (value: unknown, indent = '  ') => toJson(value).replaceAll('\n', `\n${indent}`);
const toInline = (value: unknown) => toJson(value).replace(/\s*\n\s*/g, ' ');
const quote = (text: string) => JSON.stringify(text);
const oneLine = (text: string) => text.replace(/\s+/g, ' ');
