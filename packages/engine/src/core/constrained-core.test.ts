// Constraints in the step loop, on a scripted model that draws from the whole vocabulary.

import type { Grammar } from '@ortler/structured-output';
import {
  LETTER_COLUMN_COUNT,
  LETTER_ENDS,
  letterId,
  letterText,
  letterVocabulary,
} from '@ortler/structured-output/testing';
import fc from 'fast-check';
import { IS_FULL_RUN, runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import type { SequenceUpdate, SubmitMessage, SubmittedConstraint } from '../protocol/messages.ts';
import { NEUTRAL_SAMPLING } from '../request/sampling-params.ts';
import { ScriptedModel, type ScriptedModelOptions } from '../testing/scripted-model.ts';
import type { EngineCoreSettings } from './core-settings.ts';
import { EngineCore } from './engine-core.ts';
import type { Drafter } from './speculative-decoding/drafter.ts';
import { HostStepRunner } from './step/host-step-runner.ts';

const JSON_FORM = {
  layout: 'canonical',
  numbers: { integerDigits: 3, significantDigits: 3, exponent: 9 },
  guardsRepetition: true,
} as const;

const regex = (text: string): Grammar => ({ kind: 'regex', text });

function request(grammar: Grammar | null, changes: Partial<SubmitMessage> = {}): SubmitMessage {
  return {
    kind: 'submit',
    requestId: 1,
    promptTokenIds: Int32Array.of(5, 6, 7),
    choiceCount: 1,
    sampling: { ...NEUTRAL_SAMPLING, temperature: 1.5, seed: 7n },
    maxTokens: 12,
    minTokens: 0,
    eosTokenIds: [LETTER_ENDS[0]],
    stopTokenIds: [LETTER_ENDS[1]],
    minTokensBannedIds: [],
    ...(grammar !== null && { constraint: { grammar } }),
    ...changes,
  };
}

interface Answer {
  readonly tokenIds: number[];
  readonly logprobs: number[];
  finish: SequenceUpdate['finish'];
  failure: SequenceUpdate['failure'];
}

const MODEL: ScriptedModelOptions = {
  vocabSize: LETTER_COLUMN_COUNT,
  peak: 0,
  slotCount: 4,
  logitsLimit: 12,
};

function createCore(model: ScriptedModelOptions = {}, settings: Partial<EngineCoreSettings> = {}) {
  const runner = new ScriptedModel({ ...MODEL, ...model });
  const core = new EngineCore(new HostStepRunner(runner), {
    prefillChunkLength: 16,
    maxQueuedSequences: 64,
    ...settings,
  });
  core.setVocabulary(letterVocabulary);
  return { core, runner };
}

/** Runs a core until it has nothing to do; answers by request and choice. */
async function finish(core: EngineCore): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  while (core.hasWork) {
    for (const output of await core.step()) {
      if (output.kind !== 'step') throw new Error(`Unexpected ${output.kind}: ${JSON.stringify(output)}`);
      for (const update of output.updates) take(answers, update);
    }
    expect(core.findViolations()).toEqual([]);
  }
  return answers;
}

function take(answers: Map<string, Answer>, update: SequenceUpdate): void {
  const key = `${update.requestId}/${update.choiceIndex}`;
  const answer = answers.get(key) ?? { tokenIds: [], logprobs: [], finish: undefined, failure: undefined };
  answers.set(key, answer);
  answer.tokenIds.push(...update.tokenIds);
  answer.logprobs.push(...(update.logprobs ?? []).map(found => found.logprob));
  answer.finish = update.finish;
  answer.failure = update.failure;
}

/** One token after the other, without any draft. */
async function answerAlone(message: SubmitMessage, model: ScriptedModelOptions = {}): Promise<Answer[]> {
  const { core } = createCore(model, { drafter: null });
  core.submit(message);
  const answers = await finish(core);
  return [...answers].sort(([a], [b]) => a.localeCompare(b)).map(([, answer]) => answer);
}

