// Limits of this server and fields that contradict each other. Rules of the body alone are in its schema,
// ranges of sampling and stop values in the engine, each once.

import type { ChatCompletionRequest } from '@ortler/schemas';
import { holdsMoreValues } from '../trpc/bounded-input.ts';
import { ApiError } from '../trpc/errors.ts';

/** Maximum number of choices of one request: each one is a sequence in the queue. */
export const MAX_CHOICE_COUNT = 128;
/** Longest `request_id`: it is repeated in every chunk of a stream. */
export const MAX_REQUEST_ID_LENGTH = 200;

/**
 * Maximum number of values (objects, lists and what they hold) that one field may hand to the chat template: they are copied to
 * another thread. Tools with this many take tens of thousands of tokens.
 */
export const MAX_TEMPLATE_VALUES = 16_384;

type TemplateValues = { readonly [Field in 'chat_template_kwargs' | 'documents' | 'tools']?: unknown };

/** Template variables that the request's own fields fill. */
const RESERVED_VARIABLES = ['messages', 'tools'] as const;

/** Throws: `invalid_parameter`, naming the field. */
export function validateChatRequest(request: ChatCompletionRequest): void {
  const { n, chat_template_kwargs: variables } = request;
  checkRequestId(request.request_id);
  refuseIf(n < 1 || n > MAX_CHOICE_COUNT, 'n', `n must be 1 to ${MAX_CHOICE_COUNT}; got ${n}.`);
  checkTemplateValues(request);
  for (const name of RESERVED_VARIABLES)
    refuseIf(
      variables != null && Object.hasOwn(variables, name),
      'chat_template_kwargs',
      `chat_template_kwargs must not have the key ${name}; use the field ${name} of the request.`,
    );
}

/** Throws: `invalid_parameter` for a field that hands too many values to the template. */
export function checkTemplateValues(request: TemplateValues): void {
  for (const field of ['chat_template_kwargs', 'documents', 'tools'] as const)
    refuseIf(
      holdsMoreValues(request[field], MAX_TEMPLATE_VALUES),
      field,
      `${field} must hold at most ${MAX_TEMPLATE_VALUES} values, those inside of others too.`,
    );
}

/** Throws: `invalid_parameter` for an id that is too long to repeat. */
export function checkRequestId(id: string | undefined): void {
  const length = id?.length ?? 0;
  refuseIf(
    length > MAX_REQUEST_ID_LENGTH,
    'request_id',
    `request_id has ${length} characters; at most ${MAX_REQUEST_ID_LENGTH} are allowed.`,
  );
}

function refuseIf(wrong: boolean, param: string, message: string): void {
  if (wrong) throw new ApiError('invalid_parameter', message, { param });
}
