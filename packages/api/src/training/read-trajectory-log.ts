// Streaming parser of the body of a log call: each trajectory is validated and written to a spool, so the body may be larger
// than memory. All faults are reported together, in field order; nothing is stored if there are any.

import {
  describeJsonLimit,
  type JsonSlice,
  JsonSliceTooLongError,
  JsonSyntaxError,
  JsonTextReader,
  parseLosslessJson,
} from '@ortler/json';
import {
  toJsonSyntaxDetails,
  toValidationDetails,
  trajectory,
  trajectoryGroup,
  trajectoryLogHead,
  type ValidationDetail,
} from '@ortler/schemas';
import { Turns } from '@ortler/worker';
import { z } from 'zod';
import type {
  ReadTrajectoryLog,
  TrajectoryLogOptions,
  TrajectoryRecord,
  TrajectorySpool,
} from '../ports/training-services.ts';
import { safeParseBounded } from '../trpc/bounded-input.ts';
import { invalidInput } from '../trpc/report-faults.ts';
import { faultsOf, type Keys, LogFaults, ruleFault } from './log-faults.ts';
import { MetricError, MetricTallies } from './metric-tallies.ts';
import { type RecordPlace, toTrajectoryRecord } from './to-trajectory-record.ts';

/** Longest single trajectory, and longest rest of a group. Unit: UTF-16 code units. */
export const MAX_TRAJECTORY_LENGTH = 16 * 1024 * 1024;

/**
 * Maximum number of trajectories, and of groups, of one call. Even an empty one takes far more bytes in a
 * store than `{}`.
 */
export const MAX_TRAJECTORY_COUNT = 100_000;

/**
 * Also at most this many, and one more per this many characters: the cost of an item is far above that of its `{}`. A real
 * trajectory has hundreds of characters.
 */
const FREE_TRAJECTORY_COUNT = 10_000;
const CHARACTERS_PER_TRAJECTORY = 64;

/** Deepest nesting of the whole body; trajectories are four levels inside. */
const MAX_DEPTH = 128;
const TRAJECTORY_LEVEL = 4;

/** Items are validated inside a wrapper, so that `null` is reported as a wrong item and not as a missing body. */
const WRAPPER = 'item';
const wrappedTrajectory = z.object({ [WRAPPER]: trajectory });
const wrappedGroup = z.object({ [WRAPPER]: trajectoryGroup });
const groupList = z.object({ trajectory_groups: z.array(z.unknown()) });
const trajectoryList = z.object({ trajectories: z.array(z.unknown()) });

/**
 * Reads a body to its end.
 * Mutates: `spool`, to which all records are added. Throws: `invalid_input` with all faults; the reason of the signal.
 */
export async function readTrajectoryLog(
  body: AsyncIterable<Uint8Array>,
  spool: TrajectorySpool,
  { receivedAtMs, signal }: TrajectoryLogOptions,
): Promise<ReadTrajectoryLog> {
  const reading = new LogReading(new JsonTextReader(decode(body)), spool, receivedAtMs, signal);
  try {
    return await reading.read();
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw invalidInput(
        toJsonSyntaxDetails(error.position, describeJsonLimit(error.limit, { maxDepth: MAX_DEPTH })),
      );
    if (error instanceof JsonSliceTooLongError)
      throw invalidInput([ruleFault(reading.place, `must not be ${error.message}`)]);
    throw error;
  }
}

class LogReading {
  /** Path of the value being read, for errors of values that are too long. */
  place: Keys = [];
  readonly #reader: JsonTextReader;
  readonly #spool: TrajectorySpool;
  readonly #receivedAtMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #tallies = new MetricTallies();
  readonly #turns = new Turns();
  readonly #faults = new LogFaults();
  #groupCount = 0;
  #trajectoryCount = 0;