describe('a choice that is free up to a trigger', () => {
  const text = (value: string) => new TextEncoder().encode(value);
  const anywhere = {
    grammar: {
      kind: 'lark',
      text: 'start: FREE | lazy ("cd" | "h") "ef"\nlazy[lazy]: /(?s:.*)/ "ab"\nFREE: /(?s:.*)/ & ~(/(?s:.*)/ "ab" /(?s:.*)/)',
    },
    triggers: { texts: [text('ab')], position: 'anywhere' },
  } as const;
  const atStart = {
    grammar: {
      kind: 'lark',
      text: 'start: "a" ("bcd" | "h") "ef" | OTHER\nOTHER: /(?s:.*)/ & ~("a" /(?s:.*)/)',
    },
    triggers: { texts: [text('a')], position: 'start' },
  } as const;
  const cases: readonly [string, SubmittedConstraint, RegExp][] = [
    ['anywhere', anywhere, /^(?:(?!ab)[\s\S])*(?:ab(?:cd|h)ef)?$/],
    ['at the start', atStart, /^(?:a(?:bcd|h)ef|(?!a)[\s\S]*)$/],
  ];

  it.each(cases)(
    '%s keeps its grammar after it, in any tokens',
    { timeout: 120_000 },
    async (_, constraint, whole) => {
      let triggeredCount = 0;
      for (let seed = 0; seed < runs({ daily: 60, full: 100 }); seed++) {
        const message = request(null, {
          constraint,
          maxTokens: 40,
          sampling: { ...NEUTRAL_SAMPLING, temperature: 1, seed: BigInt(seed), logitBias: BIASES },
        });
        const [answer] = await answerAlone(message);
        const { core } = createCore();
        core.submit(message);
        const [drafted] = [...(await finish(core)).values()];
        expect(drafted!.tokenIds).toEqual(answer!.tokenIds);
        expect(answer!.failure).toBeUndefined();
        if (answer!.finish?.reason !== 'stop') continue;
        const written = letterText(answer!.tokenIds);
        expect(written).toMatch(whole);
        if (written.endsWith('ef')) triggeredCount++;
      }
      expect(triggeredCount).toBeGreaterThan(0);
    },
  );
});

/** Letters that triggers are made of, and an end now and then. */
const BIASES = ['a', 'b', 'ab', 'abc', 'c', 'cd'].map(token => ({ tokenId: letterId(token), bias: 1 }));

