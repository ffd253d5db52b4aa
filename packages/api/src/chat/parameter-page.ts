// The page that lists every field of a chat request with its type, default, meaning and support. Made from the schema
// and the support table, so it cannot differ from what the server does; `docs/chat-parameters.md` holds it.

import { chatCompletionRequest } from '@ortler/schemas';
import { z } from 'zod';
import { describeSupport } from '../generation/parameter-support.ts';
import { IGNORED_FIELDS_HEADER } from '../trpc/name-ignored-fields.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

const HEAD = `# Fields of a chat request

Body of \`POST /v1/chat/completions\` and input of \`chat.complete\` and \`chat.stream\`. Fields that are not listed are
accepted and ignored, and the reply names them in its header \`${IGNORED_FIELDS_HEADER}\`. Numbers may be written as
text, whole floats are integers, and \`null\` means the default where the type allows it. This page is made by
\`packages/api/test/golden/write-parameter-page.ts\`.
`;

/** The page in Markdown. */
export function renderParameterPage(): string {
  const { properties = {} } = z.toJSONSchema(chatCompletionRequest, { io: 'input' });
  const rows = Object.entries(properties).map(([field, property]) => {
    const schema = property as JsonSchema;
    const meaning = [schema.description ?? innerDescription(schema), describeSupport(field)];
    const cells = [`\`${field}\``, typeOf(schema), defaultOf(schema), meaning.filter(Boolean).join(' ')];
    return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [HEAD, '| field | type | default | meaning |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}

function typeOf(schema: JsonSchema): string {
  if (Array.isArray(schema.anyOf)) return unique(schema.anyOf.map(typeOf)).join(' or ');
  if (Array.isArray(schema.oneOf)) return unique(schema.oneOf.map(typeOf)).join(' or ');
  if (Array.isArray(schema.enum)) return schema.enum.map(value => JSON.stringify(value)).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === 'array') return `array of ${typeOf((schema.items ?? {}) as JsonSchema)}`;
  return Array.isArray(schema.type) ? schema.type.join(' or ') : String(schema.type ?? 'any');
}

function defaultOf(schema: JsonSchema): string {
  return schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
}

function innerDescription(schema: JsonSchema): string {
  const members = (schema.anyOf ?? []) as readonly JsonSchema[];
  return String(members.find(({ description }) => description !== undefined)?.description ?? '');
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)];
}
