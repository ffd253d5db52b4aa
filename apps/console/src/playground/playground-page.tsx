// The playground: a chat or a completion, and its settings.

import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { cn } from '../components/class-names.ts';
import { Button } from '../components/ui/button.tsx';
import { useTRPC } from '../connection/api-client.ts';
import { ChatView } from './chat-view.tsx';
import { CompletionView } from './completion-view.tsx';
import { readParameters } from './parameters.ts';
import { readSettings, type Settings, saveSettings } from './saved-playground.ts';
import { SettingsPanel } from './settings-panel.tsx';
import { useChat } from './use-chat.ts';

interface PlaygroundPageProps {
  /** Model that a link names. */
  readonly model: string | undefined;
}

export function PlaygroundPage({ model }: PlaygroundPageProps) {
  const trpc = useTRPC();
  const models = useQuery(trpc.models.list.queryOptions());
  const [settings, setSettings] = useState<Settings>(() => ({
    ...readSettings(),
    ...(model !== undefined && { model }),
  }));
  useEffect(() => saveSettings(settings), [settings]);
  useEffect(() => {
    if (model !== undefined) setSettings(current => ({ ...current, model }));
  }, [model]);
  /** On narrow screens, where they take the place of the conversation. */
  const [showsSettings, setShowsSettings] = useState(false);
  const chat = useChat(settings);
  const { faults } = readParameters(settings.parameters, settings.mode);
  const faulty = Object.keys(faults);
  const obstacle = faulty.length === 0 ? null : `Correct ${faulty.join(', ')} first.`;
  return (
    <div className="grid h-full min-h-0 grid-rows-[auto_minmax(0,1fr)] lg:grid-cols-[minmax(0,1fr)_20rem]">
      <header className="flex min-h-11 flex-wrap items-center gap-2 border-b px-4 py-1.5 lg:col-span-2">
        <h1 className="mr-2 text-sm font-semibold">Playground</h1>
        <fieldset aria-label="Kind of request" className="flex">
          {(['chat', 'completion'] as const).map(mode => (
            <Button
              key={mode}
              size="sm"
              aria-pressed={settings.mode === mode}
              className="first:rounded-r-none last:-ml-px last:rounded-l-none"
              onClick={() => setSettings({ ...settings, mode })}
            >
              {mode === 'chat' ? 'Chat' : 'Completion'}
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
        {settings.mode === 'chat' && chat.turns.length > 0 && (
          <Button size="sm" onClick={chat.clear}>
            New chat
          </Button>
        )}
      </header>
      <div className={cn('flex min-h-0 flex-col', showsSettings && 'max-lg:hidden')}>
        {settings.mode === 'chat' ? (
          <ChatView chat={chat} settings={settings} obstacle={obstacle} />
        ) : (
          <CompletionView settings={settings} obstacle={obstacle} />
        )}
      </div>
      <aside
        aria-label="Settings"
        className={cn('min-h-0 overflow-auto lg:border-l', !showsSettings && 'max-lg:hidden')}
      >
        <SettingsPanel
          settings={settings}
          models={(models.data?.data ?? []).map(({ id }) => id)}
          onChange={setSettings}
        />
      </aside>
    </div>
  );
}
