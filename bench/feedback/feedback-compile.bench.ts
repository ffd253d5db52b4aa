// How long a filter of twenty nodes takes from JSON to SQL text and parameters, on each dialect.
//
//     npm run bench -- feedback-compile

import { parseArgs } from 'node:util';
import {
  bindFeedbackQuery,
  clickHouseDialect,
  compileFeedbackQuery,
  postgresDialect,
  sqliteDialect,
} from '@ortler/feedback-query';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '51' }, help: { type: 'boolean' } },
});
const CALLS_PER_ROUND = 1_000;

const get = (name: string) => ({ $getField: name });
const literal = (value: string | number | boolean) => ({ $literal: value });
/** Six comparisons of two operands each, and the two operations around them. */
const EXPRESSION = {
  $and: [
    { $eq: [get('feedback_type'), literal('custom.score')] },
    { $gt: [get('payload.output.score'), literal(0.5)] },
    { $eq: [get('payload.output.passed'), literal(true)] },
    {
      $or: [
        { $contains: { input: get('payload.note'), substr: literal('great') } },
        { $eq: [get('creator'), literal('Ann')] },
        { $gte: [get('created_at'), literal('2026-01-01')] },
      ],
    },
  ],
};

if (values.help === true) console.log('Options: --rounds <number>.');
else {
  const result: Record<string, number> = {};
  for (const dialect of [sqliteDialect, postgresDialect, clickHouseDialect]) {
    const times: number[] = [];
    for (let round = 0; round < Number(values.rounds); round++) {
      const start = performance.now();
      for (let call = 0; call < CALLS_PER_ROUND; call++) {
        const query = bindFeedbackQuery({ projectId: 'acme/app', query: { $expr: EXPRESSION }, limit: 100 });
        if (compileFeedbackQuery(query, dialect).statement.parameters.length < 9) throw new Error('Too few.');
      }
      times.push(((performance.now() - start) * 1_000) / CALLS_PER_ROUND);
    }
    result[dialect.name] = Math.round(median(times) * 10) / 10;
  }
  console.log(JSON.stringify({ bench: 'feedback-compile', medianUs: result, ...describeMachine() }, null, 2));
}
