// Finds the dialect of a chat template by what it renders: one call, two calls, no arguments, other values. What the texts have
// in common are the marks. It finds dialects whose calls have the name before the arguments.

import type { ArgumentsForm, CallPart, LiteralNotation, ToolDialect } from '../tool-dialect.ts';
import { commonEnd, commonStart, withoutEnd, withoutStart } from './common-text.ts';
import {
  FIRST,
  ID_PLACE,
  type RenderConversation,
  renderCalls,
  SECOND,
  takesLongIds,
} from './probe-conversation.ts';
import { readsCallsBack } from './reads-back.ts';

/** A call in rendered text: what is before its name, between name and arguments, and after them. */
interface CallText {
  readonly before: string;
  readonly between: string;
  readonly after: string;
  readonly form: ArgumentsForm;
}

/** Null where the template shows no calls, or shows them in another way. */
export function probeDialect(render: RenderConversation): ToolDialect | null {
  const one = renderCalls(render, [{ name: FIRST, arguments: { first_key: 'first value' } }]);
  if (one === null || one.split(FIRST).length !== 2) return null;
  const call = readJsonCall(one) ?? readNamedArguments(render, one);
  if (call === null) return null;
  // Where a template numbers its calls, only a dialect with a single call reads back.
  for (const marks of [readMarks(render, call, one), singleMarks(call)]) {
    const dialect = createDialect(render, call, marks);
    if (dialect !== null && readsCallsBack(render, dialect)) return dialect;
  }
  return null;
}

/** Null where nothing tells a call from text. */
function createDialect(render: RenderConversation, call: CallText, around: Marks): ToolDialect | null {
  const lead = around.section.open + around.open;
  const trigger = TRIGGER.exec(lead)?.[0];
  if (trigger === undefined && !lead.startsWith('[') && !lead.startsWith('{"')) return null;
  return {
    name: 'probed',
    trigger: trigger ?? lead,
    position: trigger === undefined ? 'start' : 'anywhere',
    section: around.section,
    separator: around.separator,
    ...(around.isSingle && { isSingle: true }),
    call: [...toParts(around.open), 'name', ...toParts(call.between), 'arguments', ...toParts(around.close)],
    arguments: call.form,
    ids: takesLongIds(render)
      ? { kind: 'random', prefix: 'call_', length: 24 }
      : { kind: 'random', prefix: '', length: 9 },
  };
}

