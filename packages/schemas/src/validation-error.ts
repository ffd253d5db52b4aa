// Maps zod's issues to validation errors in the format of FastAPI and pydantic: `{ detail: [{ loc, msg, type }] }`. The
// training and feedback endpoints answer with it (status 422); chat endpoints join the same items into one message.

import { z } from 'zod';

/** Part of the request that a field comes from. */
export type FieldLocation = 'body' | 'query' | 'path';

/** One fault of a request. Source: spec section 7. */
export const validationDetail = z.object({
  loc: z
    .array(z.string())
    .describe('Location of the fault: the part of the request, then keys and list indexes.'),
  msg: z.string().describe('Description of the fault, in one sentence.'),
  type: z.string().describe('Stable type of the fault, such as `missing` or `string_type`.'),
});
export type ValidationDetail = z.output<typeof validationDetail>;

/** Body of a 422 answer. */
export const validationErrorBody = z
  .object({ detail: z.array(validationDetail).describe('All faults of the request, in field order.') })
  .meta({
    examples: [{ detail: [{ loc: ['body', 'split'], msg: 'Field required', type: 'missing' }] }],
  });
export type ValidationErrorBody = z.output<typeof validationErrorBody>;

/** Body of the other errors of endpoints that answer with `detail`. */
export const detailErrorBody = z
  .object({ detail: z.string().describe('Description of the error.') })
  .meta({ examples: [{ detail: 'Not authenticated' }] });
export type DetailErrorBody = z.output<typeof detailErrorBody>;

/** Maximum number of items of one answer, which keeps a hostile body from causing an answer many times its own size. */
export const MAX_DETAILS = 1000;

/**
 * Returns the faults of `input`, in field order. Past the limit, a last item counts the omitted issues.
 * @param location Part of the request; a function when one input is gathered from several parts.
 * @param input The value that was parsed, which distinguishes a missing field from a wrong one.
 */
export function toValidationDetails(
  error: z.core.$ZodError,
  location: FieldLocation | ((field: string) => FieldLocation),
  input: unknown,
  limit = MAX_DETAILS,
): ValidationDetail[] {
  const locate = typeof location === 'function' ? location : () => location;
  const details: ValidationDetail[] = [];
  for (const [index, issue] of error.issues.entries()) {
    if (details.length >= limit) {
      const rest = error.issues.length - index;
      details.push({ loc: [locate('')], msg: `and ${rest} more`, type: 'too_many_errors' });
      break;
    }
    for (const { path, msg, type } of describeIssue(issue, [], input)) {
      details.push({ loc: [locate(path[0] ?? ''), ...path], msg, type });
    }
  }
  return details;
}

/**
 * The fault of a body that is not JSON, or that goes beyond a limit of it.
 * @param position Characters from the start.
 * @param limit What JSON holds that is beyond it, in words; undefined for what is not JSON.
 */
export function toJsonSyntaxDetails(position: number, limit?: string): ValidationDetail[] {
  const msg = limit === undefined ? 'JSON decode error' : `JSON decode error: ${limit}`;
  return [{ loc: ['body', String(position)], msg, type: 'json_invalid' }];
}

interface Fault {
  readonly path: readonly string[];
  readonly type: string;
  readonly msg: string;
}

function describeIssue(issue: z.core.$ZodIssue, parentPath: readonly PropertyKey[], input: unknown): Fault[] {
  const keys = [...parentPath, ...issue.path];
  const path = keys.map(String);
  const params = issue.code === 'custom' ? issue.params : undefined;
  const isRule = issue.code === 'custom' && (params?.type ?? 'value_error') === 'value_error';
  if (!isRule && isMissing(input, keys)) return [{ path, type: 'missing', msg: 'Field required' }];

  switch (issue.code) {
    case 'custom':
      return [
        {
          path: typeof params?.member === 'string' ? [...path, params.member] : path,
          type: typeof params?.type === 'string' ? params.type : 'value_error',
          msg: issue.message,
        },
      ];
    case 'invalid_type':
      return [{ path, ...(WRONG_TYPES[issue.expected] ?? otherFault(issue)) }];
    case 'invalid_value':
      return [{ path, ...wrongLiteral(issue.values) }];
    case 'invalid_union':
      return describeUnion(issue, keys, input);
    case 'unrecognized_keys':
      return issue.keys.map(key => ({
        path: [...path, key],
        type: 'extra_forbidden',
        msg: 'Extra inputs are not permitted',
      }));
    case 'invalid_key':
      // As pydantic writes it: the path of a key, not of its value.
      return issue.issues
        .flatMap(inner => describeIssue(inner, keys, input))
        .map(fault => ({ ...fault, path: [...fault.path, '[key]'] }));
    case 'too_small':
      return [{ path, ...tooSmall(issue) }];
    case 'too_big':
      return [{ path, ...tooBig(issue) }];
    default:
      return [{ path, ...otherFault(issue) }];
  }
}

