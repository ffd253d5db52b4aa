// `response_format` and `structured_outputs` of the wire -> the one constraint of the engine. Their envelopes are checked
// by the schemas; whether a schema or grammar is sound is the engine's question.

import type { ConstraintSpec, JsonStyle, ToolsRequest } from '@ortler/engine';
import { type ChatCompletionRequest, CONSTRAINT_FIELDS } from '@ortler/schemas';
import { ApiError } from '../trpc/errors.ts';

type Fields = Pick<ChatCompletionRequest, 'response_format' | 'structured_outputs' | 'use_beam_search'> &
  Partial<Pick<ChatCompletionRequest, 'tools' | 'tool_choice'>>;
type StructuredOutputs = NonNullable<Fields['structured_outputs']>;

/** The names by which this engine may be asked for; none asks for no other one. */
const OWN_BACKENDS = ['auto', 'guidance', 'llguidance'];

/** Null when the request asks for plain text. Throws: `invalid_parameter` naming the field. */
export function toConstraint(request: Fields): ConstraintSpec | null {
  const fromFormat = fromResponseFormat(request.response_format);
  const { structured_outputs: outputs } = request;
  if (outputs != null && !hasConstraint(outputs)) {
    if (request.tools == null || request.tool_choice == null || request.tool_choice === 'none')
      throw new ApiError(
        'malformed_request',
        `structured_outputs: Give exactly one of ${CONSTRAINT_FIELDS.join(', ')}; found none.`,
        { param: 'structured_outputs' },
      );
    return fromFormat;
  }
  const fromOutputs = outputs == null ? null : fromStructuredOutputs(outputs);
  if (fromFormat !== null && fromOutputs !== null)
    throw invalid('structured_outputs', 'structured_outputs cannot be combined with response_format.');
  const constraint = fromFormat ?? fromOutputs;
  if (constraint !== null && request.use_beam_search)
    throw invalidWithSearch(fromFormat === null ? 'structured_outputs' : 'response_format');
  return constraint;
}

/** The wire field that a constraint came from, for errors of the engine about it. */
export function constraintField(
  request: Partial<Pick<Fields, 'structured_outputs'>>,
): 'response_format' | 'structured_outputs' {
  return request.structured_outputs == null ? 'response_format' : 'structured_outputs';
}

function fromResponseFormat(format: Fields['response_format']): ConstraintSpec | null {
  if (format == null) return null;
  switch (format.type) {
    case 'text':
      return null;
    case 'json_object':
      return { jsonObject: true };
    case 'json_schema': {
      const { schema, strict } = format.json_schema;
      return { jsonSchema: schema, strict: strict ?? false };
    }
    case 'structural_tag':
      return { structuralTag: format };
  }
}

function fromStructuredOutputs(outputs: StructuredOutputs): ConstraintSpec {
  const { json, regex, choice, grammar, structural_tag: tag, _backend: backend } = outputs;
  if (backend != null && !OWN_BACKENDS.includes(backend))
    throw invalid(
      'structured_outputs',
      `structured_outputs._backend must be one of ${OWN_BACKENDS.join(', ')}; got ${JSON.stringify(backend.slice(0, 50))}.`,
    );
  const style = toStyle(outputs);
  const styled = style === null ? {} : { style };
  if (json != null) return { jsonSchema: json, ...styled };
  if (regex != null) return { regex };
  if (choice != null) return { choice };
  if (grammar != null) return { grammar };
  if (tag != null) return { structuralTag: tag, ...styled };
  return { jsonObject: true, ...styled };
}

/** The form of the arguments of calls; null as usual. Throws: `invalid_parameter`. */
export function toCallStyle({
  structured_outputs: outputs,
}: Fields): NonNullable<ToolsRequest['style']> | null {
  if (outputs == null) return null;
  const { closeObjects: _, ...style } = toStyle(outputs) ?? {};
  return Object.keys(style).length === 0 ? null : style;
}

function hasConstraint(outputs: StructuredOutputs): boolean {
  return CONSTRAINT_FIELDS.some(field => outputs[field] != null);
}

/** Null when JSON is written as usual. Throws: `invalid_parameter` when white space fields contradict each other. */
function toStyle(outputs: StructuredOutputs): JsonStyle | null {
  const { disable_additional_properties: closeObjects } = outputs;
  const { disable_number_limits: withoutLimits, disable_repetition_guard: withoutGuard } = outputs;
  const whitespace = toWhitespace(outputs);
  const style: JsonStyle = {
    ...(whitespace !== null && { whitespace }),
    ...(closeObjects && { closeObjects }),
    ...(withoutLimits != null && { limitNumbers: !withoutLimits }),
    ...(withoutGuard != null && { guardRepetition: !withoutGuard }),
  };
  return Object.keys(style).length === 0 ? null : style;
}

function toWhitespace(outputs: StructuredOutputs): NonNullable<JsonStyle['whitespace']> | null {
  const { disable_any_whitespace: isCompact, whitespace_pattern: pattern, json_whitespace: named } = outputs;
  const given = [
    isCompact && 'disable_any_whitespace',
    pattern != null && 'whitespace_pattern',
    named != null && named !== (isCompact ? 'none' : null) && 'json_whitespace',
  ].filter(name => name !== false);
  if (given.length > 1)
    throw invalid('structured_outputs', `structured_outputs: ${given.join(' and ')} contradict each other.`);
  if (isCompact) return 'none';
  return pattern == null ? (named ?? null) : { pattern };
}

function invalidWithSearch(field: string): ApiError {
  return invalid(field, `Beam search cannot follow a constraint: leave out use_beam_search, or ${field}.`);
}

function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_parameter', message, { param });
}
