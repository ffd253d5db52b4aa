// Chooses the dialect of a model: what its configuration says, what its chat template renders, or the named dialect whose marks
// the template has.

import type { RenderConversation } from '../probe/probe-conversation.ts';
import { probeDialect } from '../probe/probe-dialect.ts';
import { readResponseTemplate } from '../response-template.ts';
import type { ToolDialect } from '../tool-dialect.ts';
import { NAMED_DIALECTS, type NamedDialect } from './named-dialects.ts';

export interface DialectSources {
  /** Source of the chat template. */
  readonly template: string;
  /** `response_template` of the tokenizer's configuration. */
  readonly responseTemplate?: unknown;
  /** Absent: the template is not rendered. */
  readonly render?: RenderConversation;
}

/** Null where none of them has a dialect. */
export function chooseDialect({ template, responseTemplate, render }: DialectSources): ToolDialect | null {
  const named = findNamedDialect(template);
  // A rendered call shows only a part of a format with channels, and the number of a call looks like any
  // other text.
  if (named?.dialect.isChannelled || named?.dialect.call.includes('index')) return named.dialect;
  const written = readResponseTemplate(responseTemplate);
  const probed = render === undefined ? null : probeDialect(render);
  // White space is in the rendered text only.
  if (written !== null && probed?.trigger !== written.trigger) return written;
  if (probed === null) return named?.dialect ?? null;
  if (named === null) return probed;
  const { name, ids, alsoRead } = named.dialect;
  return { ...probed, name, ids, ...(alsoRead !== undefined && { alsoRead }) };
}

/** Null where no dialect's marks are in the template. */
export function findNamedDialect(template: string): NamedDialect | null {
  const all: readonly NamedDialect[] = Object.values(NAMED_DIALECTS);
  const hasAll = (marks: readonly string[]) => marks.every(mark => template.includes(mark));
  const found = all.find(({ templateMarks }) => hasAll(templateMarks));
  return found ?? all.find(({ toolMarks }) => toolMarks !== undefined && hasAll(toolMarks)) ?? null;
}
