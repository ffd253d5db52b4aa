// The chat: turns of the shown branch, the candidates of the selected token, and the next message.

import { useEffect, useRef, useState } from 'react';
import { Notice } from '../components/notice.tsx';
import { useStableFunctions } from '../components/use-stable-functions.ts';
import { CandidateList } from './candidate-list.tsx';
import { Composer } from './composer.tsx';
import { canForkAt } from './continue-from.ts';
import { pathTo, removeTurn, showBranch, siblingGroups } from './conversation.ts';
import { KeepPanel } from './keep-panel.tsx';
import type { Settings } from './saved-playground.ts';
import { useTokenSelection } from './token-selection.ts';
import { ToolResults } from './tool-results.tsx';
import { type TurnActions, TurnView } from './turn-view.tsx';
import type { useChat } from './use-chat.ts';

interface ChatViewProps {
  readonly chat: ReturnType<typeof useChat>;
  readonly settings: Settings;
  /** Why no request can be sent. */
  readonly obstacle: string | null;
}

/** A person who has scrolled up further than this reads, and is not carried along. Unit: pixels. */
const FOLLOW_DISTANCE = 80;

export function ChatView({ chat, settings, obstacle }: ChatViewProps) {
  const { conversation, turns, isRunning, setConversation } = chat;
  const tokens = useTokenSelection();
  const [savedId, setSavedId] = useState<string | null>(null);
  const saved = turns.find(({ id }) => id === savedId);
  const last = turns.at(-1);
  const lastCalls = last?.answer?.toolCalls ?? [];
  const list = useFollowedList(turns);
  const selectedTurn = turns.find(({ id }) => id === tokens.selection?.owner);
  const selectedAnswer = selectedTurn?.answer;
  const index = tokens.selection?.index ?? 0;
  const canTake =
    selectedAnswer !== undefined && !isRunning && obstacle === null && canForkAt(selectedAnswer, index);
  const siblings = siblingGroups(conversation);
  const actions = useStableFunctions<TurnActions>({
    selectToken: (turn, at, pinned) => tokens.select(turn.id, at, pinned),
    showBranch: id => setConversation(showBranch(conversation, id)),
    edit: (turn, text) => void chat.send(text, turn.parentId),
    regenerate: turn => void chat.regenerate(turn),
    remove: turn => setConversation(removeTurn(conversation, turn.id)),
    keep: turn => setSavedId(savedId === turn.id ? null : turn.id),
  });
  return (
    <div className="flex h-full min-h-44 flex-col">
      <section
        ref={list}
        // On low screens the panels below give way first.
        className="min-h-24 flex-1 overflow-auto"
        // Keys scroll it where nothing inside has the focus.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs the keyboard
        tabIndex={0}
        aria-label="Conversation"
      >
        {turns.length === 0 && (
          <Notice>
            Ask something. Every token of the answer is coloured by its probability: the stronger the colour,
            the less sure the model was.
          </Notice>
        )}
        {turns.map(turn => (
          <TurnView
            key={turn.id}
            turn={turn}
            siblings={siblings.get(turn.parentId) ?? []}
            showHeat={settings.showHeat}
            format={settings.format}
            isBusy={isRunning}
            selectedToken={tokens.indexIn(turn.id)}
            actions={actions}
          />
        ))}
      </section>
      {lastCalls.length > 0 && !isRunning && last !== undefined && (
        <ToolResults
          key={last.id}
          calls={lastCalls}
          onSend={results => void chat.sendResults(last, results)}
        />
      )}
      {saved !== undefined && (
        <KeepPanel
          key={saved.id}
          turns={pathTo(conversation.turns, saved.id)}
          system={settings.system}
          onClose={() => setSavedId(null)}
        />
      )}
      {settings.showHeat && (
        <CandidateList
          token={selectedAnswer?.tokens[index] ?? null}
          position={index + 1}
          reason={
            isRunning
              ? 'The answer is still being written.'
              : 'The ids of the tokens before it are not known.'
          }
          onTake={
            canTake && selectedTurn !== undefined
              ? candidate => {
                  tokens.clear();
                  void chat.continueFrom(selectedTurn, index, candidate);
                }
              : null
          }
        />
      )}
      <Composer
        isRunning={isRunning}
        obstacle={obstacle}
        onSend={text => void chat.send(text)}
        onStop={chat.stop}
      />
    </div>
  );
}

/** Keeps the end of the list in sight while it grows, unless the person has scrolled away from it. */
function useFollowedList(content: unknown) {
  const list = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const onScroll = () => {
      isFollowing.current = element.scrollHeight - element.scrollTop - element.clientHeight < FOLLOW_DISTANCE;
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, []);
  useEffect(() => {
    const element = list.current;
    if (element !== null && isFollowing.current) element.scrollTop = element.scrollHeight;
  }, [content]);
  return list;
}
