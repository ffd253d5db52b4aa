import { describe, expect, it } from 'vitest';
import { EXAMPLE_TOOLS } from '../test/example-tools.ts';
import { readCalls } from '../test/read-calls.ts';
import { NAMED_DIALECTS, TOOL_DIALECT_NAMES } from './dialects/named-dialects.ts';
import { showsCalls } from './probe/probe-conversation.ts';
import { writeCalls } from './write-calls.ts';

describe.each(TOOL_DIALECT_NAMES)('%s', name => {
  const { dialect } = NAMED_DIALECTS[name];
  const calls = [
    { name: 'get_weather', id: 'abcdefgh1', arguments: { city: 'São "P\\"\n', days: 3 } },
    { name: 'save', id: 'abcdefgh2', arguments: { point: { x: -1.5, tags: ['a', ''] }, all: [] } },
    { name: 'ping', id: 'abcdefgh3', arguments: {} },
  ].slice(0, dialect.isSingle ? 1 : 3);

  it('has past calls as its parser reads them', () => {
    const read = readCalls(dialect, EXAMPLE_TOOLS, [writeCalls(dialect, calls)]);
    expect(read.text).toBe('');
    expect(read.calls.map(each => ({ name: each.name, arguments: JSON.parse(each.arguments) }))).toEqual(
      calls.map(({ name: called, arguments: values }) => ({ name: called, arguments: values })),
    );
  });
});

describe.each(TOOL_DIALECT_NAMES)('%s', name => {
  it('writes a whole number that is a float with its point', () => {
    const values = { point: { x: Object(20), tags: [Object(1)] }, all: 3 };
    const written = writeCalls(NAMED_DIALECTS[name].dialect, [{ name: 'save', arguments: values }]);
    expect(written).toMatch(/20\.0\D.*1\.0\D.*3(?!\.)/s);
  });
});

it('a template shows calls if their names are in what it renders', () => {
  const write = (message: Readonly<Record<string, unknown>>) =>
    ((message.tool_calls as { function: { name: string } }[] | undefined) ?? [])
      .map(call => call.function.name)
      .join();
  expect(showsCalls(messages => messages.map(write).join())).toBe(true);
  expect(
    showsCalls((messages, tools) => messages.map(each => each.content).join() + JSON.stringify(tools)),
  ).toBe(false);
  expect(showsCalls(() => null)).toBe(true);
});
