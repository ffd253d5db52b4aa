// GPU sampling: samples rows of logits on a device. A few hundred numbers of a row are read back: the best tokens, sums of
// weights over blocks, and positions that the device looks up. The tokens are those that `../sampler.ts` draws from the same
// logits; where the summary cannot decide, the whole row is fetched and given to that sampler.

import type { OrtBackend, OrtSessionOptions, OrtValue } from '@ortler/onnxruntime';
import { attempt } from '../../../errors.ts';
import type { TokenLogprobs } from '../../../request/token-logprobs.ts';
import type { DeviceLogits } from '../../runners/paged/device-logits.ts';
import { onlyAllowed } from '../../token-mask.ts';
import { uniformAt } from '../counter-random.ts';
import type { SampledToken, Sampler } from '../sampler.ts';
import { TokenEdits } from '../token-edits.ts';
import { editCountFor, largestCall, MAX_ROWS, rowCountFor } from './call-sizes.ts';
import { decideToken, readBest } from './decide-token.ts';
import { type DeviceCall, DeviceCalls } from './device-calls.ts';
import { logitAndRankOf, toTokenLogprobs } from './own-logprobs.ts';
import { featuresFor, fillReduce } from './reduce-call.ts';
import { PART_BITS, rowShape, SUM_BLOCK_LENGTH } from './row-shape.ts';
import { describeQuestion, type FetchReason, isTentative, type RowQuestion, RowWork } from './row-work.ts';
import type { GraphShape, ReduceFeatures } from './sampling-graphs.ts';

export interface DeviceSamplerCounters {
  rowCount: number;
  readBytes: number;
  /** Rows that were fetched as a whole, by reason. */
  readonly fetched: Record<FetchReason, number>;
}

export interface DeviceSamplerOptions extends OrtSessionOptions {
  /** Maximum number of rows that it is asked about in one call. */
  readonly rowLimit: number;
}

/** Best tokens of a row that are read back: nearly every nucleus is smaller. */
const CANDIDATE_COUNT = 128;
/**
 * Log probabilities that are read from the device, without edits; for more of them the whole row is fetched.
 */
const LOGPROB_COUNT = 32;
/** Rows that are fetched by one call: a few megabytes. */
const MAX_FETCHED = 8;

export class DeviceSampler {
  readonly counters: DeviceSamplerCounters = {
    rowCount: 0,
    readBytes: 0,
    fetched: { numbers: 0, ties: 0, many: 0, reasoning: 0, edits: 0, logprobs: 0 },
  };
  readonly #sampler: Sampler;
  readonly #shape: GraphShape;
  readonly #calls: DeviceCalls;
  /** By question; as many as were ever asked in one call. */
  readonly #edits: TokenEdits[] = [];

