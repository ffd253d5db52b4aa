// Validation rules of each feedback type for fields and payload, in the order of the original service: payload, then
// references. Returns the payload to store. Source: the original's create request.

import type { FeedbackCreateRequest } from '@ortler/schemas';
import { ApiError } from '../trpc/errors.ts';
import { describeReaction, isSingleEmoji } from './reaction.ts';
import { parseWeaveRef, type WeaveRef } from './weave-ref.ts';

type Payload = Readonly<Record<string, unknown>>;
type RefField = 'annotation_ref' | 'runnable_ref' | 'call_ref' | 'trigger_ref';

const REF_FIELDS: readonly RefField[] = ['annotation_ref', 'runnable_ref', 'call_ref', 'trigger_ref'];
const SCORER_FIELDS = [
  'scorer_tags',
  'scorer_tag_reasons',
  'scorer_tag_confidences',
  'scorer_ratings',
  'scorer_rating_reasons',
  'scorer_rating_confidences',
] as const;
const MAX_NOTE_LENGTH = 1_024;

/** The payload to store. Throws: `invalid_parameter` with the violated rule. */
export function checkFeedbackType(request: FeedbackCreateRequest): Payload {
  const { feedback_type: type } = request;
  if (type === 'wandb.reaction.1') return checkReaction(request);
  if (type === 'wandb.note.1') return checkNote(request);
  if (type.startsWith('wandb.annotation')) return checkAnnotation(request);
  if (type.startsWith('wandb.runnable')) return checkRunnable(request);
  if (type === 'wandb.agent_monitor') return checkAgentMonitor(request);
  if (type === 'wandb.agent_user_feedback') return checkAgentUserFeedback(request);
  forbidRefs(request, REF_FIELDS);
  forbidScores(request);
  return request.payload;
}

function checkReaction(request: FeedbackCreateRequest): Payload {
  const { emoji } = request.payload;
  if (typeof emoji !== 'string')
    throw refusal('payload', 'The payload of a reaction must have `emoji`, a text');
  if (!isSingleEmoji(emoji)) throw refusal('payload', 'The `emoji` of a reaction must be exactly one emoji');
  forbidRefs(request, REF_FIELDS);
  forbidScores(request);
  return { ...request.payload, ...describeReaction(emoji) };
}

function checkNote(request: FeedbackCreateRequest): Payload {
  const { note } = request.payload;
  if (typeof note !== 'string') throw refusal('payload', 'The payload of a note must have `note`, a text');
  // Characters, not UTF-16 code units.
  const length = [...note.slice(0, 2 * MAX_NOTE_LENGTH + 2)].length;
  if (length < 1 || length > MAX_NOTE_LENGTH)
    throw refusal('payload', `The \`note\` must have 1 to ${MAX_NOTE_LENGTH} characters`);
  forbidRefs(request, REF_FIELDS);
  forbidScores(request);
  return request.payload;
}

function checkAnnotation(request: FeedbackCreateRequest): Payload {
  const name = nameOf(request.feedback_type, 'wandb.annotation');
  const ref = requireRef(request, 'annotation_ref', ['object']);
  if (ref.name !== name)
    throw refusal('annotation_ref', `annotation_ref must name ${name}, as the feedback type does`);
  if (ref.projectId !== request.project_id)
    throw refusal('annotation_ref', 'annotation_ref must belong to the project of the feedback');
  requirePayloadKey(request, 'value');
  checkRefs(request, ['runnable_ref', 'call_ref', 'trigger_ref']);
  forbidScores(request);
  return request.payload;
}

function checkRunnable(request: FeedbackCreateRequest): Payload {
  const name = nameOf(request.feedback_type, 'wandb.runnable');
  const ref = requireRef(request, 'runnable_ref', ['op', 'object']);
  if (ref.name !== name)
    throw refusal('runnable_ref', `runnable_ref must name ${name}, as the feedback type does`);
  if (ref.kind === 'op') requireRef(request, 'call_ref', ['call']);
  requirePayloadKey(request, 'output');
  forbidRefs(request, ['annotation_ref']);
  checkRefs(request, ['call_ref', 'trigger_ref']);
  return request.payload;
}