describe('a constrained choice', () => {
  it('ends with the last token that its constraint allows, without an end token', async () => {
    const [answer] = await answerAlone(request(regex('abcabc')));
    expect(letterText(answer!.tokenIds)).toBe('abcabc');
    expect(answer!.tokenIds).not.toContain(LETTER_ENDS[0]);
    expect(answer!.finish).toEqual({ reason: 'stop', stopTokenId: null, endsWithText: true });
  });

  it('stops on the very last allowed place when it is complete there', async () => {
    const [answer] = await answerAlone(request(regex('g'), { maxTokens: 1 }));
    expect(answer!.finish?.reason).toBe('stop');
  });

  it('is cut off at the length with the beginning of what its constraint allows', async () => {
    const [answer] = await answerAlone(request(regex('h{9}'), { maxTokens: 4 }));
    expect(letterText(answer!.tokenIds)).toBe('hhhh');
    expect(answer!.finish).toEqual({ reason: 'length', stopTokenId: null, canEnd: false });
    const [whole] = await answerAlone(request(regex('h{4,9}'), { maxTokens: 4 }));
    expect(whole!.finish?.canEnd).toBe(true);
  });

  it('ends below the minimum and with ignored ends when nothing may follow', async () => {
    const changes = { minTokens: 5, minTokensBannedIds: [...LETTER_ENDS], eosTokenIds: [], stopTokenIds: [] };
    const [answer] = await answerAlone(request(regex('g'), changes));
    expect(answer).toMatchObject({ tokenIds: [letterId('g')], finish: { reason: 'stop' } });
    const [empty] = await answerAlone(request(regex(''), changes));
    expect(letterText(empty!.tokenIds)).toBe('');
    expect(empty!.finish).toEqual({ reason: 'stop', stopTokenId: null });
  });

  it('does not end with an ignored end while its text may go on', async () => {
    const [answer] = await answerAlone(request(regex('g*'), { eosTokenIds: [], stopTokenIds: [] }));
    expect(answer!.tokenIds).toEqual(Array.from({ length: 12 }, () => letterId('g')));
    expect(answer!.finish?.reason).toBe('length');
  });

  it('ends when its text is complete and other rules leave nothing that may follow', async () => {
    const sampling = {
      ...NEUTRAL_SAMPLING,
      temperature: 1,
      seed: 1n,
      allowedTokenIds: [letterId('g'), letterId('a')],
    };
    const [answer] = await answerAlone(request(regex('g(bb)?'), { sampling }));
    expect(letterText(answer!.tokenIds)).toBe('g');
    expect(answer!.finish?.reason).toBe('stop');
  });

  it('follows its constraint where other rules leave nothing of it', async () => {
    const sampling = { ...NEUTRAL_SAMPLING, temperature: 1, seed: 1n, allowedTokenIds: [letterId('a')] };
    const [answer] = await answerAlone(request(regex('[gh]{3}'), { sampling }));
    expect(letterText(answer!.tokenIds)).toMatch(/^[gh]{3}$/);
  });

  it('reports log probabilities over what may come', async () => {
    const [answer] = await answerAlone(request(regex('g[ab]'), { logprobs: { topCount: 4 } }));
    expect(answer!.logprobs[0]).toBe(0);
    const { core } = createCore();
    core.submit(request(regex('[ab]'), { logprobs: { topCount: 4 } }));
    const [output] = await core.step();
    const update = output!.kind === 'step' ? output!.updates[0]! : undefined;
    const top = [...update!.logprobs![0]!.topLogprobs];
    expect(top.slice(0, 2).reduce((sum, logprob) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5);
    expect(top.slice(2)).toEqual([-Infinity, -Infinity]);
  });

  it('may reason first, and answers after the end of the reasoning', async () => {
    const ends = [new TextEncoder().encode('</think>')];
    // The model reasons for two tokens and then would say "e" for ever.
    const model: ScriptedModelOptions = {
      peak: 100,
      nextToken: history =>
        ['<think>', 'e', 'f', '</think>'].map(letterId)[history.length - 3] ?? letterId('e'),
    };
    const reasoning = { isOpen: false, startTokenId: letterId('<think>'), ends };
    const free = request(null, { constraint: { grammar: regex('(ab|cd)'), reasoning } });
    const [answer] = await answerAlone(free, model);
    expect(answer!.tokenIds.slice(0, 4)).toEqual(['<think>', 'e', 'f', '</think>'].map(letterId));
    expect(letterText(answer!.tokenIds.slice(4))).toMatch(/^(ab|cd)$/);

    const closed = request(null, { constraint: { grammar: regex('(ab|cd)') } });
    expect(letterText((await answerAlone(closed, model))[0]!.tokenIds)).toMatch(/^(ab|cd)$/);

    const open = { isOpen: true, ends };
    const opened = request(null, { constraint: { grammar: regex('(ab|cd)'), reasoning: open } });
    const [other] = await answerAlone({ ...opened, promptTokenIds: Int32Array.of(5, 6, 7, 2) }, model);
    expect(letterText(other!.tokenIds)).toMatch(/^ef(ab|cd)$/);
  });

  it('never ends inside the reasoning', async () => {
    const reasoning = { isOpen: true, ends: [new TextEncoder().encode('</think>')] };
    const [answer] = await answerAlone(request(null, { constraint: { grammar: regex('a'), reasoning } }), {
      peak: 100,
      nextToken: () => LETTER_ENDS[0],
    });
    expect(answer!.finish?.reason === 'length' || letterText(answer!.tokenIds).endsWith('a')).toBe(true);
    expect(answer!.tokenIds).not.toContain(LETTER_ENDS[0]);
  });
});

describe('a model that repeats itself inside JSON', () => {
  const grammar: Grammar = { kind: 'json_schema', text: '{"type":"string"}', form: JSON_FORM };
  const model: ScriptedModelOptions = { peak: 100, logitsLimit: 40, nextToken: () => letterId('abc') };
  const message = request(grammar, { maxTokens: 250 });

  it('comes to the end of its answer', async () => {
    const [answer] = await answerAlone(message, model);
    expect(answer!.finish?.reason).toBe('stop');
    expect(JSON.parse(letterText(answer!.tokenIds))).toMatch(/^(?:abc){32}/);
    const endless: Grammar = { ...grammar, form: { ...JSON_FORM, guardsRepetition: false } };
    const [other] = await answerAlone(request(endless, { maxTokens: 250 }), model);
    expect(other!.finish?.reason).toBe('length');
  });

  it('does so in the same way with drafts', async () => {
    const { core } = createCore(model, { drafter: RECKLESS });
    core.submit(message);
    expect([(await finish(core)).get('1/0')]).toEqual(await answerAlone(message, model));
    expect(core.stats.acceptedTokenCount).toBeGreaterThan(0);
  });
});

describe('a constraint that fails', () => {
  it('is refused at the door when nothing satisfies it, and others go on', async () => {
    const { core } = createCore();
    core.submit(request(regex('abc'), { requestId: 1 }));
    const impossible: Grammar = { kind: 'regex', text: 'é' };
    expect(() => core.submit(request(impossible, { requestId: 2 }))).toThrowError(
      expect.objectContaining({ code: 'invalid_request', parameter: 'constraint' }),
    );
    const answers = await finish(core);
    expect([...answers.keys()]).toEqual(['1/0']);
  });

  it('ends its own choice and nothing else', async () => {
    const { core } = createCore();
    core.submit(request(regex('abc'), { requestId: 1 }));
    core.submit(request(regex('g?[ab]é|g?ab'), { requestId: 2, choiceCount: 8 }));
    const answers = await finish(core);
    expect(letterText(answers.get('1/0')!.tokenIds)).toBe('abc');
    const ends = [...answers].filter(([key]) => key.startsWith('2/')).map(([, answer]) => answer);
    const failed = ends.filter(answer => answer.failure !== undefined);
    expect(ends).toHaveLength(8);
    expect(failed.length).toBeGreaterThan(0);
    for (const answer of failed) expect(answer.failure!.code).toBe('constraint_failed');
    for (const answer of ends) if (answer.failure === undefined) expect(answer.finish?.reason).toBe('stop');
  });
});

describe('jump-forward decoding, where a constraint allows only one text,', () => {
  // The model likes the longest tokens of the text, as tokenizers do.
  const text = 'abcdefgh{"abcdcd';
  const tokens = ['abc', 'd', 'e', 'f', 'g', 'h', '{"', 'abc', 'd', 'cd'].map(letterId);
  const model: ScriptedModelOptions = {
    peak: 100,
    logitsLimit: 40,
    nextToken: history => tokens[history.length - 3] ?? LETTER_ENDS[0],
  };
  const onlyText = regex(`${text.replace('{', '\\{')}[ab]`);

  it('is computed in few model calls, with the next token that is chosen', async () => {
    const message = request(onlyText, { maxTokens: 30, logprobs: { topCount: 2 } });
    const { core, runner } = createCore(model);
    core.submit(message);
    const answer = (await finish(core)).get('1/0')!;
    expect([answer]).toEqual(await answerAlone(message, model));
    expect(letterText(answer.tokenIds)).toMatch(/^abcdefgh\{"abcdcd[ab]$/);
    // One for the prompt and the first token; then 7 and, once these were right, all that is left.
    expect(runner.calls).toHaveLength(3);
    expect(core.stats).toMatchObject({ draftedTokenCount: 8, acceptedTokenCount: 8 });
  });

  it('is the same as without drafts where the model writes it in other tokens', async () => {
    const letters: ScriptedModelOptions = {
      peak: 100,
      logitsLimit: 40,
      nextToken: history => letterId(text[history.length - 3] ?? 'a'),
    };
    const message = request(onlyText, { maxTokens: 30 });
    const { core, runner } = createCore(letters);
    core.submit(message);
    const answer = (await finish(core)).get('1/0')!;
    expect([answer]).toEqual(await answerAlone(message, letters));
    expect(answer.tokenIds).toHaveLength(text.length + 1);
    expect(runner.calls.length).toBeLessThan(text.length);
  });

  it('ends at the length and at stop tokens as without drafts', async () => {
    for (const maxTokens of [1, 2, 5, 9]) {
      const message = request(onlyText, { maxTokens, minTokens: 1 });
      const { core } = createCore(model);
      core.submit(message);
      expect([(await finish(core)).get('1/0')!]).toEqual(await answerAlone(message, model));
    }
  });

  it('is not a reason to let five other answers wait', async () => {
    const { core, runner } = createCore({ ...model, slotCount: 6 });
    for (let requestId = 0; requestId < 6; requestId++)
      core.submit(
        request(requestId === 0 ? onlyText : null, { requestId, eosTokenIds: [], stopTokenIds: [] }),
      );
    await finish(core);
    expect(core.stats.draftedTokenCount).toBe(0);
    expect(Math.max(...runner.calls.flat().map(({ logitsCount }) => logitsCount))).toBe(1);
  });
});

/** Drafts without sense: right and wrong tokens, repetitions and ends among them, beside anything. */
const RECKLESS: Drafter = {
  draft(decodes, { logitsRoom }) {
    let roomLeft = logitsRoom;
    return decodes.map(sequence => {
      const { group, outputTokenIds, constraint } = sequence;
      const proposed = new Int32Array(6);
      const maxLength = Math.min(6, roomLeft, group.submitted.maxTokens - outputTokenIds.length - 1);
      const right = constraint === null ? 0 : constraint.jumpForward(proposed, maxLength);
      for (let i = right; i < maxLength; i++)
        proposed[i] =
          outputTokenIds.length % 2 === 0
            ? (outputTokenIds.at(-1) ?? 0)
            : (outputTokenIds.length * 5 + i * 7) % LETTER_COLUMN_COUNT;
      const length = Math.max(0, maxLength);
      roomLeft -= length;
      return { proposed: proposed.subarray(0, length), source: 'text', length };
    });
  },
};

const grammars = fc.constantFrom<Grammar>(
  regex('[a-d]{2,6}'),
  regex('(abc|cd)+'),
  regex('a*b*c*'),
  { kind: 'lark', text: 'start: "{" start "}" | "[" (start ("," start)*)? "]" | "1"' },
  {
    kind: 'json_schema',
    text: '{"type":"object","properties":{"a":{"enum":["b","cd"]}},"required":["a"],"additionalProperties":false}',
  },
  { kind: 'json_schema', text: '{"type":"array","items":{"type":["string","integer"]}}', form: JSON_FORM },
);

const requests = fc.array(
  fc.record({
    grammar: fc.option(grammars, { freq: 5 }),
    seed: fc.bigInt({ min: 0n, max: 1_000n }),
    temperature: fc.constantFrom(0, 1, 2),
    choiceCount: fc.constantFrom(1, 1, 3),
    maxTokens: fc.integer({ min: 1, max: 14 }),
    minTokens: fc.constantFrom(0, 0, 1),
    priority: fc.integer({ min: -2, max: 2 }),
    atStep: fc.nat({ max: 12 }),
    promptLength: fc.integer({ min: 1, max: 20 }),
    topCount: fc.constantFrom(null, 0, 3),
    mayReason: fc.constantFrom(false, false, true),
  }),
  { minLength: 1, maxLength: 6 },
);

describe('constrained choices under random schedules', () => {
  it('say what each says alone, with preemption, failing steps, drafts and any mix of constraints', async () => {
    const drafters = fc.constantFrom({}, { drafter: RECKLESS });
    const counts = { drafted: 0, accepted: 0 };
    const machines = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.nat(50), drafters);
    const reasoning = { isOpen: true, ends: [new TextEncoder().encode('</think>')] };
    await fc.assert(
      fc.asyncProperty(requests, machines, async (entries, [slots, salt, drafter]) => {
        const messages = entries.map((fields, requestId) => {
          const { grammar, seed, temperature, promptLength, topCount, mayReason, ...entry } = fields;
          return request(grammar, {
            ...(grammar !== null && mayReason && { constraint: { grammar, reasoning } }),
            ...(topCount !== null && { logprobs: { topCount } }),
            ...entry,
            requestId,
            minTokensBannedIds: [...LETTER_ENDS],
            promptTokenIds: Int32Array.from({ length: promptLength }, (_, i) => (i * 7 + requestId) % 12),
            sampling: { ...NEUTRAL_SAMPLING, temperature, seed },
          });
        });
        const { core } = createCore(
          { slotCount: slots, failsAt: call => (call * 7 + salt) % 5 < 2 && call % 3 !== 0 },
          { schedulingPolicy: 'priority', ...drafter },
        );
        const together = new Map<string, Answer>();
        const waiting = messages.map((message, index) => ({ message, atStep: entries[index]!.atStep }));
        for (let step = 0; waiting.length > 0 || core.hasWork; step++) {
          for (const entry of waiting.filter(({ atStep }) => atStep <= step)) {
            core.submit(entry.message);
            waiting.splice(waiting.indexOf(entry), 1);
          }
          for (const output of await core.step())
            if (output.kind === 'step') for (const update of output.updates) take(together, update);
        }
        counts.drafted += core.stats.draftedTokenCount;
        counts.accepted += core.stats.acceptedTokenCount;
        for (const message of messages) {
          const alone = await answerAlone({ ...message, priority: 0 });
          for (const [choiceIndex, answer] of alone.entries())
            expect(together.get(`${message.requestId}/${choiceIndex}`)).toEqual(answer);
        }
      }),
      { numRuns: runs({ daily: 15, full: 30 }) },
    );
    // A daily run may miss these rare events.
    if (!IS_FULL_RUN) return;
    expect(counts.accepted).toBeGreaterThan(0);
    expect(counts.drafted).toBeGreaterThan(counts.accepted);
  }, 60_000);
});
