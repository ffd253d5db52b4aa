// Schedules at random: requests that come, go and wait, and cores that serve them. Callers: the property tests of EngineCore.

import fc from 'fast-check';
import type { SubmitMessage } from '../src/protocol/messages.ts';
import { NEUTRAL_SAMPLING } from '../src/request/sampling-params.ts';
import { ScriptedBlockModel } from '../src/testing/scripted-block-model.ts';
import { hashTokens, ScriptedModel, type ScriptedModelOptions } from '../src/testing/scripted-model.ts';

export const VOCAB_SIZE = 24;
export const EOS_TOKEN_ID = 3;
export const CONTEXT_LENGTH = 96;
/** Strong enough that texts repeat themselves, weak enough that draws leave them. */
const PEAK = 4;
/** How the scripted model says its next token. */
export const TEXT = { peak: PEAK, nextToken };

/** Most requests run in a loop of three tokens, some are like noise. */
function nextToken(history: readonly number[]): number {
  if (history[0]! % 4 === 0) return hashTokens(history) % VOCAB_SIZE;
  return 10 + ((history.at(-1)! + 1) % 3);
}

/** A request, and what befalls it. */
export interface Arrival {
  readonly atStep: number;
  readonly request: SubmitMessage;
  /** Step while or after which the request, or one choice of it, is aborted. */
  readonly abortedAtStep: number | null;
  readonly abortedChoice: number | null;
  /** When one choice's reader falls behind and when it has caught up, while or between steps. */
  readonly pauses: readonly {
    readonly atStep: number;
    readonly choiceIndex: number;
    readonly length: number;
  }[];
  readonly isDisturbedInFlight: boolean;
}

/** A core and its model. */
export interface Machine {
  readonly maxSequences: number;
  readonly cacheSlots: number;
  readonly prefillChunkLength: number;
  readonly mixedChunkLength: number;
  readonly logitsRoom: number;
  readonly schedulingPolicy: 'fcfs' | 'priority';
  readonly prefixCaching: boolean;
  readonly cacheBlockLength: number;
  /** Kind of KV cache of the model. */
  readonly cacheKind: 'slots' | 'blocks';
  /** With blocks: how many more tokens than one whole context they hold. */
  readonly spareTokens: number;
  /** null: no step fails. */
  readonly failureSalt: number | null;
  /** `random`: drafts of any length, right and wrong, whatever else the step computes. */
  readonly drafting: 'lookup' | 'random' | 'none';
  /** Of a model whose slots hold the last positions only: its window, how many more positions than it must have, and its pieces. */
  readonly windowed: {
    readonly window: number;
    readonly spare: number;
    readonly pieceLength: number;
    readonly pieceCount: number;
  } | null;
  /** Of a recurrent model: states that it keeps besides two of each sequence, and their interval. */
  readonly recurrent: { readonly spare: number; readonly interval: number } | null;
}

/** The model of a run, with scripted failures. */
export function createMachineModel(
  machine: Machine,
  faults: Pick<ScriptedModelOptions, 'failsAt' | 'logitsFault'>,
): ScriptedModel | ScriptedBlockModel {
  const { maxSequences, cacheSlots, logitsRoom, cacheKind, spareTokens } = machine;
  const slotCount = cacheKind === 'slots' ? maxSequences + cacheSlots : maxSequences;
  const options = {
    vocabSize: VOCAB_SIZE,
    contextLength: CONTEXT_LENGTH,
    slotCount,
    logitsLimit: slotCount + logitsRoom,
    ...TEXT,
    ...faults,
  };
  if (cacheKind === 'slots') {
    const { recurrent } = machine;
    const states = recurrent && { count: 2 * maxSequences + recurrent.spare, interval: recurrent.interval };
    return new ScriptedModel({
      ...options,
      rings: windowRings(machine),
      states: states ?? undefined,
    });
  }
  const blockLength = machine.cacheBlockLength;
  const blockCount = Math.ceil((CONTEXT_LENGTH + spareTokens) / blockLength);
  return new ScriptedBlockModel({ ...options, blockCount, blockLength });
}

/** With room for the longest row, be it a chunk or a draft. */
function windowRings({ windowed, prefillChunkLength, drafting }: Machine): ScriptedModelOptions['rings'] {
  if (windowed === null) return undefined;
  const { window, spare, pieceLength, pieceCount } = windowed;
  const longestRow = Math.max(prefillChunkLength, 1 + LONGEST_DRAFTS[drafting]);
  const beyond = Math.max(longestRow + spare, 2 * (pieceLength - 1));
  return { window, capacity: window - 1 + beyond, pieceLength, pieceCount };
}

const LONGEST_DRAFTS: Readonly<Record<Machine['drafting'], number>> = { lookup: 15, random: 6, none: 0 };

const tokenId = fc.nat({ max: VOCAB_SIZE - 1 });

