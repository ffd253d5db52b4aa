import { expect, test } from 'vitest';
import { type DownloadProgress, ProgressMeter } from './progress-meter.ts';

function run() {
  const state = { now: 0, done: 100 };
  const reports: DownloadProgress[] = [];
  const meter = new ProgressMeter({
    totalBytes: 1_100,
    countDone: () => state.done,
    intervalMs: 100,
    now: () => state.now,
    report: progress => reports.push(progress),
  });
  const receive = (bytes: number, afterMs: number) => {
    state.now += afterMs;
    state.done += bytes;
    meter.add(bytes);
  };
  return { state, reports, meter, receive };
}

test('speed counts the bytes that arrive, not those that were there', () => {
  const { reports, receive } = run();
  receive(50, 500);
  expect(reports).toEqual([
    { stage: 'download', doneBytes: 100, totalBytes: 1_100 },
    { stage: 'download', doneBytes: 150, totalBytes: 1_100, bytesPerSecond: 100, secondsLeft: 9.5 },
  ]);
});

test('speed follows the last seconds', () => {
  const { reports, receive } = run();
  for (let i = 0; i < 10; i++) receive(1, 1_000);
  for (let i = 0; i < 6; i++) receive(100, 1_000);
  expect(reports.at(-1)!.bytesPerSecond).toBeCloseTo(100);
});

test('reports come at intervals, and a check shows only after the last byte', () => {
  const { reports, receive, meter, state } = run();
  for (let i = 0; i < 99; i++) receive(1, 1);
  state.now += 1_000;
  meter.check();
  expect(reports.length).toBe(1);
  state.done = 1_100;
  meter.check();
  expect(reports.at(-1)).toMatchObject({ stage: 'check', doneBytes: 1_100 });
});
