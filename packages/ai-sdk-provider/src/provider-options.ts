// `providerOptions.ortler`: the engine's settings that the AI SDK has no name for. Types are checked here; ranges, and
// settings that exclude each other, are the engine's to refuse.

import { InvalidArgumentError, type SharedV4ProviderOptions } from '@ai-sdk/provider';
import { JSON_WHITESPACE } from '@ortler/engine';
import { z } from 'zod';

/** Name of this provider: its id, and its key in `providerOptions` and `providerMetadata`. */
export const PROVIDER_NAME = 'ortler';

const tokenId = z.int();

const constraint = z.union(
  [
    z.strictObject({ regex: z.string() }),
    z.strictObject({ choice: z.array(z.string()) }),
    z.strictObject({ grammar: z.string() }),
    z.strictObject({ structuralTag: z.record(z.string(), z.json()) }),
  ],
  'expected an object with one of regex, choice, grammar or structuralTag',
);

const jsonStyle = z.strictObject({
  whitespace: z
    .union(
      [z.enum(JSON_WHITESPACE), z.strictObject({ pattern: z.string() })],
      `expected ${JSON_WHITESPACE.join(', ')} or { pattern }`,
    )
    .optional(),
  closeObjects: z.boolean().optional(),
  limitNumbers: z.boolean().optional(),
  guardRepetition: z.boolean().optional(),
});

const repetitionDetection = z.strictObject({
  minPatternSize: z.int(),
  maxPatternSize: z.int(),
  minCount: z.int(),
});

const ortlerProviderOptions = z.strictObject({
  minP: z.number().optional(),
  repetitionPenalty: z.number().optional(),
  logitBias: z.record(z.string().regex(/^\d{1,15}$/, 'keys must be token ids'), z.number()).optional(),
  allowedTokenIds: z.array(tokenId).optional(),
  badWords: z.array(z.string()).optional(),
  repetitionDetection: repetitionDetection.optional(),
  minTokens: z.int().optional(),
  stopTokenIds: z.array(tokenId).optional(),
  ignoreEos: z.boolean().optional(),
  includeStopInOutput: z.boolean().optional(),
  skipSpecialTokens: z.boolean().optional(),
  logprobs: z.int().optional(),
  constraint: constraint.optional(),
  strictJsonSchema: z.boolean().optional(),
  jsonStyle: jsonStyle.optional(),
  chatTemplate: z.string().optional(),
  chatTemplateKwargs: z.record(z.string(), z.json()).optional(),
  continueFinalMessage: z.boolean().optional(),
  truncatePromptTokens: z.int().optional(),
  priority: z.int().optional(),
  cachePartition: z.string().optional(),
});

/** Fields of `providerOptions.ortler`; the README lists their effects. */
export type OrtlerProviderOptions = z.infer<typeof ortlerProviderOptions>;

/** Names of all options. */
export const OPTION_NAMES = Object.keys(
  ortlerProviderOptions.shape,
) as readonly (keyof OrtlerProviderOptions)[];

/** Throws: `InvalidArgumentError` naming the first option that is wrong. */
export function parseProviderOptions(options: SharedV4ProviderOptions | undefined): OrtlerProviderOptions {
  const parsed = ortlerProviderOptions.safeParse(options?.[PROVIDER_NAME] ?? {});
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  // The issue of a record's key holds the reason.
  const { message } = (issue.code === 'invalid_key' ? issue.issues[0] : undefined) ?? issue;
  const argument = ['providerOptions', PROVIDER_NAME, ...issue.path].join('.');
  const allowed = issue.path.length === 0 ? ` Its options: ${OPTION_NAMES.join(', ')}.` : '';
  throw new InvalidArgumentError({
    argument,
    message: `${argument}: ${message}.${allowed}`,
    cause: parsed.error,
  });
}
