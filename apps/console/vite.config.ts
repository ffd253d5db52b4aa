// Builds the console into dist: hashed files below assets/, and an index.html that names them by relative paths, so that it
// works behind any path prefix.

import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Server that `pnpm dev` passes calls on to. */
const SERVER = process.env.CONSOLE_SERVER ?? 'http://127.0.0.1:8000';
const PASSED_ON = ['/trpc', '/health', '/version', '/openapi.json'];

export default defineConfig({
  base: './',
  plugins: [react(), tailwindcss()],
  // The types and the client of the api come from its sources, so that the build waits for no other package.
  resolve: { conditions: ['@ortler/source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'es2024',
    sourcemap: false,
    // What is bundled is distributed, and its licences ask for their text beside it.
    license: { fileName: 'third-party-licences.md' },
    // A polyfill would be an inline script; every browser of the target has module preloading.
    modulePreload: { polyfill: false },
    // Data URLs need an exception in the content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: Object.fromEntries(PASSED_ON.map(path => [path, SERVER])) },
});
