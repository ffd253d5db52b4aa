import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonTextReader } from './json-text-reader.ts';

async function* pieces(text: string, sizes: readonly number[]): AsyncGenerator<string> {
  for (let start = 0, turn = 0; start < text.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    yield text.slice(start, start + size);
    start += size;
  }
}

/** Reads objects and lists down to `depth` by walking, everything below as text. */
async function walk(reader: JsonTextReader, depth: number): Promise<unknown> {
  const next = await reader.peek();
  if (depth === 0 || (next !== '{' && next !== '['))
    return JSON.parse((await reader.takeValue(1e6)).text) as unknown;
  const entries: [string, unknown][] = [];
  if (next === '{')
    await reader.readObject(async key => {
      entries.push([key, await walk(reader, depth - 1)]);
    });
  else
    await reader.readList(async index => {
      entries.push([String(index), await walk(reader, depth - 1)]);
    });
  return next === '{' ? Object.fromEntries(entries) : entries.map(([, value]) => value);
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

describe('JsonTextReader', () => {
  it('gives the same value as JSON.parse, wherever the text is cut and however it is indented', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.integer({ min: 0, max: 4 }),
        fc.nat(3),
        sizes,
        async (value, depth, indent, cuts) => {
          const text = JSON.stringify(value, null, indent);
          const reader = new JsonTextReader(pieces(` ${text}\n`, cuts));
          expect(JSON.stringify(await walk(reader, depth))).toBe(JSON.stringify(JSON.parse(text)));
          await reader.readEnd();
        },
      ),
    );
  });

  it('accepts no text that JSON.parse refuses', async () => {
    const broken = fc
      .tuple(fc.jsonValue(), fc.nat(), fc.constantFrom('', ',', ']', '}', '"', ':', '{', 'x'))
      .map(([value, at, put]) => {
        const text = JSON.stringify(value);
        const cut = at % (text.length + 1);
        return text.slice(0, cut) + put + text.slice(cut + 1);
      });
    await fc.assert(
      fc.asyncProperty(broken, fc.integer({ min: 0, max: 4 }), sizes, async (text, depth, cuts) => {
        const reader = new JsonTextReader(pieces(text, cuts));
        const read = walk(reader, depth).then(async value => {
          await reader.readEnd();
          return JSON.stringify(value);
        });
        const found = await read.catch(() => 'refused');
        if (found !== 'refused') expect(found).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });
});
