// A request as code: curl, the openai SDK, the AI SDK, and the package `ortler`. Pure. The key is never part of it.

import { parsed, type ToolCall, toAiSdk } from './ai-sdk-snippet.ts';
import { lines, oneLine, quote, renamed, seedNote, toInline, toJson } from './snippet-json.ts';

export type SnippetName = 'curl' | 'openai' | 'AI SDK' | 'ortler';

export interface SnippetRequest {
  /** The body of the chat, as it would be sent. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The model that answers where the body names none. */
  readonly defaultModel?: string | undefined;
  /** Address of the server, without a slash at its end. */
  readonly serverUrl: string;
}

/** Fields that only make the playground's own view, and not the answer. */
const VIEW_FIELDS = ['stream', 'stream_options', 'logprobs', 'top_logprobs', 'return_token_ids'];

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

export function toSnippet(
  name: SnippetName,
  { body, defaultModel = 'ortler-demo', serverUrl }: SnippetRequest,
): string {
  const request = Object.fromEntries(Object.entries(body).filter(([field]) => !VIEW_FIELDS.includes(field)));
  switch (name) {
    case 'curl':
      return toCurl(request, serverUrl);
    case 'openai':
      // Libraries want the model named.
      return toOpenai({ model: defaultModel, ...request }, serverUrl);
    case 'AI SDK':
      return toAiSdk({ model: defaultModel, ...request }, serverUrl);
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
    ...seedNote(request.seed),
    `const completion = await client.chat.completions.create(${toJson(request)});`,
    `console.log(completion.choices[0].message${request.tools === undefined ? '.content' : ''});`,
  );
}

function toOrtler({ model, messages, seed, tools, tool_choice: choice, ...rest }: Request): string {
  const { known, others } = renamed(rest, ORTLER_NAMES);
  const options = Object.entries(known).map(([name, value]) => `${name}: ${toInline(value)}`);
  // Seeds have 64 bits in the engine.
  if (seed !== undefined) options.push(`seed: ${String(seed)}n`);
  // With the choice none they are only shown to the model, by its template.
  const form = choice === 'none' ? { template: { tools } } : { tools: toOrtlerTools(tools, choice) };
  if (tools !== undefined) options.push(toInline(form).slice(1, -1).trim());
  const notes = [
    ...(model === undefined
      ? []
      : [`// In place of demoModel: the name or the folder of ${oneLine(String(model))}.`]),
    ...(Object.keys(others).length === 0
      ? []
      : [`// Fields of the wire format that have other names here: ${Object.keys(others).join(', ')}.`]),
  ];
  const last = options.length === 0 ? '' : `, { ${options.join(', ')} }`;
  const shown = tools === undefined ? 'text' : 'text, toolCalls';
  return lines(
    "import { demoModel, loadModel } from 'ortler';",
    '',
    ...notes,
    'await using model = await loadModel(demoModel);',
    `const { ${shown} } = await model.generateText(${toJson((messages as readonly Request[]).map(toOrtlerMessage))}${last});`,
    `console.log(${shown});`,
  );
}

function toOrtlerTools(tools: unknown, choice: unknown) {
  const definitions = (tools as readonly { readonly function: Request }[] | undefined)?.map(
    tool => tool.function,
  );
  return { definitions, choice: typeof choice === 'object' ? Object(choice).function : choice };
}

/** Messages have the form that chat templates read: calls with their arguments parsed, and always a content. */
function toOrtlerMessage({ content, reasoning, tool_calls: calls, ...others }: Request): Request {
  return {
    ...others,
    content: content ?? '',
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls !== undefined && { tool_calls: (calls as readonly ToolCall[]).map(withParsedArguments) }),
  };
}

function withParsedArguments(call: ToolCall) {
  return { ...call, function: { ...call.function, arguments: parsed(call.function.arguments) } };
}