type Described = Omit<Fault, 'path'>;

/** Pydantic's faults, by zod's name of the expected type. */
const WRONG_TYPES: Readonly<Record<string, Described>> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  record: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  object: {
    type: 'model_attributes_type',
    msg: 'Input should be a valid dictionary or object to extract fields from',
  },
};

/** Reports the faults of the union's first branch that matches the type, or else all expected types. */
function describeUnion(
  issue: z.core.$ZodIssueInvalidUnion,
  keys: readonly PropertyKey[],
  input: unknown,
): Fault[] {
  const path = keys.map(String);
  if ('options' in issue && issue.options !== undefined) {
    const names = issue.options.filter(option => option !== undefined && option !== null);
    return [{ path, ...wrongLiteral(names) }];
  }
  const branches = issue.errors.filter(branch => !branch.some(isTypeOfWhole));
  if (branches.length > 0) return branches[0]!.flatMap(inner => describeIssue(inner, keys, input));
  const [first, ...others] = issue.errors.flatMap(branch => describeIssue(branch[0]!, keys, input)[0] ?? []);
  if (first === undefined) return [{ path, ...otherFault(issue) }];
  const alternatives = others.map(fault => fault.msg.replace('Input should be ', ' or '));
  return [{ path, type: first.type, msg: first.msg + alternatives.join('') }];
}

function isTypeOfWhole(issue: z.core.$ZodIssue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === 'custom') return String(issue.params?.type).endsWith('_type');
  if (issue.code === 'invalid_union') return issue.errors.every(branch => branch.some(isTypeOfWhole));
  return issue.code === 'invalid_type';
}

function wrongLiteral(values: readonly unknown[]): Described {
  const names = values.map(value => `'${String(value)}'`);
  const last = names.pop();
  const list = names.length === 0 ? last : `${names.join(', ')} or ${last}`;
  return { type: 'literal_error', msg: `Input should be ${list}` };
}

function tooSmall({ origin, minimum, inclusive, message }: z.core.$ZodIssueTooSmall): Described {
  if (origin === 'string') {
    const noun = minimum === 1 ? 'character' : 'characters';
    return { type: 'string_too_short', msg: `String should have at least ${minimum} ${noun}` };
  }
  if (origin === 'array') {
    const noun = minimum === 1 ? 'item' : 'items';
    return { type: 'too_short', msg: `List should have at least ${minimum} ${noun} after validation` };
  }
  if (origin !== 'number' && origin !== 'int') return { type: 'value_error', msg: message };
  return inclusive === false
    ? { type: 'greater_than', msg: `Input should be greater than ${minimum}` }
    : { type: 'greater_than_equal', msg: `Input should be greater than or equal to ${minimum}` };
}

function tooBig({ origin, maximum, inclusive, message }: z.core.$ZodIssueTooBig): Described {
  if (origin === 'string') {
    return { type: 'string_too_long', msg: `String should have at most ${maximum} characters` };
  }
  if (origin === 'array') {
    return { type: 'too_long', msg: `List should have at most ${maximum} items after validation` };
  }
  if (origin !== 'number' && origin !== 'int') return { type: 'value_error', msg: message };
  return inclusive === false
    ? { type: 'less_than', msg: `Input should be less than ${maximum}` }
    : { type: 'less_than_equal', msg: `Input should be less than or equal to ${maximum}` };
}

function otherFault(issue: z.core.$ZodIssue): Described {
  return { type: 'value_error', msg: issue.message };
}

/** Whether the path is absent from the input: JSON has no undefined, so undefined means an absent key or body. */
function isMissing(input: unknown, keys: readonly PropertyKey[]): boolean {
  if (keys.length === 0) return input === undefined || input === null;
  let value = input;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return false;
    value = Object.hasOwn(value, key) ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  }
  return value === undefined;
}
