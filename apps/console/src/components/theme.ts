// Light or dark: what the person chose here, else what the system says.

import { useSyncExternalStore } from 'react';

export type Theme = 'light' | 'dark';
export type ThemeChoice = Theme | 'system';

export const THEME_STORAGE = 'ortler-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

export function readThemeChoice(): ThemeChoice {
  const stored = localStorage.getItem(THEME_STORAGE);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

function currentTheme(): Theme {
  const choice = readThemeChoice();
  if (choice !== 'system') return choice;
  return system.matches ? 'dark' : 'light';
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem(THEME_STORAGE);
  else localStorage.setItem(THEME_STORAGE, choice);
  applyTheme();
}

/** Sets the theme on the document. Call it before the first render, so that the page does not flash. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = currentTheme();
  for (const listener of listeners) listener();
}

system.addEventListener('change', applyTheme);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, readThemeChoice);
}

/** The theme that is shown; canvases redraw when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, currentTheme);
}
