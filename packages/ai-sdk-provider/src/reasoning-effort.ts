// The AI SDK's `reasoning` setting -> variables of the chat template, the only place where a model's reasoning is switched.
// Which variables a template knows is read off its text.

import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import { unsupported } from './unsupported-settings.ts';

type Effort = NonNullable<LanguageModelV4CallOptions['reasoning']>;

export interface TemplateReasoning {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly warnings: readonly SharedV4Warning[];
}

/** Efforts that templates with `reasoning_effort` know. Source: the chat template of gpt-oss. */
const TEMPLATE_EFFORTS: Readonly<Record<Exclude<Effort, 'provider-default' | 'none'>, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

export function toTemplateReasoning(
  effort: Effort | undefined,
  chatTemplate: string | null,
): TemplateReasoning {
  if (effort === undefined || effort === 'provider-default') return { variables: {}, warnings: [] };
  const hasSwitch = /\benable_thinking\b/.test(chatTemplate ?? '');
  const hasEffort = /\breasoning_effort\b/.test(chatTemplate ?? '');
  if (effort === 'none') {
    if (hasSwitch) return { variables: { enable_thinking: false }, warnings: [] };
    return {
      variables: {},
      warnings: [unsupported('reasoning', 'The chat template of this model cannot turn reasoning off.')],
    };
  }
  if (!hasSwitch && !hasEffort) {
    const details = 'The chat template of this model has no setting for reasoning.';
    return { variables: {}, warnings: [unsupported('reasoning', details)] };
  }
  const known = TEMPLATE_EFFORTS[effort];
  const variables = {
    ...(hasSwitch && { enable_thinking: true }),
    ...(hasEffort && { reasoning_effort: known }),
  };
  if (hasEffort && known === effort) return { variables, warnings: [] };
  const details = hasEffort
    ? `Efforts are low, medium and high: ${known} is used.`
    : 'The chat template of this model turns reasoning on or off, without an effort.';
  return { variables, warnings: [{ type: 'compatibility', feature: 'reasoning', details }] };
}
