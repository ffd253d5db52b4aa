import { NAMED_DIALECTS, type ToolDialectName } from '@ortler/tool-calling';
import { describe, expect, it } from 'vitest';
import { REASONING_FORMATS } from '../text/reasoning/reasoning-format.ts';
import { createAnswerReader } from './answer-reader.ts';

const CALL = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>';

/** All of a text, in pieces of any length; every cut must give the same. */
function read(dialect: ToolDialectName, format: 'think' | 'channels', text: string) {
  const readings = [1, 3, text.length].map(length => {
    const reader = createAnswerReader(
      { format: REASONING_FORMATS[format].format, start: 'possible', specialIds: new Set() },
      {
        dialect: NAMED_DIALECTS[dialect].dialect,
        tools: [{ name: 'ping', parameters: {}, isStrict: false }],
        choice: 'auto',
        parallel: true,
        specialIds: new Set(),
      },
    );
    const whole = { reasoning: '', answer: '', calls: '' };
    for (let at = 0; at < text.length; at += length) {
      const given = reader.read(text.slice(at, at + length), { isLast: at + length >= text.length });
      whole.reasoning += given.reasoning;
      whole.answer += given.answer;
      for (const { start, arguments: json } of given.toolCalls) whole.calls += (start?.name ?? '') + json;
    }
    return { ...whole, hasCalled: reader.hasCalled };
  });
  for (const reading of readings) expect(reading).toEqual(readings[0]);
  return readings[0];
}

describe('an answer', () => {
  it('has calls after its reasoning; marks inside the reasoning are reasoning', () => {
    expect(read('hermes', 'think', `<think>a ${CALL} b</think>\n\n${CALL}`)).toEqual({
      reasoning: `a ${CALL} b`,
      answer: '',
      calls: 'ping{}',
      hasCalled: true,
    });
  });

  it('of several channels has calls in messages of their own', () => {
    const message = (header: string, text: string) => `<|channel|>${header}<|message|>${text}`;
    const next = '<|end|><|start|>assistant';
    const call = message('commentary to=functions.ping <|constrain|>json', '{}');
    const text = message('analysis', 'Hm.') + next + message('commentary', 'Wait.') + next + call;
    expect(read('harmony', 'channels', text)).toEqual({
      reasoning: 'Hm.',
      answer: 'Wait.',
      calls: 'ping{}',
      hasCalled: true,
    });
  });

  it('has not called while a call is cut off', () => {
    expect(read('hermes', 'think', CALL.slice(0, -14))).toMatchObject({ calls: 'ping{}', hasCalled: false });
  });
});
