// The playground: a chat, a completion or a comparison, and its settings.

import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { cn } from '../components/class-names.ts';
import { Button } from '../components/ui/button.tsx';
import { useTRPC } from '../connection/api-client.ts';
import { toFormatFields } from './answer-format.ts';
import { ChatView } from './chat-view.tsx';
import { CodePanel } from './code-panel.tsx';
import { CompareView } from './compare-view.tsx';
import { CompletionView } from './completion-view.tsx';
import { readParameters } from './parameters.ts';
import { toChatRequest } from './requests.ts';
import { modeOf, readSettings, type Settings, saveSettings, type View } from './saved-playground.ts';
import { SettingsPanel } from './settings-panel.tsx';
import { readTools } from './tool-list.ts';
import { useChat } from './use-chat.ts';
import type { Side } from './use-comparison.ts';

interface PlaygroundPageProps {
  /** Model that a link names. */
  readonly model: string | undefined;
  /** Takes it out of the address, where a reload would choose it again. */
  readonly onModelChosen: () => void;
}

const VIEWS: readonly (readonly [View, string])[] = [
  ['chat', 'Chat'],
  ['completion', 'Completion'],
  ['compare', 'Compare'],
];

export function PlaygroundPage({ model, onModelChosen }: PlaygroundPageProps) {
  const trpc = useTRPC();
  const models = useQuery(trpc.models.list.queryOptions());
  const facts = useQuery(trpc.server.facts.queryOptions());
  const [settings, setSettings] = useState<Settings>(() => ({
    ...readSettings(),
    ...(model !== undefined && { model }),
  }));
  /** Settings of the other side of a comparison; before they are changed, those of this one. */
  const [otherSettings, setOtherSettings] = useState<Settings | null>(null);
  const [edited, setEdited] = useState<Side>('A');
  const [showsCode, setShowsCode] = useState(false);
  /** On narrow screens, where they take the place of the conversation. */
  const [showsSettings, setShowsSettings] = useState(false);
  useEffect(() => saveSettings(settings), [settings]);
  useEffect(() => {
    if (model === undefined) return;
    setSettings(current => ({ ...current, model }));
    onModelChosen();
  }, [model]);
  const modelIds = useMemo(() => (models.data?.data ?? []).map(({ id }) => id), [models.data]);
  const chat = useChat(settings);
  const { view } = settings;
  const sides = { A: settings, B: otherSettings ?? settings };
  const isOther = view === 'compare' && edited === 'B';
  const obstacle = obstacleOf(settings) ?? (view === 'compare' ? obstacleOf(sides.B) : null);
  return (
    <div className="grid h-full min-h-0 grid-cols-1 grid-rows-[auto_minmax(0,1fr)] lg:grid-cols-[minmax(0,1fr)_20rem]">
      <header className="flex min-h-11 flex-wrap items-center gap-2 border-b px-4 py-1.5 lg:col-span-2">
        <h1 className="mr-2 text-sm font-semibold">Playground</h1>
        <fieldset aria-label="Kind of request" className="flex">
          {VIEWS.map(([each, name]) => (
            <Button
              key={each}
              size="sm"
              aria-pressed={view === each}
              className="not-first:-ml-px not-first:rounded-l-none not-last:rounded-r-none"
              onClick={() => setSettings({ ...settings, view: each })}
            >
              {name}
            </Button>
          ))}
        </fieldset>
        <span className="flex-1" />
        <Button
          size="sm"
          className="lg:hidden"
          aria-expanded={showsSettings}
          onClick={() => setShowsSettings(!showsSettings)}
        >
          Settings
        </Button>
        {view === 'chat' && (
          <Button size="sm" aria-expanded={showsCode} onClick={() => setShowsCode(!showsCode)}>
            Code
          </Button>
        )}
        {view === 'chat' && chat.turns.length > 0 && (
          <Button size="sm" onClick={chat.clear}>
            New chat
          </Button>
        )}
      </header>
      <div className={cn('flex min-h-0 flex-col', showsSettings && 'max-lg:hidden')}>
        {view === 'chat' && showsCode && (
          <CodePanel
            body={toChatRequest(settings, chat.turns)}
            defaultModel={models.data?.data[0]?.id}
            onClose={() => setShowsCode(false)}
          />
        )}
        {view === 'chat' && <ChatView chat={chat} settings={settings} obstacle={obstacle} />}
        {view === 'completion' && <CompletionView settings={settings} obstacle={obstacle} />}
        {view === 'compare' && (
          <CompareView settings={sides} edited={edited} onEdit={setEdited} obstacle={obstacle} />
        )}
      </div>
      <aside
        aria-label="Settings"
        className={cn('min-h-0 overflow-auto lg:border-l', !showsSettings && 'max-lg:hidden')}
      >
        <SettingsPanel
          key={isOther ? 'B' : 'A'}
          settings={isOther ? sides.B : settings}
          models={modelIds}
          toolCalling={facts.data?.toolCalling ?? false}
          onChange={isOther ? setOtherSettings : setSettings}
        />
      </aside>
    </div>
  );
}

/** Why these settings cannot be sent; null: they can. */
function obstacleOf(settings: Settings): string | null {
  const mode = modeOf(settings);
  const faulty = Object.keys(readParameters(settings.parameters, mode).faults);
  if (faulty.length > 0) return `Correct ${faulty.join(', ')} first.`;
  if (mode !== 'chat') return null;
  return toFormatFields(settings.format).fault ?? readTools(settings.tools).fault ?? null;
}
