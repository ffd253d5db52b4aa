import { expect, it } from 'vitest';
import { toCsv } from './download.ts';

it('writes CSV that spreadsheets read back', () => {
  const rows = [
    { id: 'a', payload: { score: 0.5 }, note: 'say "hi",\nnow' },
    { id: 'b', payload: null, note: -1 },
  ];
  expect(toCsv(['id', 'payload', 'note'], rows)).toBe(
    'id,payload,note\r\na,"{""score"":0.5}","say ""hi"",\nnow"\r\nb,,-1\r\n',
  );
});

it('writes no text that a spreadsheet would run as a formula', () => {
  expect(toCsv(['a'], [{ a: '=HYPERLINK("http://x")' }])).toBe('a\r\n"\'=HYPERLINK(""http://x"")"\r\n');
});
