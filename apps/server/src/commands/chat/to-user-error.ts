// Failures of an answer -> messages of `ortler chat`, which name the flag where a request has a field.

import { EngineError } from '@ortler/engine';
import { TRPCClientError } from '@trpc/client';
import { UserError } from '../user-error.ts';

/** Fields of a request that a flag sets, by their names in the engine and on the wire. */
const FLAGS: Readonly<Record<string, string>> = {
  'stop.maxTokens': '--max-tokens',
  max_completion_tokens: '--max-tokens',
  'sampling.temperature': '--temperature',
  temperature: '--temperature',
};
/** The template of a request. The command has one for all requests. */
const TEMPLATE_FIELD = 'prompt.template.template';

/** Anything that is neither of the engine nor of a server is returned as it is. */
export function toUserError(error: unknown): unknown {
  if (error instanceof EngineError) {
    const message = inFlagWords(error.message, error.parameter);
    const hint = error.parameter === TEMPLATE_FIELD ? ' The flag is --chat-template FILE.' : '';
    return new UserError(`${message}${hint}`, { cause: error });
  }
  if (!(error instanceof TRPCClientError)) return error;
  // An error without data did not come from the server.
  if (error.data === undefined || error.data === null)
    return new UserError(`The server cannot be reached: ${rootMessage(error)}`, { cause: error });
  const { httpStatus, param } = error.data as {
    readonly httpStatus?: number;
    readonly param?: string | null;
  };
  const message =
    httpStatus === 401
      ? 'The server rejects the key of ORTLER_API_KEY or --api-key.'
      : inFlagWords(error.message, param ?? undefined);
  return new UserError(message, { cause: error });
}

/** Messages name a field by its path, or by the last part of it. */
function inFlagWords(message: string, field: string | undefined): string {
  const flag = field === undefined ? undefined : FLAGS[field];
  if (field === undefined || flag === undefined) return message;
  const name = message.includes(field) ? field : field.slice(field.lastIndexOf('.') + 1);
  return message.replace(name, flag);
}

function rootMessage(error: Error): string {
  return error.cause instanceof Error ? rootMessage(error.cause) : error.message || error.name;
}
