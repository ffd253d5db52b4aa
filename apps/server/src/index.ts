// Public surface of @ortler/server: start a server from TypeScript, or build the application without a port.

export { type AppOptions, createApp } from './app.ts';
export { type Config, ConfigError, readConfig } from './config/config.ts';
export { type RunningServer, startServer } from './main.ts';
export { createMetrics } from './system/metrics.ts';
