import { describe, expect, it } from 'vitest';
import { JsonSliceTooLongError, JsonTextReader } from './json-text-reader.ts';
import { JsonSyntaxError } from './lossless-json.ts';

async function* of(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

describe('JsonTextReader', () => {
  it('gives the text of a value exactly as it was sent, and where it stood', async () => {
    const reader = new JsonTextReader(of('[ 12345678901234567', '890 , {"a" :\t1.50}', ' ]'));
    const slices: unknown[] = [];
    await reader.readList(async () => {
      slices.push(await reader.takeValue(100));
    });
    expect(slices).toEqual([
      { text: '12345678901234567890', position: 2 },
      { text: '{"a" :\t1.50}', position: 25 },
    ]);
  });

  it.each([
    ['{"a":1 "b":2}', 7],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['{"a":1,}', 7],
    ['{"a":1', 6],
    ['{"a":1} x', 8],
    ['{"a":1,"a":2}', 7],
  ])('tells where %j stops being an object', async (text, position) => {
    const reader = new JsonTextReader(of(...text));
    const read = async () => {
      await reader.readObject(async () => {
        await reader.takeValue(100);
      });
      await reader.readEnd();
    };
    const error: unknown = await read().catch(thrown => thrown);
    expect(error).toBeInstanceOf(JsonSyntaxError);
    expect((error as JsonSyntaxError).position).toBe(position);
  });

  it('does not keep a value past the limit', async () => {
    const endless = async function* () {
      for (;;) yield '"'.padEnd(1000, 'a');
    };
    const list = async function* () {
      yield '[';
      for (;;) yield '1,'.repeat(500);
    };
    await expect(new JsonTextReader(list()).takeValue(5_000)).rejects.toThrow(JsonSliceTooLongError);
    await expect(new JsonTextReader(endless()).takeValue(500)).rejects.toThrow(JsonSliceTooLongError);
  });
});
