// Options of a call beside its messages, in one flat object, and the engine's request for them.

import {
  type ChatMessage,
  type ChatTemplateOptions,
  EngineError,
  type GenerationRequest,
  SAMPLING_PARAM_NAMES,
  type SamplingParams,
} from '@ortler/engine';

/** A question, or a conversation whose last message is to be answered. */
export type Messages = string | readonly ChatMessage[];

/** Fields of a request that have another form here, or belong to several choices. */
type OtherFields = 'prompt' | 'sampling' | 'stop' | 'choiceCount' | 'beamSearch';

export interface GenerateOptions extends Partial<SamplingParams>, Omit<GenerationRequest, OtherFields> {
  /** Maximum number of tokens of the answer, reasoning included. Default: what the context and generation_config.json leave. */
  readonly maxTokens?: number;
  /** Tokens before which nothing ends the answer. Default: 0. */
  readonly minTokens?: number;
  /** Texts that end the answer and are cut off. */
  readonly stop?: string | readonly string[];
  /** Ids of tokens that end the answer, beside the model's own. */
  readonly stopTokenIds?: readonly number[];
  /** How messages become a prompt: tools, a template of your own, variables such as `enable_thinking`. */
  readonly template?: ChatTemplateOptions;
  /** Aborts the generation within a step. */
  readonly signal?: AbortSignal;
}

/** Options beside the sampling parameters. */
const OTHER_OPTIONS = {
  maxTokens: true,
  minTokens: true,
  stop: true,
  stopTokenIds: true,
  template: true,
  signal: true,
  skipSpecialTokens: true,
  badWords: true,
  logprobs: true,
  promptLogprobs: true,
  repetitionDetection: true,
  truncatePromptTokens: true,
  constraint: true,
  tools: true,
  priority: true,
  share: true,
  cachePartition: true,
} as const satisfies Readonly<Record<Exclude<keyof GenerateOptions, keyof SamplingParams>, true>>;

const OPTION_NAMES: ReadonlySet<string> = new Set([...SAMPLING_PARAM_NAMES, ...Object.keys(OTHER_OPTIONS)]);

/** The request that the engine takes; `signal` goes beside it. Throws: `invalid_request` for an option that does not exist. */
export function toGenerationRequest(
  messages: Messages,
  { maxTokens, minTokens, stop, stopTokenIds, template, ...others }: Omit<GenerateOptions, 'signal'>,
): GenerationRequest {
  const conversation = typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages;
  const strings = typeof stop === 'string' ? [stop] : stop;
  const isSampling = ([name]: readonly [string, unknown]) => SAMPLING_NAMES.has(name);
  const fields = Object.entries(definedOnly(others));
  const unknown = fields.find(([name]) => !OPTION_NAMES.has(name));
  if (unknown !== undefined) throw unknownOption(unknown[0]);
  return {
    prompt: { messages: conversation, ...definedOnly({ template }) },
    sampling: Object.fromEntries(fields.filter(isSampling)),
    stop: definedOnly({ maxTokens, minTokens, strings, tokenIds: stopTokenIds }),
    ...Object.fromEntries(fields.filter(field => !isSampling(field))),
  };
}

/** A misspelt option would have no effect. */
function unknownOption(parameter: string): EngineError {
  const message = `The option ${parameter} is unknown; there are ${[...OPTION_NAMES].join(', ')}.`;
  return new EngineError('invalid_request', message, { parameter });
}

const SAMPLING_NAMES: ReadonlySet<string> = new Set(SAMPLING_PARAM_NAMES);

type Defined<Fields> = { [Name in keyof Fields]: Exclude<Fields[Name], undefined> };

/** The fields that have a value: an option that is undefined counts as not given. */
function definedOnly<Fields extends object>(fields: Fields): Partial<Defined<Fields>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<
    Defined<Fields>
  >;
}
