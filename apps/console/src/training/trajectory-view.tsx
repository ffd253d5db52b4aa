// One trajectory as a conversation, with its reward and metrics. Tokens that were logged with their log probabilities are
// coloured as in the playground.

import type { CSSProperties } from 'react';
import { printJson } from '../components/print-json.ts';
import { Badge } from '../components/ui/badge.tsx';
import { Button } from '../components/ui/button.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { ScrollRegion } from '../components/ui/scroll-region.tsx';
import { type TrajectoryTurn, toHistories } from './trajectory-turns.ts';
import type { Trajectory } from './use-training.ts';

export function TrajectoryView({
  trajectory,
  onClose,
}: {
  readonly trajectory: Trajectory;
  readonly onClose: () => void;
}) {
  const { id, reward, split, step, metrics, initial_policy_version, final_policy_version } = trajectory;
  const histories = toHistories(trajectory.trajectory);
  return (
    <Panel
      title={`Trajectory ${id}`}
      actions={
        <Button size="sm" variant="ghost" onClick={onClose}>
          Close
        </Button>
      }
    >
      <p className="flex flex-wrap items-center gap-2 border-b px-3 py-2 text-xs wrap-anywhere">
        <Badge tone={reward > 0 ? 'good' : 'plain'}>reward {reward}</Badge>
        <Badge>
          {split}, step {step}
        </Badge>
        {initial_policy_version !== null && (
          <Badge>
            policy {initial_policy_version}
            {final_policy_version !== initial_policy_version && ` to ${final_policy_version}`}
          </Badge>
        )}
        {Object.entries(metrics).map(([name, value]) => (
          <span key={name} className="text-muted">
            {name}: {String(value)}
          </span>
        ))}
      </p>
      {histories.map(({ title, turns }) => (
        <section key={title} aria-label={title}>
          {histories.length > 1 && <h3 className="px-3 pt-2 text-xs font-semibold text-muted">{title}</h3>}
          {turns.map((turn, index) => (
            <TurnOfTrajectory key={`${title} ${index}`} turn={turn} />
          ))}
        </section>
      ))}
      <details className="border-t">
        <summary className="px-3 py-2 text-xs text-muted">As it was logged</summary>
        <ScrollRegion label="Trajectory as JSON" className="max-h-96 px-3 pb-3">
          <pre className="font-mono text-xs wrap-anywhere whitespace-pre-wrap">
            {printJson(trajectory.trajectory, 2)}
          </pre>
        </ScrollRegion>
      </details>
    </Panel>
  );
}

function TurnOfTrajectory({ turn }: { readonly turn: TrajectoryTurn }) {
  const { role, content, reasoning, toolCalls, isChoice, tokens } = turn;
  return (
    <article className="border-b px-3 py-2 last:border-b-0">
      <h4 className="mb-1 text-xs font-semibold">
        {role} {isChoice && <Badge>trainable</Badge>}
      </h4>
      {reasoning !== '' && (
        <p
          dir="auto"
          className="mb-1 border-s-2 border-input ps-2 wrap-anywhere whitespace-pre-wrap text-muted"
        >
          {reasoning}
        </p>
      )}
      {tokens.length > 0 ? (
        <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
          {tokens.map(({ text, logprob }, index) => (
            <span
              key={`${index} of ${tokens.length}`}
              className="token cursor-default"
              title={`log probability ${logprob}`}
              style={{ '--p': Math.min(1, Math.exp(logprob)).toFixed(3) } as CSSProperties}
            >
              {text}
            </span>
          ))}
        </p>
      ) : (
        <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
          {content}
        </p>
      )}
      {toolCalls.map((call, index) => (
        <pre
          key={`${call.name} ${index}`}
          className="mt-1 rounded-sm border px-2 py-1 font-mono text-xs wrap-anywhere whitespace-pre-wrap"
        >
          {call.name}({call.arguments})
        </pre>
      ))}
    </article>
  );
}
