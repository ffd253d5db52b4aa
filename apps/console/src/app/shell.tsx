// The frame of all pages: navigation, theme, and the way out.

import { Link, Outlet } from '@tanstack/react-router';
import { chooseTheme, type ThemeChoice, useThemeChoice } from '../components/theme.ts';
import { Button } from '../components/ui/button.tsx';

const PAGES = [
  ['/', 'Playground'],
  ['/models', 'Models'],
  ['/training', 'Training'],
  ['/feedback', 'Feedback'],
  ['/server', 'Server'],
] as const;

const NEXT_THEME: Readonly<Record<ThemeChoice, ThemeChoice>> = {
  system: 'light',
  light: 'dark',
  dark: 'system',
};

export function Shell({ onForget }: { readonly onForget: () => void }) {
  const theme = useThemeChoice();
  return (
    <div className="flex h-full flex-col">
      <button
        type="button"
        className="sr-only focus:not-sr-only focus:absolute focus:z-10 focus:bg-raised focus:p-2"
        onClick={() => document.getElementById('main')?.focus()}
      >
        Skip to content
      </button>
      <header className="flex flex-wrap items-center gap-x-1 border-b bg-surface px-3">
        <span className="mr-2 py-2 text-sm font-semibold max-sm:flex-1">Ortler</span>
        <nav
          aria-label="Pages"
          className="-mb-px flex min-w-0 flex-1 overflow-x-auto max-sm:order-last max-sm:basis-full"
        >
          {PAGES.map(([to, name]) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              className="border-b-2 border-transparent px-2.5 py-2.5 text-sm text-muted max-sm:px-1.5 hover:text-foreground aria-[current=page]:border-accent aria-[current=page]:text-foreground"
            >
              {name}
            </Link>
          ))}
        </nav>
        <Button variant="ghost" size="sm" onClick={() => chooseTheme(NEXT_THEME[theme])}>
          Theme: {theme}
        </Button>
        <Button
          variant="ghost"
          size="sm"
          title="Removes the key from this tab, and the conversation, texts and settings from this browser"
          onClick={onForget}
        >
          Forget key
        </Button>
      </header>
      {/* Texts for screen readers are positioned, and would make the window scroll beside the parts of a page that do. */}
      <main id="main" tabIndex={-1} className="relative min-h-0 flex-1 overflow-clip outline-none">
        <Outlet />
      </main>
    </div>
  );
}