  /** `sampler` samples the rows that the device cannot decide. */
  constructor(sampler: Sampler, backend: OrtBackend, { rowLimit, ...options }: DeviceSamplerOptions) {
    const shape = rowShape(sampler.vocabSize);
    this.#sampler = sampler;
    this.#shape = {
      ...shape,
      candidateCount: Math.min(CANDIDATE_COUNT, shape.paddedLength),
      logprobCount: Math.min(LOGPROB_COUNT, shape.paddedLength),
    };
    this.#calls = new DeviceCalls(backend, options, { ...this.#shape, rowLimit: largestCall(rowLimit) });
  }

  /**
   * One answer for each question, in order. An error of one row is its answer and does not fail the others; null answers a
   * tentative question that needs the whole row. Reuse the same values of logits, because calls are prepared for them.
   *
   * All questions are taken before anything is awaited, and the output of each is looked at while it is taken.
   */
  async answer(
    logits: DeviceLogits,
    questions: Iterable<RowQuestion>,
  ): Promise<(SampledToken | TokenLogprobs | Error | null)[]> {
    const works: RowWork[] = [];
    for (const question of questions) works.push(this.#take(question, works.length));
    let first = 0;
    for (const { value, rowCount } of logits) {
      const part = works.filter(({ row }) => row >= first && row < first + rowCount);
      for (const work of part) work.row -= first;
      for (let start = 0; start < part.length; start += MAX_ROWS)
        await this.#answerBatch(value, part.slice(start, start + MAX_ROWS));
      first += rowCount;
    }
    this.counters.rowCount += works.length;
    return works.map(({ answer }) => answer);
  }

  async dispose(): Promise<void> {
    await this.#calls.dispose();
  }

  #take(question: RowQuestion, index: number): RowWork {
    const edits = this.#edits[index] ?? new TokenEdits();
    this.#edits[index] = edits;
    return new RowWork(question, edits, describeQuestion(question, edits, this.#shape.logprobCount));
  }

  async #answerBatch(logits: OrtValue, batch: readonly RowWork[]): Promise<void> {
    const onDevice = batch.filter(({ fetch }) => fetch === null);
    if (onDevice.length > 0) await this.#reduce(logits, onDevice);
    const open = batch.filter(({ fetch, question }) => fetch !== null && !isTentative(question));
    for (let start = 0; start < open.length; start += MAX_FETCHED)
      await this.#fetch(logits, open.slice(start, start + MAX_FETCHED));
  }

  async #reduce(logits: OrtValue, batch: readonly RowWork[]): Promise<void> {
    const rowCount = rowCountFor(batch.length);
    const editCount = editCountFor(Math.max(...batch.map(({ edits }) => edits.tokenIds.length)));
    const size = { rowCount, editCount };
    const features = featuresFor(batch, this.#shape);
    const call = await this.#calls.reduce(logits, features, size);
    fillReduce(call, batch, features, { size, shape: this.#shape });
    await this.#run(call);
    for (const [index, work] of batch.entries()) this.#decide(work, index, call, features);

    await this.#locate(batch, rowCount);
    await this.#rank(batch, rowCount, features);
    for (const work of batch) this.#finish(work);
  }

  #decide(work: RowWork, index: number, { arrays }: DeviceCall, features: ReduceFeatures): void {
    const { vocabSize, candidateCount, logprobCount, partCount, sumBlockCount } = this.#shape;
    work.index = index;
    if (work.topCount !== undefined)
      work.own = {
        best: readBest(rowOf(arrays, 'ownBest', index, 2 * logprobCount), vocabSize),
        sum: arrays.get('ownSum')![index] as number,
        vocabSize,
      };
    const { question } = work;
    if (question.kind === 'read') {
      work.tokenId = question.tokenId;
      return;
    }
    const { step } = question;
    const only = step.mask ? onlyAllowed(step.mask) : null;
    if (only !== null) {
      work.tokenId = only;
      return;
    }
    const best = readBest(rowOf(arrays, 'best', index, 2 * candidateCount), vocabSize);
    const weightSums = features.weightSums
      ? rowOf(arrays, 'weightSums', index, partCount * sumBlockCount)
      : null;
    const random = step.params.temperature === 0 ? 0 : uniformAt(step.randomKey, step.position);
    work.take(decideToken(best, weightSums, step.params, random, this.#shape));
  }

  /** Finds the tokens that are within a block. */
  async #locate(batch: readonly RowWork[], rowCount: number): Promise<void> {
    const sought = batch.filter(({ place }) => place !== null);
    if (sought.length === 0) return;
    const { partCount, sumBlockCount } = this.#shape;
    const call = await this.#calls.locate(rowCount, rowCountFor(sought.length));
    const { arrays } = call;
    for (const array of arrays.values()) array.fill(0 as never);
    sought.forEach(({ place, index }, slot) => {
      const { block, target, scale } = place!;
      arrays.get('block')![slot] = index * sumBlockCount + block;
      arrays.get('largest')![slot] = scale.largest;
      arrays.get('factor')![slot] = scale.factor;
      let rest = target;
      for (let part = partCount - 1; part >= 0; part--) {
        const upper = Math.floor(rest / 2 ** (PART_BITS * part));
        arrays.get(`target${part}`)![slot] = upper;
        rest -= upper * 2 ** (PART_BITS * part);
      }
    });
    await this.#run(call);
    sought.forEach((work, slot) => {
      work.tokenId = work.place!.block * SUM_BLOCK_LENGTH + (arrays.get('place')![slot] as number);
    });
  }

  /** Finds logit and rank of tokens that are not among the best ones. */
  async #rank(batch: readonly RowWork[], rowCount: number, features: ReduceFeatures): Promise<void> {
    for (const work of batch)
      if (work.own !== null && work.tokenId !== null)
        work.logitAndRank = logitAndRankOf(work.own, work.tokenId);
    const sought = batch.filter(
      ({ own, tokenId, logitAndRank }) => own !== null && tokenId !== null && logitAndRank === null,
    );
    if (sought.length === 0) return;
    const call = await this.#calls.rank(rowCount, rowCountFor(sought.length), features);
    const { arrays } = call;
    for (const array of arrays.values()) array.fill(0 as never);
    sought.forEach(({ index, tokenId }, slot) => {
      arrays.get('row')![slot] = index;
      arrays.get('tokenId')![slot] = tokenId!;
    });
    await this.#run(call);
    const logitAndRank = arrays.get('logitAndRank') as Float32Array;
    sought.forEach((work, slot) => {
      work.logitAndRank = { logit: logitAndRank[2 * slot]!, above: logitAndRank[2 * slot + 1]! };
    });
  }

  #finish(work: RowWork): void {
    const { tokenId, own, logitAndRank, topCount, question } = work;
    if (tokenId === null) return;
    if (topCount === undefined) {
      work.answer = { tokenId };
      return;
    }
    const logprobs = toTokenLogprobs(own!, { tokenId, ...logitAndRank! }, topCount);
    if (logprobs === null) work.fetch = 'logprobs';
    else work.answer = question.kind === 'read' ? logprobs : { tokenId, logprobs };
  }

  async #fetch(logits: OrtValue, batch: readonly RowWork[]): Promise<void> {
    const { vocabSize } = this.#shape;
    const call = await this.#calls.read(logits, rowCountFor(batch.length));
    for (const [index, { row }] of batch.entries()) call.arrays.get('rows')![index] = row;
    await this.#run(call);
    for (const [index, work] of batch.entries()) {
      this.counters.fetched[work.fetch!]++;
      work.answer = this.#sampleFetched(rowOf(call.arrays, 'row', index, vocabSize), work.question);
    }
  }

  #sampleFetched(row: Float32Array, question: RowQuestion): SampledToken | TokenLogprobs | Error {
    return attempt(() =>
      question.kind === 'read'
        ? this.#sampler.readLogprobs(row, question.tokenId, question.topCount)
        : this.#sampler.sample(row, question.step),
    );
  }

  async #run(call: DeviceCall): Promise<void> {
    await call.run();
    this.counters.readBytes += call.readBytes;
  }
}

function rowOf(arrays: DeviceCall['arrays'], name: string, index: number, length: number): Float32Array {
  return (arrays.get(name) as Float32Array).subarray(index * length, (index + 1) * length);
}
