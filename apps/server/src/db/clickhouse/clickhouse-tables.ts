// Schema steps of ClickHouse. ClickHouse has no transactional DDL, so every step is idempotent and several servers may
// run them at the same time. A released step never changes.
//
// feedback is sorted by project and time. Rows with the same key (project, created_at, id) are versions of one row; a
// tombstone (is_removed = 1) with a higher version deletes it. ReplacingMergeTree keeps the highest version of a key
// when it merges, and readers with `final` see only that version, so the rows and tombstones of one insert take effect
// at the same moment.

import type { ClickHouse } from './clickhouse.ts';

const STEPS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS feedback (
    project_id String,
    created_at DateTime64(3, 'UTC'),
    id String,
    version UInt64,
    is_removed UInt8,
    weave_ref String,
    wb_user_id String,
    creator Nullable(String),
    feedback_type String,
    annotation_ref Nullable(String),
    runnable_ref Nullable(String),
    call_ref Nullable(String),
    trigger_ref Nullable(String),
    queue_id Nullable(String),
    scorer_tags Array(String),
    scorer_tag_reasons Map(String, String),
    scorer_tag_confidences Map(String, Float64),
    scorer_ratings Map(String, Float64),
    scorer_rating_reasons Map(String, String),
    scorer_rating_confidences Map(String, Float64),
    span_agent_name String,
    span_agent_version String,
    span_status_code String,
    span_conversation_id String,
    span_trace_id String,
    scorer_trace_id String,
    payload_dump String CODEC(ZSTD(1)),
    PROJECTION by_id (SELECT project_id, id, created_at, version, is_removed ORDER BY project_id, id)
  )
  ENGINE = ReplacingMergeTree(version, is_removed)
  ORDER BY (project_id, created_at, id)
  SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    deduplicate_merge_projection_mode = 'rebuild'`,
];

/** Runs every step. */
export async function createClickHouseTables(clickHouse: ClickHouse): Promise<void> {
  for (const step of STEPS) await clickHouse.command(step);
}
