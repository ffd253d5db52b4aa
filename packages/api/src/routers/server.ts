// Live statistics of the server, for its console: facts, and a subscription with a sample a second. A key sees the
// configured models and the checkpoints that it has access to.

import { listModels } from '../generation/ready-engine.ts';
import type { Principal, Services } from '../ports/services.ts';
import type { LoadSample } from '../ports/statistics-services.ts';
import { createBearerProcedure, requireBearer, router } from '../trpc/trpc.ts';

/** Router of `facts`, `keys` and `load`. It has no REST routes: Prometheus reads /metrics. */
export function createServerRouter(services: Services) {
  const procedure = createBearerProcedure(services).meta({ auth: 'bearer', errors: 'openai' });
  return router({
    facts: procedure.query(async ({ ctx }) => {
      const facts = services.statistics.facts();
      const { isVisible } = await visibleModels(services, ctx.principal);
      return { ...facts, team: ctx.principal.team ?? null, models: facts.models.filter(isVisible) };
    }),

    /** A key sees those of its team, one without a team sees all. */
    keys: procedure.query(({ ctx: { principal } }) => ({
      ownId: principal.keyId,
      keys: services.keys
        .list()
        .filter(({ team }) => principal.team === undefined || team === principal.team),
    })),

    load: procedure.subscription(async function* ({ ctx }) {
      const { principal, signal, credentials } = ctx;
      let visible = await visibleModels(services, principal);
      for await (const sample of services.statistics.samples(signal)) {
        // A key may be removed while its samples come, which have no end of their own.
        await requireBearer(services, credentials);
        // A model that was loaded meanwhile.
        if (!sample.models.every(({ id }) => visible.ids.has(id)))
          visible = await visibleModels(services, principal, sample);
        yield { ...sample, models: sample.models.filter(visible.isVisible) };
      }
    }),
  });
}

/** `ids` also holds those of the sample that the caller may not see, so that they are not asked for again. */
async function visibleModels(services: Services, caller: Principal, sample?: LoadSample) {
  const listed = new Set((await listModels(services, caller)).map(({ id }) => id));
  return {
    ids: new Set([...listed, ...(sample?.models ?? []).map(({ id }) => id)]),
    // A key without a team sees all, also what is counted for all checkpoints together.
    isVisible: ({ id }: { readonly id: string }) => caller.team === undefined || listed.has(id),
  };
}
