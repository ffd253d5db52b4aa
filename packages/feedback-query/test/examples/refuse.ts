import { bindFeedbackQuery, QueryError } from '@ortler/feedback-query';

function refusal(query: unknown) {
  try {
    bindFeedbackQuery({ projectId: 'acme/app', query });
    return null;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return { code: error.code, fault: error.fault, path: error.path.join('.') };
  }
}

export const result = [
  refusal({ $expr: { $eq: [{ $getField: 'nope' }, { $literal: 1 }] } }),
  // { code: 'unknown_field', fault: 'unanswerable', path: 'query.$expr.$eq.0.$getField' }
  refusal({ $expr: { $eq: [{ $getField: 'id' }] } }),
  // { code: 'missing', fault: 'malformed', path: 'query.$expr.$eq.1' }
];
