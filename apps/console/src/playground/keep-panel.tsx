// Keeps an answer: as feedback on it, or as a trajectory of a model under training.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FailureNotice } from '../components/notice.tsx';
import { Button } from '../components/ui/button.tsx';
import { Field } from '../components/ui/field.tsx';
import { Input, Select } from '../components/ui/input.tsx';
import { useTRPC, useTRPCClient } from '../connection/api-client.ts';
import type { Turn } from './conversation.ts';
import { toFeedback, toTrajectoryGroups } from './kept-answer.ts';

interface KeepPanelProps {
  readonly turns: readonly Turn[];
  readonly system: string;
  readonly onClose: () => void;
}

/** The key under which the feedback page remembers the project too. */
const PROJECT_STORAGE = 'ortler-feedback-project';

export function KeepPanel(props: KeepPanelProps) {
  return (
    <section
      aria-label="Keep the answer"
      className="flex min-h-0 flex-col gap-2 overflow-auto border-t bg-surface px-4 py-2"
    >
      <FeedbackForm {...props} />
      <TrajectoryForm {...props} />
      <Button size="sm" variant="ghost" className="self-start" onClick={props.onClose}>
        Close
      </Button>
    </section>
  );
}

function FeedbackForm({ turns, system }: KeepPanelProps) {
  const client = useTRPCClient();
  const [project, setProject] = useState(() => localStorage.getItem(PROJECT_STORAGE) ?? '');
  const [score, setScore] = useState('1');
  const [note, setNote] = useState('');
  const send = useMutation({
    mutationFn: () => {
      localStorage.setItem(PROJECT_STORAGE, project);
      return client.feedback.create.mutate(
        toFeedback({ turns, system }, { project, score: Number(score), note }),
      );
    },
  });
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={event => {
        event.preventDefault();
        send.mutate();
      }}
    >
      <Field label="Project" className="w-40">
        {ids => (
          <Input
            {...ids}
            required
            placeholder="entity/project"
            value={project}
            onChange={({ target }) => setProject(target.value)}
          />
        )}
      </Field>
      <NumberField label="Score" value={score} onChange={setScore} />
      <Field label="Note" className="min-w-40 flex-1">
        {ids => <Input {...ids} value={note} onChange={({ target }) => setNote(target.value)} />}
      </Field>
      <Button type="submit" disabled={send.isPending}>
        Send as feedback
      </Button>
      <span role="status" className="text-xs text-good">
        {send.isSuccess && 'Stored.'}
      </span>
      {send.isError && <FailureNotice error={send.error} className="w-full p-0" />}
    </form>
  );
}

function TrajectoryForm({ turns, system }: KeepPanelProps) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const models = useQuery(trpc.training.models.list.queryOptions({ limit: 100, order: 'desc' }));
  const [chosenId, setChosenId] = useState('');
  const [reward, setReward] = useState('1');
  const [split, setSplit] = useState('train');
  const modelId = chosenId === '' ? models.data?.data[0]?.id : chosenId;
  const log = useMutation({
    mutationFn: () =>
      client.training.trajectories.log.mutate({
        model_id: modelId ?? '',
        split,
        trajectory_groups: toTrajectoryGroups({ turns, system }, Number(reward)),
      }),
  });
  if (models.data?.data.length === 0) return null;
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={event => {
        event.preventDefault();
        log.mutate();
      }}
    >
      <Field label="Model under training" className="w-40">
        {ids => (
          <Select {...ids} value={modelId ?? ''} onChange={({ target }) => setChosenId(target.value)}>
            {models.data?.data.map(({ id, entity, project, name }) => (
              <option key={id} value={id}>{`${entity}/${project}/${name}`}</option>
            ))}
          </Select>
        )}
      </Field>
      <NumberField label="Reward" value={reward} onChange={setReward} />
      <Field label="Split" className="w-28">
        {ids => <Input {...ids} required value={split} onChange={({ target }) => setSplit(target.value)} />}
      </Field>
      <Button type="submit" disabled={log.isPending || modelId === undefined}>
        Log as trajectory
      </Button>
      <span role="status" className="text-xs text-good">
        {log.isSuccess && 'Stored.'}
      </span>
      {log.isError && <FailureNotice error={log.error} className="w-full p-0" />}
    </form>
  );
}

function NumberField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <Field label={label} className="w-24">
      {ids => (
        <Input
          {...ids}
          type="number"
          step="any"
          required
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
