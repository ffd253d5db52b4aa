// One answer while it streams: text, reasoning, tool calls and tokens with their candidates. Pure: the clock comes in with
// each chunk. Callers: the playground's runs of chats and completions.

import type { ChatChunk, CompletionChunk, Usage } from '@ortler/schemas';

/** A token that the model could have taken. */
export interface Candidate {
  readonly text: string;
  readonly logprob: number;
  /** Present for tokens of prompts only. */
  readonly id?: number;
}

/** A token of an answer or of a prompt. */
export interface ShownToken extends Omit<Candidate, 'id'> {
  /** Null until the server has reported it. */
  readonly id: number | null;
  /** `end`: the token that ends the answer and is not part of its text. */
  readonly part: 'reasoning' | 'answer' | 'end' | 'prompt';
  /** The most probable tokens at this place; the token itself is first. */
  readonly candidates: readonly Candidate[];
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** `waiting`: sent, nothing has come yet. `stopped`: by the person, `failed`: by an error. */
export type AnswerPhase = 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';

/** What is known of an answer. Unit of times: milliseconds. */
export interface Answer {
  readonly phase: AnswerPhase;
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly tokens: readonly ShownToken[];
  /** Empty unless the request asked for token ids. */
  readonly promptTokenIds: readonly number[];
  readonly model: string;
  /** Id of the answer; empty before its first chunk. */
  readonly responseId: string;
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
}

export const EMPTY_ANSWER: Answer = {
  phase: 'waiting',
  content: '',
  reasoning: '',
  toolCalls: [],
  tokens: [],
  promptTokenIds: [],
  model: '',
  responseId: '',
  finishReason: null,
  usage: null,
  firstTokenMs: null,
  durationMs: null,
  error: null,
};

/** What a continued answer starts with. */
export type Beginning = Pick<Answer, 'content' | 'reasoning' | 'promptTokenIds' | 'tokens'>;

type OpenToken = Omit<ShownToken, 'id'>;

/** Which of the choices of a request a reader reads. */
interface Choice {
  readonly index: number;
  readonly count: number;
}

/** Reads the chunks of one answer. `read` is cheap; `snapshot` copies, so call it once for each frame. */
export class AnswerReader {
  readonly #startedMs: number;
  readonly #choice: Choice;
  #tokens: OpenToken[] = [];
  #tokenIds: number[] = [];
  /** The tokens of the last snapshot. */
  #shown: readonly ShownToken[] = [];
  /** The answer ended by itself, not at its length or a text of the request. */
  #isEnded = false;
  /** The prompt of a continued answer is that of its conversation, not the longer one of the request. */
  #hasPrompt = false;
  #answer: Answer = EMPTY_ANSWER;
  /** By the index of the wire, which other servers do not always count from 0. */
  readonly #toolCalls = new Map<number, ToolCall>();

  constructor(startedMs: number, choice: Choice = { index: 0, count: 1 }) {
    this.#startedMs = startedMs;
    this.#choice = choice;
  }

  /** Sets what the answer already has. Call it before the first chunk. */
  begin({ content, reasoning, promptTokenIds, tokens }: Beginning): void {
    this.#answer = { ...this.#answer, content, reasoning, promptTokenIds };
    this.#tokens = [...tokens];
    this.#tokenIds = tokens.flatMap(({ id }) => (id === null ? [] : [id]));
    this.#hasPrompt = true;
  }

  /** Reads a chunk of a chat; those of other choices change nothing. */
  readChat(chunk: ChatChunk, nowMs: number): void {
    this.#readUsage(chunk.usage);
    this.#readPrompt(chunk.prompt_token_ids);
    const choice = chunk.choices.find(({ index }) => index === this.#choice.index);
    if (choice === undefined) return;
    const { delta, logprobs } = choice;
    const reasoning = delta.reasoning ?? '';
    const part = reasoning === '' ? 'answer' : 'reasoning';
    for (const { token, logprob, top_logprobs } of logprobs?.content ?? []) {
      const candidates = top_logprobs.map(each => ({ text: each.token, logprob: each.logprob }));
      this.#tokens.push({ text: token, logprob, part, candidates });
    }
    for (const call of delta.tool_calls ?? []) this.#readToolCall(call);
    this.#advance(
      {
        responseId: chunk.id,
        model: chunk.model,
        text: delta.content ?? '',
        reasoning,
        tokenIds: choice.token_ids ?? [],
        finishReason: choice.finish_reason,
        stopReason: choice.stop_reason,
        hasToken: (logprobs?.content?.length ?? 0) > 0 || (delta.tool_calls?.length ?? 0) > 0,
      },
      nowMs,
    );
  }

