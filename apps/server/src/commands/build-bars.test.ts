import { expect, it } from 'vitest';
import { createBuildBars } from './build-bars.ts';

function linesOf(use: (bars: ReturnType<typeof createBuildBars>) => void): string[] {
  const lines: string[] = [];
  use(createBuildBars({ out: () => undefined, err: text => lines.push(text), isScreen: false }));
  return lines;
}

it('writes one line for each quarter of a build without a terminal', () => {
  const lines = linesOf(bars => {
    for (let doneBytes = 0; doneBytes <= 100; doneBytes++)
      bars.update('m', { stage: 'weights', doneBytes, totalBytes: 100 });
    bars.update('m', { stage: 'finish', doneBytes: 100, totalBytes: 100 });
  });
  expect(lines).toEqual(
    [0, 25, 50, 75, 100].map(step => `  m: building ${step}%\n`).concat('  m: finishing\n'),
  );
});

it('does not show the hashing of a small checkpoint', () => {
  const read = (totalBytes: number) =>
    linesOf(bars => bars.update('m', { stage: 'hash', doneBytes: 0, totalBytes }));
  expect(read(1024)).toEqual([]);
  expect(read(1024 ** 3)).toEqual(['  m: reading 0%\n']);
});

it('writes one line for each tenth of a download, with its speed and the time left', () => {
  const lines = linesOf(bars => {
    bars.update('m', { stage: 'download', doneBytes: 0, totalBytes: 1_000 });
    for (let doneBytes = 100; doneBytes <= 250; doneBytes++)
      bars.update('m', {
        stage: 'download',
        doneBytes,
        totalBytes: 1_000,
        bytesPerSecond: 35_200_000,
        secondsLeft: doneBytes === 100 ? 65 : 7_300,
      });
    bars.update('m', { stage: 'check', doneBytes: 1_000, totalBytes: 1_000 });
  });
  expect(lines).toEqual([
    '  m: downloading 0%\n',
    '  m: downloading 10%, 35.2 MB/s, 1:05 min left\n',
    '  m: downloading 20%, 35.2 MB/s, 2:01 h left\n',
    '  m: checking\n',
  ]);
});

it('draws a bar on a screen until it is closed', () => {
  const written: string[] = [];
  const bars = createBuildBars(
    { out: text => written.push(text), err: () => undefined, isScreen: true },
    { columns: 100, write: text => written.push(text) },
  );
  const progress = { stage: 'weights', doneBytes: 5e6, totalBytes: 20e6 } as const;
  bars.update('m', progress);
  expect(written.join('')).toContain(`  m: building [${'='.repeat(10)}${'-'.repeat(30)}] 25% | 5/20 MB`);
  bars.close();
  written.length = 0;
  bars.update('m', progress);
  bars.print('stopping\n');
  expect(written).toEqual(['stopping\n']);
});
