// The answer object of POST /v1/responses before its first token: fields of the request, repeated with their defaults.

import type { ResponseObject, ResponseRequest } from '@ortler/schemas';

export interface ResponseHeader {
  readonly id: string;
  /** Unit: seconds since 1970. */
  readonly createdAt: number;
  readonly model: string;
}

/** An answer in progress, with an empty output. */
export function toResponseObject(
  { id, createdAt, model }: ResponseHeader,
  request: ResponseRequest,
  isStored: boolean,
): ResponseObject {
  const { reasoning, text, tools } = request;
  return {
    id,
    object: 'response',
    created_at: createdAt,
    completed_at: null,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: summaryOf(request) },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: 'default',
    store: isStored,
    temperature: request.temperature ?? null,
    text: { format: text?.format ?? { type: 'text' }, verbosity: 'medium' },
    tool_choice: request.tool_choice ?? 'auto',
    tools: tools ?? [],
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? null,
    truncation: request.truncation ?? 'disabled',
    usage: null,
    user: request.user ?? null,
  };
}

/** Null: the reasoning is given as content. */
export function summaryOf({ reasoning }: Pick<ResponseRequest, 'reasoning'>): 'auto' | 'detailed' | null {
  return reasoning?.summary ?? reasoning?.generate_summary ?? null;
}
