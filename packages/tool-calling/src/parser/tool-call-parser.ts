// Finds tool calls in the text of one answer while it streams. Nothing is repaired and nothing is guessed: after a trigger
// the text follows the dialect, because the grammar allowed nothing else. Joined deltas do not depend on where the text
// was cut.

import { findFirst, longestOpenMark } from '../find-marks.ts';
import { type CallPart, NAME_CHARACTERS, type Tool, type ToolDialect } from '../tool-dialect.ts';
import type { ArgumentsReader } from './arguments-reader.ts';
import { callId } from './call-ids.ts';
import { createJsonArguments } from './json-arguments.ts';
import { createLiteralArguments } from './literal-arguments.ts';
import { createTaggedArguments } from './tagged-arguments.ts';

/** New text of one call; the first delta of a call has `start`. */
export interface CallDelta {
  readonly index: number;
  readonly start?: { readonly id: string; readonly name: string };
  readonly arguments: string;
}

export interface ParsedText {
  /** Text that is part of no call. */
  readonly text: string;
  readonly calls: readonly CallDelta[];
}

export interface ToolCallParserOptions {
  readonly dialect: ToolDialect;
  readonly tools: readonly Tool[];
  /** `length` random letters and digits. */
  readonly randomText: (length: number) => string;
}

/** Longest run of characters of a part. */
const NAME_START = new RegExp(`^[${NAME_CHARACTERS}]*`);
const ID_START = /^[\w-]*/;
const DIGITS_START = /^\d*/;

/** The call that is being read. */
interface OpenCall {
  readonly parts: readonly CallPart[];
  /** Place of the part that comes next. */
  at: number;
  name: string;
  id: string | undefined;
  number: string | undefined;
  reader: ArgumentsReader | null;
  /** White space before the trigger. */
  readonly blanks: string;
  /** Everything from the trigger on, until the call is reported. */
  written: string;
  isReported: boolean;
}

export class ToolCallParser {
  readonly #options: ToolCallParserOptions;
  readonly #triggers: readonly string[];
  #state: 'text' | 'section' | 'call' | 'over' = 'text';
  #held = '';
  #call: OpenCall | null = null;
  #callCount = 0;
  /** Collected by one push. */
  #text = '';
  #deltas: CallDelta[] = [];

  constructor(options: ToolCallParserOptions) {
    const { dialect } = options;
    this.#options = options;
    this.#triggers = [dialect.trigger, ...(dialect.alsoRead ?? []).map(({ trigger }) => trigger)];
  }

  /** Calls that have a name, complete or not. */
  get callCount(): number {
    return this.#callCount;
  }

  /** The text so far ends inside a call. */
  get isInCall(): boolean {
    return this.#state === 'call';
  }

