#!/usr/bin/env node

// The `ortler` command. The server and its dependencies are loaded by it only, never by the library.

import '@ortler/server/cli';
