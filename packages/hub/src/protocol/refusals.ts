// HTTP errors of the Hub as errors with a remedy. Source of the header names: huggingface_hub, `utils/_http.py`.

import { HubError } from '../errors.ts';
import { readRetryAfter, TransportFailure } from './transport-failure.ts';

export interface RefusedRequest {
  /** The thing that was requested, for messages: `org/model`, or a file of it. */
  readonly subject: string;
  /** A file of a repository that was listed, so the repository exists. */
  readonly isFile: boolean;
  readonly repository: string;
  readonly revision: string;
  readonly endpoint: string;
  readonly hasToken: boolean;
}

const TOKEN_HINT =
  'set HF_TOKEN to a token from https://huggingface.co/settings/tokens, or log in with `hf auth login`';

/** Of the Hub's own words. */
const MAX_REASON_LENGTH = 300;

/** The error of a reply with a status of 400 or more. It never holds the token. */
export function toRefusal(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  request: RefusedRequest,
): HubError | TransportFailure {
  const { subject, isFile, repository, revision, endpoint, hasToken } = request;
  const code = headers.get('x-error-code');
  if (status === 429) {
    const retryAfterMs = readRetryAfter(headers.get('retry-after'), Date.now());
    const wait = retryAfterMs === undefined ? '' : ` and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
    return new TransportFailure(
      'rate-limited',
      `${endpoint} limits the rate of requests (429)${wait}${hasToken ? '' : `; with a token the limit is higher: ${TOKEN_HINT}`}.`,
      { retryAfterMs },
    );
  }
  if (status === 408 || status >= 500)
    return new TransportFailure('busy', `${endpoint} answered ${status} for ${subject}.`, {
      retryAfterMs: readRetryAfter(headers.get('retry-after'), Date.now()),
    });
  if (code === 'GatedRepo')
    return new HubError(
      'access_denied',
      `${repository} is gated. Accept its licence at ${endpoint}/${repository}${hasToken ? ' with the account of your token' : `, then ${TOKEN_HINT}`}.`,
    );
  if (code === 'RevisionNotFound')
    return new HubError('not_found', `${repository} has no revision "${revision}" at ${endpoint}.`);
  // Mirrors send no code.
  if (code === 'EntryNotFound' || (status === 404 && isFile))
    return new HubError('not_found', `${subject} does not exist at ${endpoint}.`);
  if (status === 401 && hasToken)
    return new HubError(
      'access_denied',
      `${endpoint} does not accept the token (401). Use another: ${TOKEN_HINT}.`,
    );
  if (status === 401)
    // The Hub does not tell anonymous callers which of the two it is.
    return new HubError(
      'repository_not_found',
      `${repository} does not exist at ${endpoint}, or it is private. Check the name; for a private model ${TOKEN_HINT}.`,
    );
  // Of a repository that was disabled, for example, whatever the token may do.
  const reason = headers.get('x-error-message')?.slice(0, MAX_REASON_LENGTH);
  if (status === 403 && reason)
    return new HubError('access_denied', `${endpoint} refuses ${subject} (403): ${reason}`);
  if (status === 403)
    return new HubError(
      'access_denied',
      `${endpoint} refuses ${subject} (403)${hasToken ? ': the token has no permission to read it' : `: ${TOKEN_HINT}`}.`,
    );
  if (status === 404)
    return new HubError(
      'repository_not_found',
      `${repository} does not exist at ${endpoint}${hasToken ? ', or the token has no access to it' : ''}.`,
    );
  return new HubError('reply_invalid', `${endpoint} answered ${status} for ${subject}.`);
}
