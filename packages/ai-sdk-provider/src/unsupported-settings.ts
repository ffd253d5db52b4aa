// Settings of a call that the AI SDK defines and that have no effect here: each gives a warning, none is dropped silently.

import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, SharedV4Warning } from '@ai-sdk/provider';
import { PROVIDER_NAME } from './provider-options.ts';

/** Settings that are read; some of their values are warned about below. A newer AI SDK may send others. */
const KNOWN_SETTINGS: Readonly<Record<keyof LanguageModelV4CallOptions, true>> = {
  prompt: true,
  maxOutputTokens: true,
  temperature: true,
  stopSequences: true,
  topP: true,
  topK: true,
  presencePenalty: true,
  frequencyPenalty: true,
  responseFormat: true,
  seed: true,
  tools: true,
  toolChoice: true,
  includeRawChunks: true,
  abortSignal: true,
  headers: true,
  reasoning: true,
  providerOptions: true,
};

export function findUnsupportedSettings(options: LanguageModelV4CallOptions): SharedV4Warning[] {
  return [
    ...unknownSettings(options),
    ...unsupportedTools(options),
    ...unsupportedFormat(options.responseFormat),
    ...unsupportedHeaders(options.headers),
    ...unsupportedMessageOptions(options.prompt),
  ];
}

export function unsupported(feature: string, details: string): SharedV4Warning {
  return { type: 'unsupported', feature, details };
}

function unknownSettings(options: LanguageModelV4CallOptions): SharedV4Warning[] {
  return Object.entries(options)
    .filter(([name, value]) => value !== undefined && !Object.hasOwn(KNOWN_SETTINGS, name))
    .map(([name]) => unsupported(name, 'This setting is not known to @ortler/ai-sdk-provider.'));
}

function unsupportedTools({ tools = [], toolChoice }: LanguageModelV4CallOptions): SharedV4Warning[] {
  const warnings = tools.flatMap((tool, index) => {
    if (tool.type !== 'function')
      return unsupported(`tools[${index}]`, `The tool ${tool.id} belongs to another provider.`);
    return tool.inputExamples === undefined
      ? []
      : unsupported(
          `tools[${index}].inputExamples`,
          'The model is shown the schema and the description only.',
        );
  });
  const isForced = toolChoice?.type === 'required' || toolChoice?.type === 'tool';
  if (isForced && !tools.some(({ type }) => type === 'function'))
    warnings.push(unsupported('toolChoice', 'There is no tool to call.'));
  return warnings;
}

function unsupportedFormat(format: LanguageModelV4CallOptions['responseFormat']): SharedV4Warning[] {
  if (format?.type !== 'json') return [];
  return (['name', 'description'] as const)
    .filter(field => format[field] !== undefined)
    .map(field =>
      unsupported(
        `responseFormat.${field}`,
        'The schema constrains the answer but is not shown to the model: describe the object in the prompt.',
      ),
    );
}

function unsupportedHeaders(headers: LanguageModelV4CallOptions['headers'] = {}): SharedV4Warning[] {
  // The AI SDK adds its name and version to every call.
  const given = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && name.toLowerCase() !== 'user-agent',
  );
  return given.length === 0 ? [] : [unsupported('headers', 'The model runs in this process, without HTTP.')];
}

function unsupportedMessageOptions(prompt: LanguageModelV4Prompt): SharedV4Warning[] {
  const holders = prompt.flatMap(message =>
    typeof message.content === 'string' ? [message] : [message, ...message.content],
  );
  if (!holders.some(({ providerOptions }) => providerOptions?.[PROVIDER_NAME] !== undefined)) return [];
  return [
    unsupported(
      `providerOptions.${PROVIDER_NAME} of a message`,
      'Options belong to the call; messages and their parts have none.',
    ),
  ];
}
