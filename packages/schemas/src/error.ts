// OpenAI error body of the chat and model endpoints, and the mapping of a failed parse to it.

import { z } from 'zod';
import { toValidationDetails, type ValidationDetail } from './validation-error.ts';

const errorExample = {
  error: {
    message: 'temperature: Input should be a valid number, unable to parse string as a number',
    type: 'Bad Request',
    param: 'temperature',
    code: 400,
  },
};

/** The error object that OpenAI clients read. All four keys are always present. */
export const openAiError = z.object({
  message: z.string().describe('Description of the error.'),
  type: z.string().describe('Kind of error, such as `Bad Request` or `NotFoundError`.'),
  param: z.string().nullable().describe('The field at fault, if there is one.'),
  code: z
    .union([z.int(), z.literal('context_length_exceeded')])
    .describe('The HTTP status, or `context_length_exceeded` where a shorter prompt would be answered.'),
});
export type OpenAiError = z.output<typeof openAiError>;

/** The body. */
export const openAiErrorBody = z
  .object({ error: openAiError.describe('The error.') })
  .meta({ examples: [errorExample] });
export type OpenAiErrorBody = z.output<typeof openAiErrorBody>;

/** Maximum number of faults that one message lists; more are only counted. */
const MAX_FAULTS_IN_MESSAGE = 8;

/** The 400 error of a chat body that failed to parse: `message` lists the faults, `param` names the first. */
export function toChatValidationError(error: z.core.$ZodError, input: unknown): OpenAiError {
  return toOpenAiValidationError(toValidationDetails(error, 'body', input, MAX_FAULTS_IN_MESSAGE));
}

/** Like `toChatValidationError`, from faults that are already described. */
export function toOpenAiValidationError(details: readonly ValidationDetail[]): OpenAiError {
  const faults = details.map(({ loc, msg, type }) => {
    if (type === 'too_many_errors') return msg;
    return `${loc.slice(1).join('.') || 'Request body'}: ${msg}`;
  });
  return {
    message: faults.join('; '),
    type: 'Bad Request',
    param: details[0]?.loc.slice(1).join('.') || null,
    code: 400,
  };
}

export const openAiErrorExamples = {
  valid: [errorExample, { error: { ...errorExample.error, param: null } }],
  invalid: [
    { input: { error: 'Unauthorized' }, type: 'model_attributes_type', loc: ['error'] },
    {
      input: { error: { ...errorExample.error, param: undefined } },
      type: 'missing',
      loc: ['error', 'param'],
    },
  ],
} as const;
