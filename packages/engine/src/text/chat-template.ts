// Chat templates of a model: selects the template and prepares its variables, messages and special tokens among them.
// prompt-encoder.ts decides in which thread it is rendered.

import type { TemplateVariables } from '@ortler/jinja';
import { EngineError } from '../errors.ts';
import type { ChatMessage, ChatTemplateOptions } from '../request/chat-message.ts';
import type { NamedTemplates } from './chat-template-files.ts';
import { markFinalMessage } from './continue-final-message.ts';
import { tokenText } from './named-tokens.ts';
import { findParseFault } from './render-template.ts';
import type { JsonObject } from './tokenizer-json.ts';

/** A template and its variables, ready to render. */
export interface TemplateCall {
  readonly source: string;
  readonly variables: TemplateVariables;
  /** The template came with the request, so it runs in a worker that can be killed. */
  readonly isForeign: boolean;
  /** Text of the last message, when the prompt is to be cut after it. */
  readonly openText?: string;
}

/** Unit: UTF-16 code units. The longest published templates have 20,000. */
const TEMPLATE_LENGTH_LIMIT = 256 * 1024;
const TOO_LONG = `is longer than ${TEMPLATE_LENGTH_LIMIT} characters`;

const SPECIAL_TOKEN_NAMES = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
] as const;

export class ChatTemplates {
  readonly #default: string | null;
  readonly #named: NamedTemplates;
  readonly #specialTokens: Readonly<Record<string, string>>;

  /**
   * @param config tokenizer_config.json, whose special tokens templates write.
   * @param given A template in place of all templates of the model, or the name of one of them, which becomes the default.
   * Throws: `model_invalid` where that template cannot be parsed.
   */
  constructor(config: JsonObject, named: NamedTemplates, given?: string) {
    const chosen = given === undefined ? undefined : named.get(given);
    this.#named = given === undefined || chosen !== undefined ? named : new Map();
    const fault = given === undefined || chosen !== undefined ? undefined : findTemplateFault(given);
    if (fault !== undefined)
      throw new EngineError('model_invalid', `The chat template given at load ${fault}.`, {
        parameter: 'chatTemplate',
      });
    this.#default = chosen ?? given ?? named.get('default') ?? null;
    const special: Record<string, string> = {};
    for (const name of SPECIAL_TOKEN_NAMES) {
      const text = tokenText(config[name]);
      if (text !== null) special[name] = text;
    }
    this.#specialTokens = special;
  }

  /** The template of a conversation without tools; null when the model has none. */
  get source(): string | null {
    return this.#default;
  }

