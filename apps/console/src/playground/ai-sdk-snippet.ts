// A request as code for the AI SDK, whose messages and tools have forms of their own. Pure.

import { indented, lines, quote, renamed, seedNote } from './snippet-json.ts';

type Json = Readonly<Record<string, unknown>>;

/** Parameters that the AI SDK has names for and its OpenAI-compatible provider sends; top_k is not among them. */
const NAMES: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  max_completion_tokens: 'maxOutputTokens',
  stop: 'stopSequences',
};

export function toAiSdk(request: Json, serverUrl: string): string {
  const { model, messages, tools = [], tool_choice: choice, ...rest } = request;
  const { known, others } = renamed(rest, NAMES);
  const functions = (tools as readonly { readonly function: Json }[]).map(tool => tool.function);
  const [instructions, turns] = splitSystem(messages as readonly Json[]);
  const settings = [
    `model: ortler(${quote(String(model))})`,
    ...(instructions === undefined ? [] : [`instructions: ${indented(instructions)}`]),
    `messages: ${indented(turns.map((turn, index) => toAiSdkMessage(turn, turns.slice(0, index))))}`,
    ...Object.entries(known).map(([name, value]) => `${name}: ${indented(value)}`),
    ...(functions.length === 0 ? [] : [`tools: {\n${functions.map(toTool).join('')}  }`]),
    ...(choice === undefined ? [] : [`toolChoice: ${indented(toToolChoice(choice))}`]),
    ...(Object.keys(others).length === 0 ? [] : [`providerOptions: { ortler: ${indented(others)} }`]),
  ];
  const imports = functions.length === 0 ? 'generateText' : 'generateText, jsonSchema, tool';
  const shown = functions.length === 0 ? 'text' : 'text, toolCalls';
  return lines(
    "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';",
    `import { ${imports} } from 'ai';`,
    '',
    'const ortler = createOpenAICompatible({',
    "  name: 'ortler',",
    `  baseURL: ${quote(`${serverUrl}/v1`)},`,
    '  apiKey: process.env.ORTLER_API_KEY,',
    '});',
    ...seedNote(rest.seed),
    `const { ${shown} } = await generateText({`,
    ...settings.map(setting => `  ${setting},`),
    '});',
    `console.log(${shown});`,
  );
}

/** The AI SDK takes the system message beside the others. */
function splitSystem(messages: readonly Json[]): [unknown, readonly Json[]] {
  const [first, ...others] = messages;
  return first?.role === 'system' ? [first.content, others] : [undefined, messages];
}

export interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

function toAiSdkMessage(message: Json, before: readonly Json[]): Json {
  const { role, content, reasoning, tool_call_id: id } = message;
  const calls = callsOf(message);
  if (role === 'tool') {
    const toolName = before.flatMap(callsOf).find(call => call.id === id)?.function.name ?? 'tool';
    const result = {
      type: 'tool-result',
      toolCallId: id,
      toolName,
      output: { type: 'text', value: content },
    };
    return { role, content: [result] };
  }
  if (calls.length === 0 && reasoning === undefined) return { role, content };
  return {
    role,
    content: [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }]),
      ...(content === null || content === '' ? [] : [{ type: 'text', text: content }]),
      ...calls.map(({ id: toolCallId, function: { name: toolName, arguments: json } }) => ({
        type: 'tool-call',
        toolCallId,
        toolName,
        input: parsed(json),
      })),
    ],
  };
}

function callsOf({ tool_calls: calls = [] }: Json): readonly ToolCall[] {
  return calls as readonly ToolCall[];
}

/** Arguments that were cut off stay text. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function toTool({
  name,
  description,
  parameters = { type: 'object', properties: {} },
  strict,
}: Json): string {
  const fields = [
    ...(description === undefined ? [] : [`description: ${quote(String(description))}`]),
    `inputSchema: jsonSchema(${indented(parameters, '      ')})`,
    ...(strict === undefined ? [] : [`strict: ${String(strict)}`]),
  ];
  return `    ${quote(String(name))}: tool({\n${fields.map(field => `      ${field},\n`).join('')}    }),\n`;
}

function toToolChoice(choice: unknown): unknown {
  if (typeof choice === 'string') return choice;
  return {
    type: 'tool',
    toolName: (choice as { readonly function: { readonly name: string } }).function.name,
  };
}
