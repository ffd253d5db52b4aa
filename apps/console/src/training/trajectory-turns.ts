// A logged trajectory as the turns of a conversation. Logs hold whatever a client sent, so nothing is taken for granted. Pure.

import { printJson } from '../components/print-json.ts';

export interface TrajectoryTurn {
  readonly role: string;
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  /** A choice of the model, which can be trained on. */
  readonly isChoice: boolean;
  /** Of choices that were logged with them. */
  readonly tokens: readonly { readonly text: string; readonly logprob: number }[];
}

export interface TrajectoryHistory {
  readonly title: string;
  readonly turns: readonly TrajectoryTurn[];
}

/** The conversation, and those of sub-agents after it. */
export function toHistories(trajectory: unknown): readonly TrajectoryHistory[] {
  const record = recordOf(trajectory);
  const more = listOf(record.additional_histories);
  return [
    { title: 'Conversation', turns: toTurns(record.messages_and_choices) },
    ...more.map((history, index) => ({
      title: `Additional history ${index + 1}`,
      turns: toTurns(recordOf(history).messages_and_choices),
    })),
  ];
}

function toTurns(items: unknown): readonly TrajectoryTurn[] {
  return listOf(items).map(item => {
    const record = recordOf(item);
    const isChoice = typeof record.message === 'object' && record.message !== null;
    const message = isChoice ? recordOf(record.message) : record;
    return {
      role: textOf(message.role) || 'unknown',
      content: contentOf(message.content),
      reasoning: textOf(message.reasoning) || textOf(message.reasoning_content),
      toolCalls: listOf(message.tool_calls).map(call => {
        const called = recordOf(recordOf(call).function);
        return { name: textOf(called.name), arguments: textOf(called.arguments) };
      }),
      isChoice,
      tokens: listOf(recordOf(record.logprobs).content).flatMap(token => {
        const { token: text, logprob } = recordOf(token);
        return typeof text === 'string' && typeof logprob === 'number' ? [{ text, logprob }] : [];
      }),
    };
  });
}

/** Text of a message: a text, or its parts. Parts without text are shown as JSON. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content == null ? '' : printJson(content);
  return content
    .map(part => {
      const { text } = recordOf(part);
      return typeof text === 'string' ? text : printJson(part);
    })
    .join('\n');
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