/** Prompts that begin alike, as those of one application do. */
const prompts = fc
  .record({
    beginning: fc.nat({ max: 2 }),
    sharedLength: fc.oneof(fc.nat({ max: 18 }), fc.nat({ max: 50 })),
    rest: fc.array(tokenId, { minLength: 1, maxLength: 12 }),
  })
  .map(({ beginning, sharedLength, rest }) => {
    const shared = Array.from({ length: sharedLength }, (_, i) => (beginning * 7 + i * 5) % VOCAB_SIZE);
    return Int32Array.from([...shared, ...rest]);
  });

/** Requests, in the order in which they come. */
export const arrivals = fc
  .array(
    fc.record({
      atStep: fc.nat({ max: 25 }),
      promptTokenIds: prompts,
      choiceCount: fc.constantFrom(1, 1, 2, 3),
      maxTokens: fc.oneof(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 17, max: 33 })),
      minTokens: fc.nat({ max: 3 }),
      temperature: fc.constantFrom(0, 0.7, 1.5),
      topP: fc.constantFrom(1, 0.8),
      frequencyPenalty: fc.constantFrom(0, 0, 1.5),
      repetitionPenalty: fc.constantFrom(1, 1, 1.7),
      badTokenSequences: fc.constantFrom([], [[5], [6, 7]]),
      topLogprobCount: fc.constantFrom(null, 0, 4),
      loopCount: fc.constantFrom(null, null, 2, 5),
      seed: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      priority: fc.integer({ min: -2, max: 2 }),
      cachePartition: fc.constantFrom('', 'a', 'b'),
      wantsPromptLogprobs: fc.constantFrom(false, false, true),
      abortedAtStep: fc.option(fc.nat({ max: 30 }), { freq: 3 }),
      abortedChoice: fc.option(fc.nat({ max: 2 })),
      pauses: fc.array(
        fc.record({
          atStep: fc.nat({ max: 30 }),
          choiceIndex: fc.nat({ max: 2 }),
          length: fc.integer({ min: 1, max: 20 }),
        }),
        { maxLength: 2 },
      ),
      isDisturbedInFlight: fc.boolean(),
    }),
    { minLength: 1, maxLength: 10 },
  )
  .map(entries =>
    entries.map((entry, requestId): Arrival => {
      const { promptTokenIds, choiceCount, maxTokens, minTokens, cachePartition, priority } = entry;
      const { temperature, topP, frequencyPenalty, repetitionPenalty, seed, topLogprobCount } = entry;
      const request: SubmitMessage = {
        kind: 'submit',
        requestId,
        promptTokenIds,
        choiceCount,
        sampling: { ...NEUTRAL_SAMPLING, temperature, topP, frequencyPenalty, repetitionPenalty, seed },
        maxTokens,
        minTokens,
        eosTokenIds: [EOS_TOKEN_ID],
        stopTokenIds: [],
        minTokensBannedIds: [EOS_TOKEN_ID],
        badTokenSequences: entry.badTokenSequences,
        cachePartition,
        priority,
        ...(entry.loopCount === null
          ? {}
          : { repetitionDetection: { minPatternSize: 1, maxPatternSize: 3, minCount: entry.loopCount } }),
        ...(topLogprobCount === null ? {} : { logprobs: { topCount: topLogprobCount } }),
        ...(entry.wantsPromptLogprobs ? { promptLogprobs: { topCount: 2 } } : {}),
      };
      return { ...entry, request };
    }),
  );

/** Settings of a core with one kind of cache. */
export const machines = (cacheKind: Machine['cacheKind']): fc.Arbitrary<Machine> =>
  fc.record({
    cacheKind: fc.constant(cacheKind),
    spareTokens: fc.nat({ max: 80 }),
    maxSequences: fc.integer({ min: 1, max: 5 }),
    cacheSlots: fc.nat({ max: 3 }),
    prefillChunkLength: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 40 })),
    mixedChunkLength: fc.integer({ min: 1, max: 40 }),
    logitsRoom: fc.integer({ min: 1, max: 20 }),
    schedulingPolicy: fc.constantFrom('fcfs', 'priority'),
    prefixCaching: fc.constantFrom(true, true, true, false),
    cacheBlockLength: fc.constantFrom(1, 2, 5),
    failureSalt: fc.option(fc.nat({ max: 1000 })),
    drafting: fc.constantFrom('lookup', 'random', 'none'),
    windowed: fc.option(
      fc.record({
        window: fc.integer({ min: 1, max: 9 }),
        spare: fc.nat({ max: 12 }),
        pieceLength: fc.integer({ min: 1, max: 5 }),
        pieceCount: fc.nat({ max: 30 }),
      }),
    ),
    recurrent: fc.option(
      fc.record({ spare: fc.nat({ max: 20 }), interval: fc.integer({ min: 1, max: 12 }) }),
    ),
  });
