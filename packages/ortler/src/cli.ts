#!/usr/bin/env node

// The `ortler` command. The server and its dependencies are loaded by it only, never by the library. Tool calling is on here,
// because agents and their frameworks expect it; `@ortler/server` alone has the default of its specification.

process.env.ORTLER_TOOL_CALLING ||= 'on';
await import('@ortler/server/cli');
