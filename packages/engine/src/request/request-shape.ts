// The fields of a request and the kinds of their values, as a table. The compiler holds it to the types, and callers without types
// to the table: a misspelt field would have no effect, and a value of another kind would fail far from its cause. Ranges and
// relations of fields are checked by the files beside it.

import type { ChatTemplateOptions } from './chat-message.ts';
import { checkShape, type Shape } from './check-shape.ts';
import type {
  BeamSearch,
  ChatPrompt,
  GenerationRequest,
  LogprobsRequest,
  RepetitionDetection,
  StopConditions,
  TextPrompt,
  TokenPrompt,
} from './generation-request.ts';
import { wrongParameter } from './parameter-checks.ts';
import { type LogitBias, SAMPLING_FIELD_NAMES } from './sampling-params.ts';
import type { ToolDefinition, ToolsRequest } from './tools.ts';

type FieldsOf<Type> = { readonly [Name in keyof Type]-?: Shape };

const LOGPROBS = { topCount: 'number' } satisfies FieldsOf<LogprobsRequest>;
const BIAS = { tokenId: 'any', bias: 'any' } satisfies FieldsOf<LogitBias>;

const SAMPLING = {
  ...Object.fromEntries(SAMPLING_FIELD_NAMES.map((name): [string, Shape] => [name, 'number'])),
  logitBias: { listOf: { fields: BIAS } },
  allowedTokenIds: { listOf: 'any' },
  seed: 'any',
} as const;

const STOP = {
  strings: { listOf: 'text' },
  tokenIds: { listOf: 'any' },
  includeInOutput: 'flag',
  ignoreEos: 'flag',
  maxTokens: 'number',
  minTokens: 'number',
} as const satisfies FieldsOf<StopConditions>;

const REPETITION = {
  minPatternSize: 'number',
  maxPatternSize: 'number',
  minCount: 'number',
} as const satisfies FieldsOf<RepetitionDetection>;

const TOOL = {
  name: 'text',
  description: 'text',
  parameters: 'any',
  strict: 'flag',
} as const satisfies FieldsOf<ToolDefinition>;

const TOOLS = {
  definitions: { listOf: { fields: TOOL } },
  choice: 'text or object',
  parallel: 'flag',
  style: 'object',
} as const satisfies FieldsOf<ToolsRequest>;

const TEMPLATE = {
  addGenerationPrompt: 'flag',
  continueFinalMessage: 'flag',
  addSpecialTokens: 'flag',
  tools: { listOf: 'any' },
  variables: 'object',
  template: 'text',
} as const satisfies FieldsOf<ChatTemplateOptions>;

/** Messages may have fields of their own, which templates read. */
const PROMPT = {
  messages: { listOf: 'object' },
  template: { fields: TEMPLATE },
  text: 'text',
  addSpecialTokens: 'flag',
  tokenIds: 'token ids',
} as const satisfies FieldsOf<ChatPrompt> & FieldsOf<TextPrompt> & FieldsOf<TokenPrompt>;

const REQUEST = {
  prompt: 'any',
  sampling: { fields: SAMPLING },
  stop: { fields: STOP },
  choiceCount: 'number',
  skipSpecialTokens: 'flag',
  badWords: { listOf: 'text' },
  logprobs: { fields: LOGPROBS },
  promptLogprobs: { fields: LOGPROBS },
  repetitionDetection: { fields: REPETITION },
  beamSearch: { fields: { width: 'number', lengthPenalty: 'number' } satisfies FieldsOf<BeamSearch> },
  truncatePromptTokens: 'number',
  constraint: 'object',
  tools: { fields: TOOLS },
  priority: 'number',
  share: 'text',
  cachePartition: 'text',
} as const satisfies FieldsOf<GenerationRequest>;

/** Throws: `invalid_request` naming the first field that is unknown or of another kind. */
export function checkRequestShape(request: GenerationRequest): void {
  checkShape('', request ?? null, { fields: REQUEST });
  const { prompt } = request;
  if (typeof prompt === 'string') return;
  checkShape('prompt', prompt ?? null, { fields: PROMPT });
  const given = (['messages', 'text', 'tokenIds'] as const).filter(name => prompt[name] !== undefined);
  if (given.length === 1) return;
  const got = given.length === 0 ? 'none' : given.join(' and ');
  throw wrongParameter(
    'prompt',
    `prompt must be a text, or have one of messages, text and tokenIds; got ${got}.`,
  );
}
