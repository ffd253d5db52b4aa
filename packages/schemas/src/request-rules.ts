// Rules between fields that chat and completion requests share. Callers: the checks of both request schemas.

import type { z } from 'zod';
import { reportRule } from './lax-primitives.ts';

interface SharedRuleFields {
  readonly stream: boolean;
  readonly stream_options?: object | null | undefined;
  readonly prompt_logprobs?: number | null | undefined;
  readonly response_format?: { readonly type: string } | null | undefined;
  readonly structured_outputs?: object | null | undefined;
  readonly engine_xargs?: object | null | undefined;
  readonly vllm_xargs?: object | null | undefined;
}

/** Reports fields that require or exclude each other. */
export function checkSharedRules(context: z.core.ParsePayload<SharedRuleFields>): void {
  const request = context.value;
  if (request.stream_options && Object.keys(request.stream_options).length > 0 && !request.stream) {
    reportRule(context, 'stream_options', 'stream_options needs stream: true');
  }
  if (request.structured_outputs && request.response_format && request.response_format.type !== 'text') {
    reportRule(
      context,
      'structured_outputs',
      `structured_outputs cannot be combined with response_format ${request.response_format.type}`,
    );
  }
  if (request.engine_xargs && request.vllm_xargs) {
    reportRule(context, 'vllm_xargs', 'vllm_xargs is another name of engine_xargs; give only one of them');
  }
  checkPromptLogprobs(context);
}

function checkPromptLogprobs(context: z.core.ParsePayload<SharedRuleFields>): void {
  const { prompt_logprobs = null, stream } = context.value;
  if (prompt_logprobs === null) return;
  if (prompt_logprobs < -1) {
    reportRule(context, 'prompt_logprobs', `prompt_logprobs must be -1, 0 or above; got ${prompt_logprobs}`);
  } else if (prompt_logprobs !== 0 && stream) {
    reportRule(context, 'prompt_logprobs', 'prompt_logprobs cannot be combined with stream: true');
  }
}
