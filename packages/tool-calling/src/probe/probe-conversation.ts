// The conversations that a chat template is asked to render, and the text of their calls.

import { commonStart } from './common-text.ts';

/** Renders messages with tools through a chat template; null where the template refuses them. */
export type RenderConversation = (
  messages: readonly Readonly<Record<string, unknown>>[],
  tools: readonly unknown[],
) => string | null;

export type ProbeArguments = Readonly<Record<string, string | boolean>>;

export const FIRST = 'alpha_fn';
export const SECOND = 'beta_fn';
/** Nine letters and digits, the strictest form of any template. Each call has the next digit. */
const ID = 'probeid0';
/** Stands for an id in rendered text; no template writes it. */
export const ID_PLACE = '\u0001';
const ANSWER = '\u2603 answer \u2603';

const QUESTION = { role: 'user', content: 'Which one?' };
const TOOLS = [FIRST, SECOND].map(name => ({
  type: 'function',
  function: {
    name,
    description: 'A probe.',
    parameters: {
      type: 'object',
      properties: {
        first_key: { type: 'string', description: 'a' },
        second_key: { type: 'string', description: 'b' },
      },
      required: ['first_key'],
    },
  },
}));

export interface ProbeCall {
  readonly name: string;
  readonly arguments: ProbeArguments;
}

const toMessage = (calls: readonly ProbeCall[], toId = (index: number) => `${ID}${index + 1}`) => ({
  role: 'assistant',
  content: '',
  tool_calls: calls.map((call, index) => ({ id: toId(index), type: 'function', function: call })),
});

/** The text of an assistant's calls, without the marks of its turn; null where it cannot be told. */
export function renderCalls(render: RenderConversation, calls: readonly ProbeCall[]): string | null {
  const plain = render([QUESTION, { role: 'assistant', content: ANSWER }], TOOLS);
  const rendered = render([QUESTION, toMessage(calls)], TOOLS);
  if (plain === null || rendered === null) return null;
  const at = plain.indexOf(ANSWER);
  if (at === -1) return null;
  const before = plain.slice(0, at).trimEnd();
  const after = plain.slice(at + ANSWER.length).trim();
  // Before a text there may be marks of reasoning or of an answer, which calls do not have.
  const start = rendered.startsWith(before) ? before : commonStart(before, rendered).trimEnd();
  if (start.lastIndexOf(QUESTION.content) === -1) return null;
  const body = rendered.slice(start.length).trim();
  // Some templates write an empty answer after calls, others the end of the text before them.
  const end = after === '' ? body.length : body.indexOf(after, 1);
  const text = end === -1 ? withoutEndMark(body) : body.slice(0, end);
  return text?.trim().replaceAll(new RegExp(`${ID}\\d`, 'g'), ID_PLACE) ?? null;
}

/** Whether the template takes ids of the length that OpenAI gives them. */
export function takesLongIds(render: RenderConversation): boolean {
  const call = { name: FIRST, arguments: { first_key: 'a' } };
  return render([QUESTION, toMessage([call], () => `call_${'a'.repeat(24)}`)], TOOLS) !== null;
}

/** Whether a call is in what the template renders; also true where it refuses calls. */
export function showsCalls(render: RenderConversation): boolean {
  const call = { name: FIRST, arguments: { first_key: 'a' } };
  const [plain, called] = [toMessage([]), toMessage([call])].map(answer => render([QUESTION, answer], TOOLS));
  return called == null || called.split(FIRST).length > (plain ?? '').split(FIRST).length;
}

/** A turn with calls may end in a mark of its own. */
function withoutEndMark(body: string): string | null {
  const end = /<[|\uff5c]?[^<>]*(?:end|eo[mst])[^<>]*>$/.exec(body);
  return end === null ? null : body.slice(0, end.index);
}
