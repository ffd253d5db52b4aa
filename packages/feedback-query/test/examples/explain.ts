import { bindFeedbackQuery, explainFeedbackQuery, postgresDialect } from '@ortler/feedback-query';

const query = bindFeedbackQuery({
  projectId: 'acme/app',
  fields: ['count(*)'],
  query: { $expr: { $ne: [{ $getField: 'creator' }, { $literal: 'Ann' }] } },
});

export const result = explainFeedbackQuery(query, postgresDialect).sql;
// select count(*) as "c0" from "feedback" as "f"
// where f.project_id = $1::text AND (NOT coalesce((f.creator = $2::text), false)) limit $3::bigint offset $4::bigint