/** A mark, or the beginning of one that has the name in it: `<function=`, `<function name="`. */
const TRIGGER = /^(?:<[^<>]+>|\[[A-Z_]+\]|<\w+(?:=| name=")$)/;

const JSON_ARGUMENTS = /\{\s*"first_key"\s*:\s*"first value"\s*\}/;

function readJsonCall(one: string): CallText | null {
  const at = one.indexOf(FIRST);
  const found = JSON_ARGUMENTS.exec(one);
  if (found === null || found.index < at) return null;
  return {
    before: one.slice(0, at),
    between: one.slice(at + FIRST.length, found.index),
    after: one.slice(found.index + found[0].length),
    form: { kind: 'json' },
  };
}

/** Arguments that are written one by one. */
function readNamedArguments(render: RenderConversation, one: string): CallText | null {
  const withArguments = (values: Readonly<Record<string, string | boolean>>) =>
    renderCalls(render, [{ name: FIRST, arguments: values }]);
  const none = withArguments({});
  const two = withArguments({ first_key: 'first value', second_key: 'second value' });
  const first = /^([\s\S]*?)alpha_fn([\s\S]*?)first_key([\s\S]*?)first value([\s\S]*)$/.exec(one);
  const both = two === null ? null : /first value([\s\S]*?)second_key/.exec(two);
  if (none === null || first === null || both === null) return null;
  const [, before = '', untilKey = '', untilValue = '', after = ''] = first;
  const [, next = ''] = both;
  const noArguments = withoutStart(none, before + FIRST);
  const between = commonStart(untilKey, noArguments);
  const open = withoutStart(untilKey, between);
  if (!next.endsWith(open)) return null;
  const afterValue = withoutEnd(next, open);
  const callEnd = withoutStart(noArguments, between);
  const quote = commonQuote(untilValue, afterValue);
  if (quote !== null && open === '') {
    const nameEnd = withoutEnd(untilValue, quote);
    const separator = withoutStart(afterValue, quote);
    if (after !== quote + callEnd) return null;
    const notation = readNotation(withArguments({ first_key: true }), { quote, nameEnd, separator });
    return { before, between, after: callEnd, form: { kind: 'literals', nameEnd, separator, notation } };
  }
  if (open === '' || after !== afterValue + callEnd) return null;
  const jsonNameEnd = textAround(withArguments({ first_key: true }), /[Tt]rue/, after)?.before;
  const wrap = textAround(withArguments({ first_key: WRAPPED }), WRAPPED, after);
  return {
    before,
    between,
    after: callEnd,
    form: {
      kind: 'tagged',
      open,
      nameEnd: untilValue,
      ...(jsonNameEnd !== undefined && jsonNameEnd !== untilValue && { jsonNameEnd }),
      ...(wrap !== null &&
        wrap.after !== '' && {
          wrap: { open: withoutStart(wrap.before, untilValue), close: wrap.after },
        }),
      close: afterValue,
    },
  };
}

/** A value that templates of XML write between marks. */
const WRAPPED = 'a<b & c';

/** What stands between the only key and its value, and between the value and `end`. */
function textAround(
  rendered: string | null,
  value: RegExp | string,
  end: string,
): { readonly before: string; readonly after: string } | null {
  if (rendered === null || !rendered.endsWith(end)) return null;
  const [, written] = /first_key([\s\S]*)$/.exec(withoutEnd(rendered, end)) ?? [];
  const pieces = written?.split(value) ?? [];
  return pieces.length === 2 ? { before: pieces[0]!, after: pieces[1]! } : null;
}

/** The quote on both sides of a string. */
function commonQuote(before: string, after: string): string | null {
  const quote = /^(?:["']|<[^<>]*>)/.exec(after)?.[0];
  return quote !== undefined && before.endsWith(quote) ? quote : null;
}

function readNotation(
  withTrue: string | null,
  {
    quote,
    nameEnd,
    separator,
  }: { readonly quote: string; readonly nameEnd: string; readonly separator: string },
): LiteralNotation {
  const isPython = withTrue?.includes(`${nameEnd}True`) ?? false;
  const isJson = quote === '"' || quote === "'";
  return {
    quote: isJson ? 'json' : { mark: quote },
    words: isPython
      ? { true: 'True', false: 'False', null: 'None' }
      : { true: 'true', false: 'false', null: 'null' },
    keys: isJson ? 'strings' : 'bare',
    keyEnd: isJson ? ': ' : nameEnd,
    separator,
  };
}

interface Marks {
  readonly section: ToolDialect['section'];
  readonly open: string;
  readonly close: string;
  readonly separator: string;
  readonly isSingle: boolean;
}

/** Tells the marks of a section from those of a call, by what stands between two calls. */
function readMarks(render: RenderConversation, call: CallText, one: string): Marks {
  const { before, after } = call;
  const arguments_ = { first_key: 'first value' };
  const two = renderCalls(render, [
    { name: FIRST, arguments: arguments_ },
    { name: SECOND, arguments: arguments_ },
  ]);
  const head = one.slice(0, one.length - after.length);
  const at = two?.indexOf(SECOND) ?? -1;
  if (two === null || at === -1 || !two.startsWith(head) || !two.endsWith(after)) return singleMarks(call);
  const middle = two.slice(head.length, at);
  const open = commonEnd(before, middle);
  const closeAndSeparator = withoutEnd(middle, open);
  const close = commonStart(after, closeAndSeparator);
  return {
    section: { open: withoutEnd(before, open), close: withoutStart(after, close) },
    open,
    close,
    separator: withoutStart(closeAndSeparator, close),
    isSingle: false,
  };
}

/** All text around a call belongs to it. */
function singleMarks({ before, after }: CallText): Marks {
  return { section: { open: '', close: '' }, open: before, close: after, separator: '', isSingle: true };
}

/** Text with the places of ids -> parts of a call. */
function toParts(text: string): readonly CallPart[] {
  const parts: CallPart[] = [];
  for (const [index, piece] of text.split(ID_PLACE).entries()) {
    if (index > 0) parts.push('id');
    if (piece !== '') parts.push({ text: piece });
  }
  return parts;
}
