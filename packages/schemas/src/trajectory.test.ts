import { parseLosslessJson, stringifyLosslessJson } from '@ortler/json';
import { describe, expect, it } from 'vitest';
import { trajectory, trajectoryGroup, trajectoryLogBody } from './trajectory.ts';

describe('trajectory', () => {
  it('has the published fields', () => {
    expect(Object.keys(trajectory.shape)).toEqual([
      'messages_and_choices',
      'tools',
      'additional_histories',
      'reward',
      'initial_policy_version',
      'final_policy_version',
      'metrics',
      'metadata',
      'logs',
      'start_time',
    ]);
  });

  it('fills its defaults and leaves the start to the receiver', () => {
    expect(trajectory.parse({})).toEqual({
      messages_and_choices: [],
      additional_histories: [],
      reward: 0,
      metrics: {},
      metadata: {},
      logs: [],
    });
  });

  it('does not share its defaults between parses', () => {
    trajectory.parse({}).logs.push('x');
    trajectory.parse({}).messages_and_choices.push({ role: 'user' });
    trajectory.parse({}).metrics.x = 1;
    trajectory.parse({}).metadata.x = 1;
    trajectory.parse({}).additional_histories.push({ messages_and_choices: [] });
    expect(trajectory.parse({})).toMatchObject({
      logs: [],
      messages_and_choices: [],
      metrics: {},
      metadata: {},
      additional_histories: [],
    });
  });

  it('keeps what it does not know, in groups and items too', () => {
    const choice = {
      index: 0,
      finish_reason: 'odd',
      message: { role: 'assistant', extra: [1] },
      token_ids: [5],
    };
    expect(trajectory.parse({ exchanges: [{ a: 1 }], messages_and_choices: [choice] })).toMatchObject({
      exchanges: [{ a: 1 }],
      messages_and_choices: [choice],
    });
    const exceptions = [{ type: 'E', message: 'm', traceback: 't' }];
    expect(trajectoryGroup.parse({ trajectories: [], exceptions })).toEqual({ trajectories: [], exceptions });
  });

  it('converts metrics but not metadata', () => {
    const parsed = trajectory.parse({ metrics: { ok: true, n: '2' }, metadata: { n: '2', none: null } });
    expect(parsed.metrics).toEqual({ ok: true, n: 2 });
    expect(parsed.metadata).toEqual({ n: '2', none: null });
  });

  it('writes the start in UTC', () => {
    expect(trajectory.parse({ start_time: '2026-01-01T01:00:00+01:00' }).start_time).toBe(
      '2026-01-01T00:00:00.000Z',
    );
  });

  it('keeps every digit of big integers in metadata and items', () => {
    const text =
      '{"split":"val","trajectory_groups":[{"trajectories":[{"messages_and_choices":[{"role":"user","id":9223372036854775807}],' +
      '"metadata":{"id":9007199254740993}}]}]}';
    const written = stringifyLosslessJson(trajectoryLogBody.parse(parseLosslessJson(text)));
    expect(written).toContain('"id":9223372036854775807');
    expect(written).toContain('"id":9007199254740993');
  });
});