  constructor(
    reader: JsonTextReader,
    spool: TrajectorySpool,
    receivedAtMs: number,
    signal: AbortSignal | undefined,
  ) {
    this.#reader = reader;
    this.#spool = spool;
    this.#receivedAtMs = receivedAtMs;
    this.#signal = signal;
  }

  async read(): Promise<ReadTrajectoryLog> {
    const first = await this.#reader.peek();
    if (first === '') throw invalidInput(faultsOf(groupList, undefined, [], []));
    const head: Record<string, unknown> = {};
    let groups: unknown;
    if (first === '{')
      await this.#reader.readObject(async key => {
        this.place = [key];
        if (key === 'trajectory_groups') {
          groups = (await this.#reader.peek()) === '[' ? await this.#readGroups() : await this.#takeValue();
          return;
        }
        const value = await this.#takeValue();
        // Others are only read for their syntax: together they may be far larger than memory.
        if (Object.hasOwn(trajectoryLogHead.shape, key)) head[key] = value;
      });
    else throw invalidInput(faultsOf(groupList, await this.#takeValue(), [], []));
    await this.#reader.readEnd();

    const parsed = trajectoryLogHead.safeParse(head);
    const headFaults = parsed.success ? [] : toValidationDetails(parsed.error, 'body', head);
    const isSplit = ({ loc }: ValidationDetail) => loc[1] === 'split';
    const faults = [
      ...headFaults.filter(isSplit),
      ...this.#faults.found,
      ...faultsOf(groupList, groups === undefined ? {} : { trajectory_groups: groups }, [], []),
      ...headFaults.filter(fault => !isSplit(fault)),
    ];
    if (faults.length > 0 || !parsed.success) throw invalidInput(faults);
    return {
      split: parsed.data.split,
      step: parsed.data.step ?? null,
      groupCount: this.#groupCount,
      trajectoryCount: this.#trajectoryCount,
      tallies: this.#tallies.tallies,
    };
  }

  async #pause(): Promise<void> {
    await this.#turns.pause();
    this.#signal?.throwIfAborted();
  }

