// The training ports in memory. The conformance tests of apps/server run on these and on every database alike.

import type {
  CheckpointStore,
  MeanTally,
  ServableCheckpoint,
  StoredCheckpoint,
  StoredTrajectory,
  StoredTrajectoryLog,
  TrainingModel,
  TrainingModelStore,
  TrainingServices,
  TrajectoryFilter,
  TrajectoryRecord,
  TrajectorySpool,
  TrajectoryStore,
} from '../ports/training-services.ts';
import { meanOf } from '../training/metric-tallies.ts';
import { toModelReference } from '../training/model-reference.ts';
import { readTrajectoryLog } from '../training/read-trajectory-log.ts';

type Checkpoint = StoredCheckpoint & { isDeleted: boolean };

interface ModelState {
  readonly model: TrainingModel;
  checkpoints: Checkpoint[];
  trajectories: StoredTrajectory[];
  /** Key: split, step and name as JSON. */
  readonly tallies: Map<string, MeanTally>;
  readonly answers: Map<string, { readonly digest: string; readonly answer: StoredTrajectoryLog }>;
}

interface MemorySpool extends TrajectorySpool {
  readonly records: TrajectoryRecord[];
}

/** Weights are whatever the path says: it must end with `full` or `lora`. */
export function createFakeTrainingServices(now: () => number): TrainingServices {
  const states = new Map<string, ModelState>();
  return {
    models: createModels(states, now),
    checkpoints: createCheckpoints(states, now),
    trajectories: createTrajectories(states, now),
    weights: {
      inspect: async path => {
        const [kind] = /(full|lora)$/.exec(path) ?? [];
        if (kind === undefined) return { problem: 'there are no weights' };
        return { kind: kind as 'full' | 'lora', path: `/checkpoints/${path}` };
      },
    },
  };
}

function createModels(states: Map<string, ModelState>, now: () => number): TrainingModelStore {
  const find = (test: (model: TrainingModel) => boolean) =>
    [...states.values()].map(({ model }) => model).find(test) ?? null;
  return {
    async create(wanted) {
      const existing = find(model => toModelReference(model) === toModelReference(wanted));
      if (existing !== null) return { model: existing, isNew: false };
      const model: TrainingModel = { ...wanted, id: crypto.randomUUID(), createdAtMs: now() };
      states.set(model.id, {
        model,
        checkpoints: [],
        trajectories: [],
        tallies: new Map(),
        answers: new Map(),
      });
      return { model, isNew: true };
    },
    async list({ entity, project, after, limit, order }) {
      const all = [...states.values()]
        .map(({ model }) => model)
        .filter(model => (entity ?? model.entity) === model.entity)
        .filter(model => (project ?? model.project) === model.project)
        .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
      if (order === 'desc') all.reverse();
      const cursor = after === null ? -1 : all.findIndex(({ id }) => id === after);
      if (after !== null && cursor === -1) return null;
      const rest = all.slice(cursor + 1);
      return { models: rest.slice(0, limit), hasMore: rest.length > limit };
    },
    async listUntrained(entity) {
      const isTrained = ({ checkpoints }: ModelState) =>
        checkpoints.some(({ isDeleted, weights }) => !isDeleted && weights !== null);
      return [...states.values()]
        .filter(state => (entity ?? state.model.entity) === state.model.entity && !isTrained(state))
        .map(({ model }) => model);
    },
    findById: async id => states.get(id)?.model ?? null,
    findByName: async name => find(model => toModelReference(model) === toModelReference(name)),
    delete: async id => states.delete(id),
  };
}