function checkAgentMonitor(request: FeedbackCreateRequest): Payload {
  requireRef(request, 'runnable_ref', ['op', 'object']);
  requireRef(request, 'call_ref', ['call']);
  requireRef(request, 'trigger_ref', ['object']);
  forbidRefs(request, ['annotation_ref']);
  return request.payload;
}

function checkAgentUserFeedback(request: FeedbackCreateRequest): Payload {
  const tags = request.scorer_tags ?? [];
  if (tags.length === 0)
    throw refusal('scorer_tags', `scorer_tags must not be empty for ${request.feedback_type}`);
  forbidRefs(request, REF_FIELDS);
  const [tag] = tags;
  if (tags.length !== 1 || !isSingleEmoji(tag!)) return request.payload;
  return { ...request.payload, detoned_alias: describeReaction(tag!).detoned_alias };
}

/** The name after a prefix such as `wandb.annotation.`. Throws: `invalid_parameter` without a name. */
function nameOf(type: string, prefix: string): string {
  const name = type.startsWith(`${prefix}.`) ? type.slice(prefix.length + 1) : '';
  if (name === '') throw refusal('feedback_type', `The feedback type must be ${prefix}.<name>`);
  return name;
}

/** The kinds of reference that a field accepts. */
const REF_KINDS: Readonly<Record<RefField, readonly WeaveRef['kind'][]>> = {
  annotation_ref: ['object'],
  runnable_ref: ['op', 'object'],
  call_ref: ['call'],
  trigger_ref: ['object'],
};

type RefOf<Kind extends WeaveRef['kind']> = Extract<
  WeaveRef,
  { kind: Kind extends 'call' ? 'call' : 'object' | 'op' }
>;

function requireRef<Kind extends WeaveRef['kind']>(
  request: FeedbackCreateRequest,
  field: RefField,
  kinds: readonly Kind[],
): RefOf<Kind> {
  const text = request[field];
  if (text == null) throw refusal(field, `${field} is required for ${request.feedback_type}`);
  return parseRef(text, field, kinds) as RefOf<Kind>;
}

function checkRefs(request: FeedbackCreateRequest, fields: readonly RefField[]): void {
  for (const field of fields) {
    const text = request[field];
    if (text != null) parseRef(text, field, REF_KINDS[field]);
  }
}

function parseRef(text: string, field: RefField, kinds: readonly WeaveRef['kind'][]): WeaveRef {
  const ref = parseWeaveRef(text);
  if (ref !== null && kinds.includes(ref.kind)) return ref;
  const shapes = kinds.map(kind =>
    kind === 'call'
      ? 'weave:///<entity>/<project>/call/<id>'
      : `weave:///<entity>/<project>/${kind}/<name>:<digest>`,
  );
  throw refusal(field, `${field} must be ${shapes.join(' or ')}`);
}

function forbidRefs(request: FeedbackCreateRequest, fields: readonly RefField[]): void {
  for (const field of fields)
    if (request[field] != null)
      throw refusal(field, `${field} is not allowed for feedback of type ${request.feedback_type}`);
}

function forbidScores(request: FeedbackCreateRequest): void {
  for (const field of SCORER_FIELDS) {
    const given = request[field];
    if (given != null && Object.keys(given).length > 0)
      throw refusal(field, `${field} is not allowed for feedback of type ${request.feedback_type}`);
  }
}

function requirePayloadKey(request: FeedbackCreateRequest, key: string): void {
  if (!Object.hasOwn(request.payload, key))
    throw refusal('payload', `The payload of ${request.feedback_type} must have \`${key}\``);
}

function refusal(param: string, message: string): ApiError {
  return new ApiError('invalid_parameter', message, { param });
}
