// Text that no grammar has guided: what is a call, what stays text, and what is held back.

import { describe, expect, it } from 'vitest';
import { EXAMPLE_TOOLS } from '../../test/example-tools.ts';
import { readCalls } from '../../test/read-calls.ts';
import { NAMED_DIALECTS, type ToolDialectName } from '../dialects/named-dialects.ts';
import { ToolCallParser } from './tool-call-parser.ts';

/** Reads the text as a whole and in all pairs of pieces; all readings must be the same. */
function read(name: ToolDialectName, text: string) {
  const { dialect } = NAMED_DIALECTS[name];
  const whole = readCalls(dialect, EXAMPLE_TOOLS, [text]);
  for (let cut = 1; cut < text.length; cut++)
    expect(readCalls(dialect, EXAMPLE_TOOLS, [text.slice(0, cut), text.slice(cut)])).toEqual(whole);
  return whole;
}

const WEATHER = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>';

describe('text around calls', () => {
  it.each([
    ['text without a call stays as it is', 'a  <b> \n', 'a  <b> \n', 0],
    ['white space before a call is layout', `Let me look.\n\n${WEATHER}\n${WEATHER}`, 'Let me look.', 2],
    ['a beginning of a mark at the end is text', 'a <tool_', 'a <tool_', 0],
    ['a mark without a call is text', 'a <tool_call> b', 'a <tool_call> b', 0],
    [
      'an unknown function is text',
      WEATHER.replace('get_weather', 'other'),
      WEATHER.replace('get_weather', 'other'),
      0,
    ],
    ['a call after a mark that was text', `<tool_call>${WEATHER}`, '<tool_call>', 1],
    ['a call that is cut off before its name is dropped', 'a <tool_call>\n{"name": "get', 'a', 0],
    ['a call that is cut off in its arguments is given', WEATHER.slice(0, -20), '', 1],
  ])('%s', (_, text, kept, count) => {
    const answer = read('hermes', text);
    expect(answer.text).toBe(kept);
    expect(answer.calls).toHaveLength(count);
  });

  it.each(['[1] Source', '[get_weatherman()]', 'see [get_weather(city="a")]', '[]'])(
    'a text that begins like a list stays text: %s',
    text => expect(read('pythonic', text)).toEqual({ text, calls: [] }),
  );
});

describe('arguments', () => {
  it.each<[ToolDialectName, string, object]>([
    [
      'qwen3-coder',
      '<tool_call>\n<function=get_weather_station>\n<parameter=note>\n</x> "q" \\ \n</tool_call>\n</parameter>\n<parameter=wet>\ntrue\n</parameter>\n</function>\n</tool_call>',
      { note: '</x> "q" \\ \n</tool_call>', wet: true },
    ],
    [
      'glm-4.5',
      '<tool_call>save\n<arg_key>point</arg_key>\n<arg_value>{"x": 1.5, "tags": ["</arg_value>"]}</arg_value>\n</tool_call>',
      { point: { x: 1.5, tags: ['</arg_value>'] } },
    ],
    [
      'pythonic',
      `[save(point={'x': -.5, 'tags': ['a\\'b', "\\u00e9\\n", ")"]}, all=["a", 'b"c'])]`,
      { point: { x: -0.5, tags: ["a'b", 'é\n', ')'] }, all: ['a', 'b"c'] },
    ],
    ['pythonic', '[get_weather(city="Rome", days=1e1)]', { city: 'Rome', days: 10 }],
    [
      'gemma-4',
      '<|tool_call>call:get_weather{days:20E-1,city:<|"|>Rome<|"|>}<tool_call|>',
      { days: 2, city: 'Rome' },
    ],
    [
      'lfm2',
      '<|tool_call_start|>[get_weather_station(note=None, wet=False)]<|tool_call_end|>',
      { note: null, wet: false },
    ],
    [
      'gemma-4',
      '<|tool_call>call:save{all:[<|"|>b"c<|"|>],point:{tags:[<|"|>},{<|"|>],x:3}}<tool_call|>',
      { all: ['b"c'], point: { tags: ['},{'], x: 3 } },
    ],
    [
      'kimi-k2',
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:3<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
      {},
    ],
  ])('%s', (name, text, expected) => {
    const { text: rest, calls } = read(name, text);
    expect(rest).toBe('');
    expect(calls.map(call => JSON.parse(call.arguments))).toEqual([expected]);
  });

  it('passes JSON on with its own spelling', () => {
    const json = '{ "city" :"\\u0041<\\/tool_call>",\n"days":1e0 }';
    const text = WEATHER.replace('{"city": "Rome"}', () => json);
    expect(read('hermes', text).calls[0]?.arguments).toBe(json);
  });

  it('streams strings between tags, and half of a character never', () => {
    const { dialect } = NAMED_DIALECTS['qwen3-coder'];
    const parser = new ToolCallParser({ dialect, tools: EXAMPLE_TOOLS, randomText: () => 'x' });
    parser.push('<tool_call>\n<function=get_weather>\n<parameter=city>\nSão');
    const given = ['"', ' \ud83d', '\ude00\n', '</para'].map(piece => parser.push(piece).calls[0]?.arguments);
    expect(given).toEqual(['\\"', ' ', '😀', undefined]);
  });
});

describe('ids', () => {
  it('are what the model wrote before the arguments, or new ones of the form of the dialect', () => {
    const id = (name: ToolDialectName, text: string) => read(name, text).calls[0]?.id;
    expect(id('mistral-v11', '[TOOL_CALLS]ping[CALL_ID]aB3dE6gH9[ARGS]{}')).toBe('aB3dE6gH9');
    expect(id('mistral', '[TOOL_CALLS]ping[ARGS]{}')).toBe('x'.repeat(9));
    expect(id('hermes', WEATHER)).toBe(`call_${'x'.repeat(24)}`);
    expect(
      id(
        'kimi-k2',
        '<|tool_calls_section_begin|><|tool_call_begin|>functions.ping:3<|tool_call_argument_begin|>{}',
      ),
    ).toBe('functions.ping:3');
  });
});