function createCheckpoints(states: Map<string, ModelState>, now: () => number): CheckpointStore {
  const live = (state: ModelState | undefined) =>
    (state?.checkpoints ?? []).filter(({ isDeleted }) => !isDeleted);
  const withLogged = (state: ModelState, { isDeleted: _, ...stored }: Checkpoint): StoredCheckpoint => {
    const logged = metricsOf(state).filter(({ step }) => step === stored.step);
    const means = logged.map(({ split, name, value }) => [`${split}/${name}`, value] as const);
    return { ...stored, metrics: { ...Object.fromEntries(means), ...stored.metrics } };
  };
  const find = async (modelId: string, id: string) => {
    const state = states.get(modelId);
    const found = live(state).find(checkpoint => checkpoint.id === id);
    return state === undefined || found === undefined ? null : withLogged(state, found);
  };
  const listServable = async (entity: string | null): Promise<readonly ServableCheckpoint[]> =>
    [...states.values()].flatMap(({ model }) =>
      entity !== null && model.entity !== entity
        ? []
        : live(states.get(model.id))
            .sort((a, b) => b.step - a.step)
            .flatMap(({ id, step, weights, createdAtMs }) =>
              weights === null
                ? []
                : {
                    checkpointId: id,
                    modelId: model.id,
                    modelName: toModelReference(model),
                    step,
                    baseModel: model.baseModel,
                    weights,
                    createdAtMs,
                  },
            ),
    );
  return {
    async list(modelId, { after, limit, order }) {
      const state = states.get(modelId);
      if (state === undefined) return after === null ? { checkpoints: [], hasMore: false } : null;
      const all = [...state.checkpoints].sort((a, b) => a.step - b.step || (a.id < b.id ? -1 : 1));
      if (order === 'desc') all.reverse();
      const cursor = after === null ? -1 : all.findIndex(({ id }) => id === after);
      if (after !== null && cursor === -1) return null;
      const rest = all.slice(cursor + 1).filter(({ isDeleted }) => !isDeleted);
      const checkpoints = rest.slice(0, limit).map(checkpoint => withLogged(state, checkpoint));
      return { checkpoints, hasMore: rest.length > limit };
    },
    find,
    async register(modelId, { id, step, metrics, weights }) {
      const state = states.get(modelId);
      if (state === undefined) return 'unknown-model';
      const newest = Math.max(-1, ...live(state).map(checkpoint => checkpoint.step));
      const made = {
        id: id ?? crypto.randomUUID(),
        modelId,
        step: step ?? newest + 1,
        metrics,
        weights,
        createdAtMs: now(),
        isDeleted: false,
      };
      if (
        state.checkpoints.some(other => other.id === made.id) ||
        live(state).some(other => other.step === made.step)
      )
        return 'taken';
      state.checkpoints.push(made);
      return withLogged(state, made);
    },
    async mergeMetrics(modelId, id, metrics) {
      const state = states.get(modelId);
      if (state === undefined) return null;
      state.checkpoints = state.checkpoints.map(old =>
        old.id === id ? { ...old, metrics: { ...old.metrics, ...metrics } } : old,
      );
      return find(modelId, id);
    },
    async deleteSteps(modelId, steps) {
      const gone = live(states.get(modelId)).filter(({ step }) => steps.includes(step));
      for (const checkpoint of gone) checkpoint.isDeleted = true;
      return gone.map(({ step }) => step);
    },
    listServable,
    findServable: async (model, step) =>
      (await listServable(model.entity)).find(
        found => found.modelName === toModelReference(model) && (step === null || found.step === step),
      ) ?? null,
  };
}

function createTrajectories(states: Map<string, ModelState>, now: () => number): TrajectoryStore {
  return {
    async readLog(body, options) {
      const records: TrajectoryRecord[] = [];
      const spool: MemorySpool = {
        records,
        addTrajectory: async record => void records.push(record),
        addGroup: async () => undefined,
        dispose: async () => void records.splice(0),
      };
      return { ...(await readTrajectoryLog(body, spool, options)), spool };
    },
    async append(modelId, { split, step, groupCount, trajectoryCount, tallies, spool, idempotency }) {
      const state = states.get(modelId);
      if (state === undefined) return 'unknown-model';
      const known = idempotency === null ? undefined : state.answers.get(idempotency.key);
      if (known !== undefined) return known.digest === idempotency?.digest ? known.answer : 'key-reused';
      const newest = Math.max(0, ...state.checkpoints.filter(c => !c.isDeleted).map(c => c.step));
      const answer = { id: crypto.randomUUID(), step: step ?? newest, groupCount, trajectoryCount };
      for (const record of (spool as MemorySpool).records)
        state.trajectories.push({
          ...record,
          position: state.trajectories.length + 1,
          logId: answer.id,
          split,
          step: answer.step,
          loggedAtMs: now(),
        });
      for (const [name, { total, count }] of tallies) {
        const key = JSON.stringify([split, answer.step, name]);
        const old = state.tallies.get(key) ?? { total: 0, count: 0 };
        state.tallies.set(key, { total: old.total + total, count: old.count + count });
      }
      if (idempotency !== null) state.answers.set(idempotency.key, { digest: idempotency.digest, answer });
      return answer;
    },
    async list(modelId, filter, { afterPosition, limit }) {
      const rest = (states.get(modelId)?.trajectories ?? []).filter(
        stored => stored.position > afterPosition && passes(stored, filter),
      );
      return { trajectories: rest.slice(0, limit), hasMore: rest.length > limit };
    },
    async listMetrics(modelId, { split }) {
      const state = states.get(modelId);
      return state === undefined
        ? []
        : metricsOf(state).filter(metric => split === null || metric.split === split);
    },
  };
}

function passes(stored: StoredTrajectory, filter: TrajectoryFilter): boolean {
  const { split, step, minReward, maxReward, loggedFromMs, loggedBeforeMs } = filter;
  return (
    (split === null || stored.split === split) &&
    (step === null || stored.step === step) &&
    (minReward === null || stored.reward >= minReward) &&
    (maxReward === null || stored.reward <= maxReward) &&
    (loggedFromMs === null || stored.loggedAtMs >= loggedFromMs) &&
    (loggedBeforeMs === null || stored.loggedAtMs < loggedBeforeMs)
  );
}

function metricsOf({ tallies }: ModelState) {
  const metrics = [...tallies].map(([key, tally]) => {
    const [split, step, name] = JSON.parse(key) as [string, number, string];
    return { split, step, name, value: meanOf(tally), count: tally.count };
  });
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return metrics.sort((a, b) => compare(a.split, b.split) || a.step - b.step || compare(a.name, b.name));
}