  /** Returns an empty list, because the groups are in the spool or among the faults. */
  async #readGroups(): Promise<readonly unknown[]> {
    await this.#reader.readList(async groupIndex => {
      const place: Keys = ['trajectory_groups', groupIndex];
      this.place = place;
      this.#groupCount++;
      await this.#pause();
      this.#checkCount(groupIndex + 1, 'groups', place);
      if ((await this.#reader.peek()) === '{') await this.#readGroup(groupIndex, place);
      else
        this.#faults.report(faultsOf(wrappedGroup, { [WRAPPER]: await this.#takeValue() }, place, [WRAPPER]));
    });
    return [];
  }

  async #readGroup(groupIndex: number, place: Keys): Promise<void> {
    const rest: string[] = [];
    let restLength = 0;
    let metrics: Record<string, number | boolean> = {};
    let exceptionCount = 0;
    let group: Record<string, unknown> = {};
    await this.#reader.readObject(async key => {
      this.place = [...place, key];
      if (key === 'trajectories' && (await this.#reader.peek()) === '[') {
        await this.#reader.readList(index => this.#readTrajectory(groupIndex, index, [...place, key, index]));
        group = { trajectories: [] };
        return;
      }
      const slice = await this.#reader.takeValue(MAX_TRAJECTORY_LENGTH - restLength);
      const value = this.#parse(slice, MAX_DEPTH - TRAJECTORY_LEVEL);
      if (key === 'trajectories') group = { trajectories: value };
      else {
        if (key === 'metrics') metrics = scalarsOf(value);
        if (key === 'exceptions') exceptionCount = Array.isArray(value) ? value.length : 0;
        rest.push(`${JSON.stringify(key)}:${slice.text}`);
        restLength += slice.text.length;
      }
    });
    this.#faults.report(faultsOf(trajectoryList, group, place, []));
    this.#tally([...place, 'metrics'], () => this.#tallies.endGroup(metrics, exceptionCount));
    if (this.#faults.isEmpty) await this.#spool.addGroup({ groupIndex, json: `{${rest.join(',')}}` });
  }

  async #readTrajectory(groupIndex: number, trajectoryIndex: number, place: Keys): Promise<void> {
    this.place = place;
    await this.#pause();
    const slice = await this.#reader.takeValue(MAX_TRAJECTORY_LENGTH);
    const at = { groupIndex, trajectoryIndex, receivedAtMs: this.#receivedAtMs };
    const record = this.#toRecord(slice, at, place);
    if (record !== null) await this.#spool.addTrajectory(record);
  }

  /**
   * Not async: the objects of a trajectory take fifteen times the memory of its text, and an async function would keep them while it waits
   * for the spool. Null: there are faults.
   */
  #toRecord(slice: JsonSlice, at: RecordPlace, place: Keys): TrajectoryRecord | null {
    const value = this.#parse(slice, MAX_DEPTH - TRAJECTORY_LEVEL);
    const parsed = safeParseBounded(wrappedTrajectory, { [WRAPPER]: value });
    if (!parsed.success) {
      this.#faults.report(faultsOf(wrappedTrajectory, { [WRAPPER]: value }, place, [WRAPPER], parsed.error));
      return null;
    }
    this.#trajectoryCount++;
    this.#checkCount(this.#trajectoryCount, 'trajectories', place);
    const checked = parsed.data[WRAPPER]!;
    this.#tally([...place, 'metrics'], () => this.#tallies.addTrajectory(checked.reward, checked.metrics));
    return this.#faults.isEmpty ? toTrajectoryRecord(checked, slice.text, at) : null;
  }

  /** Throws: `invalid_input`. */
  #checkCount(count: number, items: 'groups' | 'trajectories', place: Keys): void {
    const perLength = FREE_TRAJECTORY_COUNT + Math.floor(this.#reader.position / CHARACTERS_PER_TRAJECTORY);
    const most = Math.min(MAX_TRAJECTORY_COUNT, perLength);
    if (count <= most) return;
    const reason = most < MAX_TRAJECTORY_COUNT ? ' of fewer than 64 characters each' : '';
    throw invalidInput([ruleFault(place, `one call may hold at most ${most} ${items}${reason}`)]);
  }

  async #takeValue(): Promise<unknown> {
    return this.#parse(await this.#reader.takeValue(MAX_TRAJECTORY_LENGTH), MAX_DEPTH - 1);
  }

  /** Throws: `JsonSyntaxError` with the position from the start of the body. */
  #parse(
    { text, position }: { readonly text: string; readonly position: number },
    maxDepth: number,
  ): unknown {
    try {
      return parseLosslessJson(text, { maxDepth });
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
      const { limit } = error;
      throw new JsonSyntaxError('Broken value', position + error.position, { limit, cause: error });
    }
  }

  #tally(place: Keys, add: () => void): void {
    try {
      add();
    } catch (error) {
      if (!(error instanceof MetricError)) throw error;
      this.#faults.report([ruleFault(place, error.message)]);
    }
  }
}

/** Numbers and booleans of group metrics, which are not validated: other values are stored but not aggregated. */
function scalarsOf(metrics: unknown): Record<string, number | boolean> {
  if (typeof metrics !== 'object' || metrics === null || Array.isArray(metrics)) return {};
  const scalars = Object.entries(metrics).filter(
    ([, value]) => typeof value === 'boolean' || typeof value === 'number',
  );
  return Object.fromEntries(scalars) as Record<string, number | boolean>;
}

/** Throws: `JsonSyntaxError` for bytes that are not UTF-8. */
async function* decode(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let position = 0;
  const toText = (bytes?: Uint8Array) => {
    try {
      const text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
      position += text.length;
      return text;
    } catch (error) {
      throw new JsonSyntaxError('Not UTF-8', position, { cause: error });
    }
  };
  for await (const bytes of body) yield toText(bytes);
  yield toText();
}
