// What the playground keeps in this browser: conversation with its branches, and settings; in this tab: texts that are not sent yet.
// Never the key.

import type { AnswerFormat } from './answer-format.ts';
import type { Answer } from './answer-reader.ts';
import { type Conversation, EMPTY_CONVERSATION } from './conversation.ts';
import type { Mode, ParameterTexts } from './parameters.ts';

/** What the playground shows; a comparison sends chats. */
export type View = Mode | 'compare';

export interface Settings {
  readonly view: View;
  /** Empty: the server's default model. */
  readonly model: string;
  readonly system: string;
  readonly parameters: ParameterTexts;
  readonly format: AnswerFormat;
  /** JSON list of the functions that the model may call; empty: none. */
  readonly tools: string;
  /** Whether tokens are coloured by their probability. */
  readonly showHeat: boolean;
  /** Candidates listed for each token, 1 to 20. */
  readonly candidateCount: number;
}

export const DEFAULT_SETTINGS: Settings = {
  view: 'chat',
  model: '',
  system: '',
  parameters: {},
  format: { kind: 'text', text: '' },
  tools: '',
  showHeat: true,
  candidateCount: 5,
};

const NAMES = {
  conversation: 'ortler-conversation',
  settings: 'ortler-settings',
} as const;
/** Texts that a person writes: the next message, the prompt of a completion. */
const DRAFT_NAMES = { message: 'ortler-message', prompt: 'ortler-prompt' } as const;
/** Of another version, or broken by hand: begin anew. */
const VERSION = 2;

function read<Value>(name: string, fallback: Value, storage = localStorage): Value {
  try {
    const stored = JSON.parse(storage.getItem(name) ?? 'null');
    return stored?.version === VERSION ? stored.value : fallback;
  } catch {
    return fallback;
  }
}

function save(name: string, value: unknown, storage = localStorage): boolean {
  try {
    storage.setItem(name, JSON.stringify({ version: VERSION, value }));
    return true;
  } catch {
    return false;
  }
}

/** Which request the settings are for. */
export const modeOf = ({ view }: Settings): Mode => (view === 'completion' ? 'completion' : 'chat');

/** The one of this tab; in a new tab the one that was saved last. */
export const readConversation = (): Conversation =>
  read(NAMES.conversation, read(NAMES.conversation, EMPTY_CONVERSATION), sessionStorage);

/** Saves it for this tab, so that tabs do not replace each other's, and for the next one. */
export function saveConversation(conversation: Conversation): void {
  if (conversation.turns.length === 0) sessionStorage.removeItem(NAMES.conversation);
  else saveIn(sessionStorage, conversation);
  saveIn(localStorage, conversation);
}

/** Browsers keep about five megabytes; a conversation past that is kept without its tokens, else not at all. */
function saveIn(storage: Storage, conversation: Conversation): void {
  if (save(NAMES.conversation, conversation, storage)) return;
  const turns = conversation.turns.map(turn =>
    turn.answer === undefined ? turn : { ...turn, answer: withoutTokens(turn.answer) },
  );
  if (!save(NAMES.conversation, { ...conversation, turns }, storage)) storage.removeItem(NAMES.conversation);
}

function withoutTokens(answer: Answer): Answer {
  return { ...answer, tokens: [], promptTokenIds: [] };
}

export const readSettings = (): Settings => ({ ...DEFAULT_SETTINGS, ...read(NAMES.settings, {}) });
export const saveSettings = (settings: Settings): void => void save(NAMES.settings, settings);

export type DraftName = keyof typeof DRAFT_NAMES;

export const readDraft = (name: DraftName): string => sessionStorage.getItem(DRAFT_NAMES[name]) ?? '';

export function saveDraft(name: DraftName, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(DRAFT_NAMES[name]);
    else sessionStorage.setItem(DRAFT_NAMES[name], text);
  } catch {
    // Longer than the browser keeps; it stays on the page.
  }
}