  /** Why chats with some templates of the model fail; undefined where all of them can be parsed. */
  findFaults(): string | undefined {
    const titles = new Map<string, string>();
    for (const [name, source] of this.#named) titles.set(source, `The chat template "${name}"`);
    if (this.#default !== null) titles.set(this.#default, 'The chat template');
    const faults = [...titles].flatMap(([source, title]) => {
      const fault = findTemplateFault(source);
      return fault === undefined ? [] : [`${title} ${fault}.`];
    });
    return faults.length === 0 ? undefined : faults.join(' ');
  }

  /**
   * The template that messages with these options go through, and whether it is one of the model's own.
   * Throws: `template_failed` where there is none.
   */
  select(options: ChatTemplateOptions): { readonly source: string; readonly isOwn: boolean } {
    const { template } = options;
    const named = template === undefined ? this.#sourceFor(options) : this.#named.get(template);
    return named === undefined ? { source: template!, isOwn: false } : { source: named, isOwn: true };
  }

  /**
   * Throws: `template_failed` when neither the model nor the request has a template or the last message cannot be
   * continued, `invalid_request` for options that exclude each other.
   */
  prepare(messages: readonly ChatMessage[], options: ChatTemplateOptions = {}): TemplateCall {
    const { source, isOwn } = this.select(options);
    if (source.length > TEMPLATE_LENGTH_LIMIT) {
      // Before the template is searched, because this thread serves all requests.
      const message = `The chat template ${TOO_LONG}.`;
      throw new EngineError('template_failed', message, { parameter: 'prompt.template.template' });
    }
    const isOpen = options.continueFinalMessage ?? false;
    if (isOpen && (options.addGenerationPrompt ?? true)) {
      const message =
        'continueFinalMessage needs addGenerationPrompt: false, which is true unless it is given.';
      throw new EngineError('invalid_request', message, {
        parameter: 'prompt.template.continueFinalMessage',
      });
    }
    const open = isOpen ? markFinalMessage(messages) : null;
    const traits = traitsOf(source);
    return {
      source,
      isForeign: !isOwn,
      ...(open !== null && { openText: open.finalText }),
      variables: {
        ...this.#specialTokens,
        documents: null,
        ...options.variables,
        messages: (open?.messages ?? messages).map(message => toTemplateMessage(message, traits)),
        tools: options.tools ?? null,
        add_generation_prompt: options.addGenerationPrompt ?? true,
      },
    };
  }

  /** The model's own template. Throws: `template_failed` where it has none, or several of which none is the default. */
  #sourceFor({ tools }: ChatTemplateOptions): string {
    const ofTools = tools === undefined ? undefined : this.#named.get('tool_use');
    const source = ofTools ?? this.#default;
    if (source !== null) return source;
    const names = [...this.#named.keys()].toSorted().join(', ');
    const message =
      names === ''
        ? 'The model has no chat template, which chat messages need: give one with the request, or when the model is loaded.'
        : `The model has several chat templates, none of which is the default: give the name of one with the request (${names}).`;
    throw new EngineError('template_failed', message, { parameter: 'prompt.template.template' });
  }
}

/** Why no conversation can be written with a template, to be read after its name; undefined where one can. */
export function findTemplateFault(source: string): string | undefined {
  return source.length > TEMPLATE_LENGTH_LIMIT ? TOO_LONG : findParseFault(source);
}

/** The form of messages that a template expects. */
interface TemplateTraits {
  /** Templates that walk over content parts get lists, the others text with the parts on lines of their own. */
  readonly walksParts: boolean;
  /**
   * Templates that ask whether content is text get text where text was given. Many of them (Gemma 4, Kimi K2) walk over the
   * parts of some messages and print the content of others as it is, which would show the list itself to the model.
   */
  readonly takesText: boolean;
  /** Many templates do not know the newer name of the system role. */
  readonly knowsDevelopers: boolean;
  /** The template of gpt-oss reads reasoning as `message.thinking`. */
  readonly readsThinking: boolean;
}

const WALKS_PARTS = /\{%[-+]?\s*for\s+\w+\s+in\s+(?:\w+\.content|\w+\[['"]content['"]\])/;
const TAKES_TEXT = /\bcontent(?:['"]\])?\s+is\s+(?:not\s+)?string\b/;

/** Call it once for all messages, because there may be thousands. */
function traitsOf(source: string): TemplateTraits {
  return {
    walksParts: WALKS_PARTS.test(source),
    takesText: TAKES_TEXT.test(source),
    knowsDevelopers: source.includes('developer'),
    readsThinking: /\bmessage(?:\.thinking\b|\[['"]thinking['"]\])/.test(source),
  };
}

function toTemplateMessage(
  message: ChatMessage,
  { walksParts, takesText, knowsDevelopers, readsThinking }: TemplateTraits,
): Readonly<Record<string, unknown>> {
  const { content, role, reasoning_content: reasoning } = message;
  const wantsParts = walksParts && role !== 'tool';
  let shown: unknown = content;
  if (wantsParts && !takesText && typeof content === 'string') shown = [{ type: 'text', text: content }];
  if (!wantsParts && typeof content !== 'string') shown = content.map(part => part.text).join('\n');
  return {
    ...message,
    role: role === 'developer' && !knowsDevelopers ? 'system' : role,
    content: shown,
    // Templates read the reasoning under either name.
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(readsThinking && reasoning !== undefined ? thinkingOf(message, reasoning, shown) : {}),
  };
}

/**
 * The template writes the content of a message with calls as reasoning, and refuses it beside reasoning of its own: there
 * both are the reasoning.
 */
function thinkingOf({ tool_calls: calls }: ChatMessage, reasoning: string, content: unknown) {
  if (calls === undefined || typeof content !== 'string' || content === '') return { thinking: reasoning };
  return { thinking: `${reasoning}\n${content}`, content: '' };
}