  push(text: string): ParsedText {
    this.#held += text;
    if (this.#call?.isReported === false) this.#call.written += text;
    while (this.#step());
    return this.#collected();
  }

  /** At the end of the answer: text that might have become a call. A call without its name is dropped. */
  finish(): ParsedText {
    const isLayout = this.#callCount > 0 && this.#held.trim() === '';
    if ((this.#state === 'text' || this.#state === 'over') && !isLayout) this.#text += this.#held;
    this.#held = '';
    return this.#collected();
  }

  #collected(): ParsedText {
    const collected = { text: this.#text, calls: this.#deltas };
    this.#text = '';
    this.#deltas = [];
    return collected;
  }

  /** False where more text is needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'text':
        return this.#findTrigger();
      case 'section':
        return this.#findNextCall();
      case 'call':
        return this.#readPart();
      case 'over':
        this.#text += this.#held;
        this.#held = '';
        return false;
    }
  }

  #findTrigger(): boolean {
    const { dialect } = this.#options;
    const found =
      dialect.position === 'start' ? this.#triggerAtStart() : findFirst(this.#held, this.#triggers);
    if (found === 'open') return false;
    if (found !== null) {
      // White space before a call belongs to its layout.
      const start = this.#held.slice(0, found.at).trimEnd().length;
      const blanks = this.#held.slice(start, found.at);
      this.#text += this.#held.slice(0, start);
      this.#held = this.#held.slice(found.at);
      this.#openCall(found.mark, blanks);
      return true;
    }
    if (dialect.position === 'start') {
      this.#state = 'over';
      return true;
    }
    const open = this.#held.length - longestOpenMark(this.#held, this.#triggers);
    const settled = this.#held.slice(0, open).trimEnd().length;
    this.#text += this.#held.slice(0, settled);
    this.#held = this.#held.slice(settled);
    return false;
  }

  #triggerAtStart(): { readonly at: number; readonly mark: string } | 'open' | null {
    if (this.#callCount > 0) return null;
    const mark = this.#triggers.find(trigger => this.#held.startsWith(trigger));
    if (mark !== undefined) return { at: 0, mark };
    return this.#triggers.some(trigger => trigger.startsWith(this.#held)) ? 'open' : null;
  }

  #openCall(trigger: string, blanks: string): void {
    const { dialect } = this.#options;
    const other = dialect.alsoRead?.find(each => each.trigger === trigger);
    const [first, ...rest] = other?.call ?? dialect.call;
    const open = other === undefined ? dialect.section.open : '';
    const lead = typeof first === 'object' ? first.text : '';
    const parts = typeof first === 'object' ? rest : [first!, ...rest];
    this.#start(open + lead === '' ? parts : [{ text: open + lead }, ...parts], blanks);
  }

  #start(parts: readonly CallPart[], blanks = ''): void {
    this.#call = {
      parts,
      at: 0,
      name: '',
      id: undefined,
      number: undefined,
      reader: null,
      blanks,
      written: this.#held,
      isReported: false,
    };
    this.#state = 'call';
  }

  /** Between two calls of a section. */
  #findNextCall(): boolean {
    const { section, separator, call } = this.#options.dialect;
    const [first] = call;
    const next = separator + (typeof first === 'object' ? first.text : '');
    if (this.#held.startsWith(section.close)) {
      this.#held = this.#held.slice(section.close.length);
      this.#state = 'text';
      return true;
    }
    if (next !== '' && this.#held.startsWith(next)) {
      this.#held = this.#held.slice(separator.length);
      this.#start(call);
      return true;
    }
    if (this.#held === '' || section.close.startsWith(this.#held) || next.startsWith(this.#held))
      return false;
    this.#state = 'text';
    return true;
  }

  #readPart(): boolean {
    const call = this.#call!;
    const part = call.parts[call.at];
    if (part === undefined) {
      this.#call = null;
      this.#state = this.#options.dialect.section.close === '' ? 'text' : 'section';
      return true;
    }
    if (typeof part === 'object') return this.#readText(call, part.text);
    switch (part) {
      case 'name':
        return this.#readName(call);
      case 'id':
        return this.#readRun(call, ID_START, run => {
          call.id = run;
        });
      case 'index':
        return this.#readRun(call, DIGITS_START, run => {
          call.number = run;
        });
      case 'arguments':
        return this.#readArguments(call);
    }
  }

  #readText(call: OpenCall, text: string): boolean {
    if (this.#held.startsWith(text)) {
      this.#held = this.#held.slice(text.length);
      call.at++;
      return true;
    }
    if (text.startsWith(this.#held)) return false;
    this.#giveUp(call);
    return true;
  }

  #readName(call: OpenCall): boolean {
    return this.#readRun(call, NAME_START, run => {
      call.name = run;
    });
  }

  /** Reads characters of a kind; the first other one ends them. */
  #readRun(call: OpenCall, pattern: RegExp, take: (run: string) => void): boolean {
    const run = pattern.exec(this.#held)![0];
    if (run.length === this.#held.length) return false;
    const isUnknown = call.parts[call.at] === 'name' && !this.#options.tools.some(({ name }) => name === run);
    if (run === '' || isUnknown) {
      this.#giveUp(call);
      return true;
    }
    take(run);
    this.#held = this.#held.slice(run.length);
    call.at++;
    return true;
  }

  /** The call has its name, and its id where the model writes one first. */
  #report(call: OpenCall): void {
    const { dialect, randomText } = this.#options;
    call.isReported = true;
    call.written = '';
    const start = { id: callId(dialect.ids, call, randomText), name: call.name };
    this.#deltas.push({ index: this.#callCount, start, arguments: '' });
    this.#callCount++;
  }

  #readArguments(call: OpenCall): boolean {
    if (!call.isReported) this.#report(call);
    call.reader ??= this.#createReader(call);
    if (this.#held === '') return false;
    const { json, rest } = call.reader.push(this.#held);
    this.#held = rest ?? '';
    if (json !== '') this.#deltas.push({ index: this.#callCount - 1, arguments: json });
    if (rest === null) return false;
    call.at++;
    return true;
  }

  #createReader({ name, parts, at }: OpenCall): ArgumentsReader {
    const form = this.#options.dialect.arguments;
    const next = parts[at + 1];
    switch (form.kind) {
      case 'json':
        return createJsonArguments();
      case 'tagged':
        return createTaggedArguments(form, this.#options.tools.find(tool => tool.name === name)!.parameters);
      case 'literals':
        return createLiteralArguments(form, typeof next === 'object' ? next.text : '');
    }
  }

  /** The text is not a call after all: only text that no grammar has guided gets here. */
  #giveUp(call: OpenCall): void {
    this.#call = null;
    this.#state = call.isReported || this.#options.dialect.position === 'start' ? 'over' : 'text';
    if (call.isReported) return;
    // The trigger was text; a call may still begin after its first character.
    this.#text += call.blanks + call.written.slice(0, 1);
    this.#held = call.written.slice(1);
  }
}
