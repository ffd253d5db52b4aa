// `ortler chat`: answers one question, or holds a conversation, in the terminal.

import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { type ChatMessage, validateSamplingParams } from '@ortler/engine';
import { isModelReference } from '@ortler/hub';
import type { Config } from '../../config/config.ts';
import { isOwnModel, type OwnModel } from '../../config/model-list.ts';
import { ownCommand } from '../../system/own-command.ts';
import { toGivenSource } from '../fetch-source.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';
import { type AnswerSettings, type ChatSource, openEngineSource, openServerSource } from './chat-source.ts';
import { toUserError } from './to-user-error.ts';

export interface ChatArguments extends AnswerSettings {
  /** Absent: a conversation until Ctrl-D. */
  readonly question: string | undefined;
  /** A model id of the configuration or of the server, a path, or a name of the Hub. */
  readonly model: string | undefined;
  readonly system: string | undefined;
  /** A running server; absent: the engine runs here. */
  readonly url: string | undefined;
}

/**
 * The model and the question among the arguments: `[model] [question]`. One argument alone is the question, unless it has the
 * form of a name or is a path. Throws: `UserError` for two models.
 */
export function readChatArguments(
  [first, second]: readonly (string | undefined)[],
  model: string | undefined,
): Pick<ChatArguments, 'model' | 'question'> {
  if (first === undefined) return { model, question: undefined };
  if (second !== undefined && model !== undefined)
    throw new UserError(`Two models are given: ${first} and --model ${model}. Put a question in quotes.`);
  if (second !== undefined) return { model: first, question: second };
  const isPath = /[/\\]/.test(first) && existsSync(first);
  const isModel = model === undefined && !/\s/.test(first) && (isPath || isModelReference(first));
  return isModel ? { model: first, question: undefined } : { model, question: first };
}

/** Runs the command. Throws: `UserError` for an unusable model, server or question. */
export async function chat(args: ChatArguments, config: Config, terminal: Terminal): Promise<void> {
  checkSampling(args);
  const source =
    args.url === undefined
      ? await openEngineSource(pickModel(args.model, config), config, terminal)
      : await openServerSource(args.url, config.apiKey, args.model);
  const messages: ChatMessage[] = args.system === undefined ? [] : [{ role: 'system', content: args.system }];
  try {
    if (args.question === undefined) await converse(source, messages, args, terminal);
    else await answerOnce(source, [...messages, { role: 'user', content: args.question }], args, terminal);
  } finally {
    await source.close();
  }
}

/** Before the model, whose download may take an hour. Throws: `UserError`. */
function checkSampling({ temperature }: AnswerSettings): void {
  try {
    if (temperature !== undefined) validateSamplingParams({ temperature });
  } catch (error) {
    throw toUserError(error);
  }
}

function pickModel(name: string | undefined, { models }: Config): OwnModel {
  const found = name === undefined ? models[0]! : models.find(({ id }) => id === name);
  if (found === undefined) return { id: name!, source: toGivenSource(name!) };
  if (isOwnModel(found)) return found;
  throw new UserError(
    `Other servers answer for the model ${found.id}. Start \`${ownCommand('serve')}\`, and give its address with --url.`,
  );
}

async function answerOnce(
  source: ChatSource,
  messages: readonly ChatMessage[],
  settings: AnswerSettings,
  terminal: Terminal,
): Promise<void> {
  const interrupted = new AbortController();
  const onSignal = () => interrupted.abort();
  process.once('SIGINT', onSignal);
  try {
    await writeAnswer(source, messages, settings, terminal, interrupted.signal);
  } finally {
    process.off('SIGINT', onSignal);
  }
}

async function converse(
  source: ChatSource,
  messages: ChatMessage[],
  settings: AnswerSettings,
  terminal: Terminal,
): Promise<void> {
  terminal.err(`Talking to ${source.name}. Ctrl-C stops an answer, Ctrl-D ends.\n`);
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: '\n> ' });
  let answering: AbortController | undefined;
  let isClosed = false;
  lines.once('close', () => {
    isClosed = true;
  });
  lines.on('SIGINT', () => {
    if (answering === undefined) lines.close();
    else answering.abort();
  });
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() !== '') {
      answering = new AbortController();
      await takeTurn(source, messages, line, settings, terminal, answering.signal);
      answering = undefined;
    }
    // A file or pipe often ends before the answer does.
    if (!isClosed) lines.prompt();
  }
  terminal.err('\n');
}

/** One question and its answer. A refused question is reported and dropped, so that the conversation can go on. */
async function takeTurn(
  source: ChatSource,
  messages: ChatMessage[],
  question: string,
  settings: AnswerSettings,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const asked = [...messages, { role: 'user', content: question }];
  try {
    const content = await writeAnswer(source, asked, settings, terminal, signal);
    messages.splice(0, messages.length, ...asked, { role: 'assistant', content });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    terminal.err(`${error.message}\n`);
  }
}

/** Streams one answer to the terminal and returns its text. Interrupting it is not an error. */
async function writeAnswer(
  source: ChatSource,
  messages: readonly ChatMessage[],
  settings: AnswerSettings,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string> {
  let answer = '';
  try {
    for await (const text of source.answer(messages, settings, signal)) {
      terminal.out(text);
      answer += text;
    }
  } catch (error) {
    if (!signal.aborted) throw toUserError(error);
  }
  terminal.out('\n');
  return answer;
}
