// The models that this key may use: those in memory or on their way there, and checkpoints to load.

import { useQuery } from '@tanstack/react-query';
import { FailureNotice, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { useTRPC } from '../connection/api-client.ts';
import { CheckpointRow, ModelPanel } from './model-panel.tsx';

const REFRESH_MS = 1_000;

export function ModelsPage() {
  const trpc = useTRPC();
  const facts = useQuery(trpc.server.facts.queryOptions(undefined, { refetchInterval: REFRESH_MS }));
  const listed = useQuery(trpc.models.list.queryOptions());
  const models = facts.data?.models ?? [];
  // A name without a step is that of the newest checkpoint, or of the base model.
  const others = (listed.data?.data ?? []).filter(
    ({ id }) => id.includes(':step') && !models.some(model => model.id === id),
  );
  return (
    <Page title="Models" className="flex flex-col gap-3 p-4">
      {facts.isError && <FailureNotice error={facts.error} />}
      {facts.isPending && facts.failureReason === null && <Notice>Loading…</Notice>}
      {facts.isPending && facts.failureReason !== null && <FailureNotice error={facts.failureReason} />}
      <div className="grid gap-3 lg:grid-cols-2">
        {models.map(model => (
          <ModelPanel key={model.id} model={model} />
        ))}
      </div>
      {others.length > 0 && (
        <Panel title="Checkpoints that are not loaded">
          <ul>
            {others.map(({ id, root }) => (
              <CheckpointRow key={id} id={id} root={root} />
            ))}
          </ul>
          <p className="border-t px-3 py-1.5 text-xs text-muted">
            A request loads its checkpoint. The server unloads those that are idle, and the least recently
            used when another needs the place.
          </p>
        </Panel>
      )}
    </Page>
  );
}
