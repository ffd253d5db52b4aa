// Two models, checkpoints or settings side by side: the same message and the same seed.

import { Notice } from '../components/notice.tsx';
import { Button } from '../components/ui/button.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { CandidateList } from './candidate-list.tsx';
import { Composer } from './composer.tsx';
import { HeatMap } from './heat-map.tsx';
import { PlainText } from './plain-text.tsx';
import { perplexityOf } from './probability.ts';
import type { Settings } from './saved-playground.ts';
import { useTokenSelection } from './token-selection.ts';
import { SIDES, type Side, useComparison } from './use-comparison.ts';

interface CompareViewProps {
  readonly settings: Readonly<Record<Side, Settings>>;
  /** The side whose settings are shown beside. */
  readonly edited: Side;
  readonly onEdit: (side: Side) => void;
  readonly obstacle: string | null;
}

export function CompareView({ settings, edited, onEdit, obstacle }: CompareViewProps) {
  const comparison = useComparison(settings);
  const { answers, seed } = comparison;
  const tokens = useTokenSelection();
  const selected = SIDES.find(side => side === tokens.selection?.owner);
  const index = tokens.selection?.index ?? 0;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="grid min-h-24 flex-1 content-start gap-3 overflow-auto p-4 md:grid-cols-2">
        {SIDES.map(side => {
          const answer = answers?.[side];
          const perplexity = perplexityOf(answer?.tokens ?? []);
          return (
            <Panel
              key={side}
              title={`${side}: ${answer?.model || settings[side].model || 'default model'}`}
              actions={
                <Button size="sm" aria-pressed={edited === side} onClick={() => onEdit(side)}>
                  Settings of {side}
                </Button>
              }
            >
              <div className="px-3 py-2">
                {answer === undefined ? (
                  <Notice className="px-0 py-1">Nothing was asked yet.</Notice>
                ) : settings[side].showHeat && answer.tokens.length > 0 ? (
                  <HeatMap
                    label={`Tokens of ${side}`}
                    tokens={answer.tokens}
                    selected={tokens.indexIn(side)}
                    onSelect={(at, pinned) => tokens.select(side, at, pinned)}
                  />
                ) : (
                  <PlainText text={answer.content} />
                )}
                {answer?.error != null && (
                  <p role="alert" className="wrap-anywhere text-danger">
                    {answer.error}
                  </p>
                )}
                {answer?.durationMs != null && (
                  <p className="mt-2 text-xs text-muted">
                    {answer.usage?.completion_tokens ?? answer.tokens.length} tokens,{' '}
                    {(answer.durationMs / 1000).toFixed(2)} s
                    {perplexity !== null && `, perplexity ${perplexity.toFixed(2)}`}
                    {answer.finishReason !== null && `, ${answer.finishReason}`}
                  </p>
                )}
              </div>
            </Panel>
          );
        })}
      </div>
      {seed !== null && <p className="px-4 pb-2 text-xs text-muted">Seed of both: {seed}</p>}
      {(settings.A.showHeat || settings.B.showHeat) && (
        <CandidateList
          token={(selected === undefined ? null : answers?.[selected].tokens[index]) ?? null}
          position={index + 1}
          reason="A comparison cannot be continued from a candidate."
          onTake={null}
        />
      )}
      <Composer
        isRunning={comparison.isRunning}
        obstacle={obstacle}
        onSend={text => {
          tokens.clear();
          void comparison.compare(text);
        }}
        onStop={comparison.stop}
      />
    </div>
  );
}
