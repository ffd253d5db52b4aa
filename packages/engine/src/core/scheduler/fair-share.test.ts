import { expect, it } from 'vitest';
import { FairShare } from './fair-share.ts';

const cost = { promptTokenCount: 100, maxOutputTokenCount: 100 };

/** Names of requests in the order of service; each is `<share><number>`. */
function serve(fair: FairShare, names: readonly string[]): string[] {
  const requests = names.map((name, arrival) => ({ name, arrival, start: fair.start(name[0]!, cost) }));
  requests.sort((a, b) => a.start - b.start || a.arrival - b.arrival);
  for (const { start } of requests) fair.admit(start);
  return requests.map(({ name }) => name);
}

it('serves one share in the order of arrival', () => {
  expect(serve(new FairShare(), ['a1', 'a2', 'a3'])).toEqual(['a1', 'a2', 'a3']);
});

it('alternates between shares, however many requests one of them sends first', () => {
  expect(serve(new FairShare(), ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'])).toEqual([
    'a1',
    'b1',
    'a2',
    'b2',
    'a3',
    'a4',
  ]);
});

it('counts tokens, not requests', () => {
  const fair = new FairShare();
  const starts = (share: string, promptTokenCount: number) =>
    [1, 2, 3].map(() => fair.start(share, { promptTokenCount, maxOutputTokenCount: 0 }));
  expect(starts('long', 1_000)).toEqual([0, 1_000, 2_000]);
  expect(starts('short', 10)).toEqual([0, 10, 20]);
});

it('charges no more output than requests use as a rule', () => {
  const fair = new FairShare();
  fair.start('a', { promptTokenCount: 0, maxOutputTokenCount: 100_000 });
  expect(fair.start('a', cost)).toBe(512);
});

it('gives an idle share no credit for its idle time', () => {
  const fair = new FairShare();
  for (let count = 0; count < 100; count++) fair.admit(fair.start('busy', cost));
  const late = [1, 2].map(() => fair.start('late', cost));
  const next = fair.start('busy', cost);
  expect(late[0]).toBe(99 * 200);
  expect(next).toBe(100 * 200);
  expect(late[1]).toBe(100 * 200);
});

it('forgets shares that have fallen behind', () => {
  const fair = new FairShare();
  for (let count = 0; count < 1_000; count++) fair.admit(fair.start(`share ${count}`, cost));
  fair.admit(fair.start('last', cost));
  fair.admit(fair.start('last', cost));
  expect(fair.shareCount).toBe(1);
});

it('forgets all shares when it is idle, also those that each sent one request', () => {
  const fair = new FairShare();
  for (let count = 0; count < 1_000; count++) {
    fair.admit(fair.start(`share ${count}`, cost));
    fair.becomeIdle();
  }
  expect(fair.shareCount).toBe(0);
  expect(fair.start('share 7', cost)).toBe(0);
});