  /** Reads a chunk of a completion. */
  readCompletion(chunk: CompletionChunk, nowMs: number): void {
    this.#readUsage(chunk.usage);
    for (const { prompt_token_ids: ids } of chunk.choices) this.#readPrompt(ids);
    const choice = chunk.choices.find(({ index }) => index === this.#choice.index);
    if (choice === undefined) return;
    const { logprobs } = choice;
    for (const [index, text] of (logprobs?.tokens ?? []).entries()) {
      const candidates = Object.entries(logprobs?.top_logprobs[index] ?? {});
      this.#tokens.push({
        text,
        logprob: logprobs?.token_logprobs[index] ?? 0,
        part: 'answer',
        candidates: candidates.map(([name, logprob]) => ({ text: name, logprob })),
      });
    }
    this.#advance(
      {
        responseId: chunk.id,
        model: chunk.model,
        text: choice.text,
        reasoning: '',
        tokenIds: choice.token_ids ?? [],
        finishReason: choice.finish_reason,
        stopReason: choice.stop_reason,
        hasToken: (logprobs?.tokens.length ?? 0) > 0,
      },
      nowMs,
    );
  }

  /** Ends the answer; what came before it stays. */
  end(phase: 'done' | 'stopped' | 'failed', nowMs: number, error: string | null = null): void {
    this.#answer = { ...this.#answer, phase, error, durationMs: nowMs - this.#startedMs };
  }

  /** The answer as it is now. A token that has not changed is the same object as in the last snapshot. */
  snapshot(): Answer {
    const end = this.#endIndex();
    this.#shown = this.#tokens.map((token, index): ShownToken => {
      const id = this.#tokenIds[index] ?? null;
      const part = index === end ? 'end' : token.part;
      const shown = this.#shown[index];
      return shown?.id === id && shown.part === part ? shown : { ...token, part, id };
    });
    return { ...this.#answer, tokens: this.#shown, toolCalls: [...this.#toolCalls.values()] };
  }

  /** Index of the end token; undefined where there is none. A structured output may end with a token of its text. */
  #endIndex(): number | undefined {
    const last = this.#tokens.at(-1)?.text ?? '';
    const isShown = this.#answer.content.endsWith(last);
    return this.#isEnded && !isShown ? this.#tokens.length - 1 : undefined;
  }

  /** The usage of several choices is reported for all together, so none of them has it. */
  #readUsage(usage: Usage | null | undefined): void {
    if (usage != null && this.#choice.count === 1) this.#answer = { ...this.#answer, usage };
  }

  #readPrompt(promptTokenIds: readonly number[] | null | undefined): void {
    if (promptTokenIds != null && !this.#hasPrompt) this.#answer = { ...this.#answer, promptTokenIds };
  }

  #advance(
    part: {
      readonly responseId: string;
      readonly model: string;
      readonly text: string;
      readonly reasoning: string;
      readonly tokenIds: readonly number[];
      readonly finishReason: string | null;
      readonly stopReason: string | number | null | undefined;
      readonly hasToken: boolean;
    },
    nowMs: number,
  ): void {
    this.#tokenIds.push(...part.tokenIds);
    this.#isEnded ||= part.finishReason === 'stop' && typeof part.stopReason !== 'string';
    const hasBegun = part.text !== '' || part.reasoning !== '' || part.hasToken;
    const answer = this.#answer;
    this.#answer = {
      ...answer,
      phase: hasBegun || answer.phase === 'streaming' ? 'streaming' : 'waiting',
      model: part.model,
      responseId: part.responseId,
      content: answer.content + part.text,
      reasoning: answer.reasoning + part.reasoning,
      finishReason: part.finishReason ?? answer.finishReason,
      firstTokenMs: answer.firstTokenMs ?? (hasBegun ? nowMs - this.#startedMs : null),
    };
  }

  #readToolCall({
    index,
    id,
    function: piece,
  }: NonNullable<ChatChunk['choices'][number]['delta']['tool_calls']>[number]): void {
    const open = this.#toolCalls.get(index) ?? { id: '', name: '', arguments: '' };
    this.#toolCalls.set(index, {
      id: id ?? open.id,
      name: piece.name ?? open.name,
      // Other servers leave it out of the piece that names the function.
      arguments: open.arguments + (piece.arguments ?? ''),
    });
  }
}
