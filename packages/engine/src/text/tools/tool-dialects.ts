// The dialects of a model's chat templates: the one that was set by name, or what the configuration, the rendered template or
// its marks say. A template is asked once.

import {
  chooseDialect,
  NAMED_DIALECTS,
  type RenderConversation,
  showsCalls,
  type ToolDialect,
} from '@ortler/tool-calling';
import { EngineError } from '../../errors.ts';
import type { ChatMessage } from '../../request/chat-message.ts';
import type { ToolDialectOption } from '../../request/tool-dialect-option.ts';
import type { ChatTemplates } from '../chat-template.ts';
import { renderHere } from '../render-template.ts';

/** A dialect, and how the model gets to see tools and past calls. */
export interface ChosenDialect {
  readonly dialect: ToolDialect;
  /** The template does not know tools: `written-tools.ts` puts them into the messages. */
  readonly isWritten: boolean;
  /** The template shows tools and no calls: `written-calls.ts` puts past calls into the messages. */
  readonly writesCalls: boolean;
}

export interface ToolDialectsOptions {
  readonly option: ToolDialectOption;
  readonly templates: ChatTemplates;
  /** `response_template` of tokenizer_config.json. */
  readonly responseTemplate: unknown;
}

const GENERIC: ChosenDialect = {
  dialect: NAMED_DIALECTS.hermes.dialect,
  isWritten: true,
  writesCalls: false,
};
const KNOWS_TOOLS = /\btools\b/;
/** A model has one template or two; requests may bring others. */
const KEPT_LIMIT = 16;
/** For each conversation that a template is asked to render. Unit: milliseconds. */
const TIME_LIMIT_MS = 200;
/** A template that exceeded the limits of this thread is asked again so often, because the machine may have been busy. */
const EXCEEDED_LIMIT = 3;

export class ToolDialects {
  readonly #options: ToolDialectsOptions;
  /** By the source of the template. */
  readonly #chosen = new Map<string, ChosenDialect>();
  /** How often a template exceeded the limits of this thread. */
  #exceededCount = 0;

  constructor(options: ToolDialectsOptions) {
    this.#options = options;
  }

  /** The dialect of answers to messages that go through this template. */
  choose({ source, isOwn }: ReturnType<ChatTemplates['select']>): ChosenDialect {
    const key = `${isOwn}${source}`;
    const kept = this.#chosen.get(key);
    if (kept !== undefined) return kept;
    const exceededBefore = this.#exceededCount;
    const chosen = this.#find(source, isOwn);
    if (this.#exceededCount > exceededBefore && this.#exceededCount < EXCEEDED_LIMIT) return chosen;
    if (this.#chosen.size >= KEPT_LIMIT) this.#chosen.delete(this.#chosen.keys().next().value!);
    this.#chosen.set(key, chosen);
    return chosen;
  }

  #find(template: string, isOwn: boolean): ChosenDialect {
    const { option, responseTemplate } = this.#options;
    const knowsTools = KNOWS_TOOLS.test(template);
    if (option === 'generic') return GENERIC;
    if (option !== 'auto') {
      const { dialect } = NAMED_DIALECTS[option];
      const isWritten = !knowsTools && option === 'hermes';
      return {
        dialect,
        isWritten,
        writesCalls: !isWritten && isOwn && !showsCalls(this.#renderer(template)),
      };
    }
    if (!knowsTools) return GENERIC;
    // A template that came with a request is rendered in a worker only, so its marks have to do.
    const render = isOwn ? this.#renderer(template) : undefined;
    const dialect = chooseDialect({ template, ...(render !== undefined && { responseTemplate, render }) });
    if (dialect === null) return GENERIC;
    return { dialect, isWritten: false, writesCalls: render !== undefined && !showsCalls(render) };
  }

  #renderer(template: string): RenderConversation {
    const { templates } = this.#options;
    const exceededBefore = this.#exceededCount;
    return (messages, tools) => {
      if (this.#exceededCount > exceededBefore) return null;
      try {
        const given = messages as unknown as readonly ChatMessage[];
        const { variables } = templates.prepare(given, { template, tools, addGenerationPrompt: false });
        const text = renderHere(template, variables, TIME_LIMIT_MS);
        if (text !== undefined) return text;
        this.#exceededCount++;
        return null;
      } catch (error) {
        if (error instanceof EngineError && error.code === 'template_failed') return null;
        throw error;
      }
    };
  }
}
