import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { toTemplateReasoning } from './reasoning-effort.ts';

const SWITCH = '{% if enable_thinking %}<think>{% endif %}';
const EFFORT = 'Reasoning: {{ reasoning_effort }}';

it.each<[LanguageModelV4CallOptions['reasoning'], string | null, object, string | null]>([
  [undefined, SWITCH, {}, null],
  ['provider-default', SWITCH + EFFORT, {}, null],
  ['none', SWITCH, { enable_thinking: false }, null],
  ['none', EFFORT, {}, 'unsupported'],
  ['none', null, {}, 'unsupported'],
  ['high', null, {}, 'unsupported'],
  ['high', '{{ messages }}', {}, 'unsupported'],
  ['high', EFFORT, { reasoning_effort: 'high' }, null],
  ['high', SWITCH + EFFORT, { enable_thinking: true, reasoning_effort: 'high' }, null],
  ['high', SWITCH, { enable_thinking: true }, 'compatibility'],
  ['minimal', EFFORT, { reasoning_effort: 'low' }, 'compatibility'],
  ['xhigh', EFFORT, { reasoning_effort: 'high' }, 'compatibility'],
])('reasoning %s under the template %j gives %j', (effort, template, variables, warning) => {
  const found = toTemplateReasoning(effort, template);
  expect(found.variables).toEqual(variables);
  expect(found.warnings.map(({ type }) => type)).toEqual(warning === null ? [] : [warning]);
});
