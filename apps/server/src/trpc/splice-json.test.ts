import { JsonText } from '@ortler/api';
import { expect, it } from 'vitest';
import { spliceJson } from './splice-json.ts';

const toText = (json: string) => new JsonText([new TextEncoder().encode(json)]);

function splice(body: string, texts: readonly JsonText[]): Promise<string> {
  return new Response(new Response(body).body!.pipeThrough(spliceJson(texts))).text();
}

it('puts each text in the place of its placeholder, in any order', async () => {
  const [first, second] = [toText('{"a":[1,2]}'), toText('"ü"')];
  const body = JSON.stringify([{ result: { data: second } }, { error: 'x' }, { result: { data: first } }]);
  const spliced = await splice(body, [first, second]);
  expect(spliced).toBe('[{"result":{"data":"ü"}},{"error":"x"},{"result":{"data":{"a":[1,2]}}}]');
});

it('leaves replies without texts as they are', async () => {
  expect(await splice('{"a":1}', [])).toBe('{"a":1}');
});

it('ends with an error when a text has no place', async () => {
  await expect(splice('{}', [toText('1')])).rejects.toThrow('no place');
});

it('puts in a text that is made while the reply is written', async () => {
  const texts: JsonText[] = [];
  const chunks = new TransformStream<string, string>();
  const spliced = new Response(
    chunks.readable.pipeThrough(new TextEncoderStream()).pipeThrough(spliceJson(texts)),
  ).text();
  const writer = chunks.writable.getWriter();
  await writer.write('{"head":1}\n');
  const late = toText('[1]');
  texts.push(late);
  await writer.write(`${JSON.stringify({ late })}\n`);
  await writer.close();
  expect(await spliced).toBe('{"head":1}\n{"late":[1]}\n');
});
