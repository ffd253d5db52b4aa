// The options of a call -> a request of the engine, and a warning for everything that has no effect.

import {
  InvalidArgumentError,
  type LanguageModelV4CallOptions,
  type SharedV4Warning,
} from '@ai-sdk/provider';
import type { ChatTemplateOptions, GenerationRequest, SamplingParams, StopConditions } from '@ortler/engine';
import { definedValues } from './defined-values.ts';
import { type OrtlerProviderOptions, parseProviderOptions } from './provider-options.ts';
import { type TemplateReasoning, toTemplateReasoning } from './reasoning-effort.ts';
import { toChatMessages } from './to-chat-messages.ts';
import { toConstraint } from './to-constraint.ts';
import { toTools } from './to-tools.ts';
import { findUnsupportedSettings } from './unsupported-settings.ts';

export interface MappedRequest {
  readonly request: GenerationRequest;
  readonly warnings: readonly SharedV4Warning[];
}

/** Throws: `InvalidArgumentError` or `UnsupportedFunctionalityError`. */
export function toGenerationRequest(
  options: LanguageModelV4CallOptions,
  chatTemplate: string | null,
): MappedRequest {
  const own = parseProviderOptions(options.providerOptions);
  const reasoning = toTemplateReasoning(options.reasoning, own.chatTemplate ?? chatTemplate);
  const { skipSpecialTokens, badWords, repetitionDetection, truncatePromptTokens, priority } = own;
  const { logprobs: topCount, cachePartition } = own;
  const { tools, template } = toTools(options);
  return {
    request: {
      prompt: {
        messages: toChatMessages(options.prompt),
        template: { ...toTemplate(own, reasoning), ...template },
      },
      sampling: toSampling(options, own),
      stop: toStop(options, own),
      ...definedValues({
        skipSpecialTokens,
        badWords,
        repetitionDetection,
        truncatePromptTokens,
        priority,
        cachePartition,
        logprobs: topCount === undefined ? undefined : { topCount },
        constraint: toConstraint(options.responseFormat, own),
        tools,
      }),
    },
    warnings: [...findUnsupportedSettings(options), ...reasoning.warnings],
  };
}

function toTemplate(
  { chatTemplate: template, chatTemplateKwargs, continueFinalMessage }: OrtlerProviderOptions,
  reasoning: TemplateReasoning,
): ChatTemplateOptions {
  return {
    variables: { ...reasoning.variables, ...chatTemplateKwargs },
    ...definedValues({ template }),
    ...(continueFinalMessage && { continueFinalMessage, addGenerationPrompt: false }),
  };
}

function toSampling(
  { temperature, topP, topK, presencePenalty, frequencyPenalty, seed }: LanguageModelV4CallOptions,
  { minP, repetitionPenalty, logitBias, allowedTokenIds }: OrtlerProviderOptions,
): Partial<SamplingParams> {
  return definedValues({
    temperature,
    topP,
    topK,
    minP,
    presencePenalty,
    frequencyPenalty,
    repetitionPenalty,
    allowedTokenIds,
    logitBias: logitBias && Object.entries(logitBias).map(([id, bias]) => ({ tokenId: Number(id), bias })),
    seed: seed === undefined ? undefined : toSeed(seed),
  });
}

function toSeed(seed: number): bigint {
  if (Number.isSafeInteger(seed)) return BigInt(seed);
  throw new InvalidArgumentError({ argument: 'seed', message: `seed must be a safe integer; got ${seed}.` });
}

function toStop(
  { stopSequences: strings, maxOutputTokens: maxTokens }: LanguageModelV4CallOptions,
  {
    stopTokenIds: tokenIds,
    includeStopInOutput: includeInOutput,
    ignoreEos,
    minTokens,
  }: OrtlerProviderOptions,
): StopConditions {
  return definedValues({ strings, tokenIds, includeInOutput, ignoreEos, maxTokens, minTokens });
}
