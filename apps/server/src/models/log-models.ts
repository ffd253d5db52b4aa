// What happens to models, in the log: what they were built as, notes on how they run, failures and stops.

import type { EngineError, EngineInfo } from '@ortler/engine';
import type { DeviceChoice } from '@ortler/onnxruntime';
import type { Logger } from 'pino';
import { isOperatorError } from './is-operator-error.ts';
import { createDownloadLog } from './log-downloads.ts';
import type { CatalogEvent } from './model-catalog.ts';
import type { ServerModelsOptions } from './server-models.ts';
import { speedNotes } from './speed-notes.ts';

/** `shown`: a person has read the failure, or the notes on a model that is ready, so the log leaves them out. */
export type CatalogListener = (event: CatalogEvent) => 'shown' | undefined;

/** `shown`: a person has read that the GPU is not used, so the log leaves it out. */
export type DeviceListener = (choice: DeviceChoice) => 'shown' | undefined;

type ModelLog = Pick<
  ServerModelsOptions,
  'onEvent' | 'onStopped' | 'onUpstreamFault' | 'onUnloaded' | 'onDevice'
>;

/** Listeners that write to the log. `onEvent` and `onDevice` are called before an event is logged. */
export function createModelLog(
  logger: Logger,
  onEvent: CatalogListener,
  onDevice: DeviceListener = () => undefined,
): ModelLog {
  const logDownload = createDownloadLog(logger);
  return {
    onEvent(event) {
      logDownload(event);
      if (event.kind === 'precision')
        logger.info({ model: event.modelId, ...event.choice }, 'precision chosen');
      if (onEvent(event) === 'shown') return;
      if (event.kind === 'ready') logNotes(logger, event.modelId, event.engine.info);
      if (event.kind === 'failed') logFailedModel(logger, event);
    },
    onStopped: (modelId: string, { message, retryAfterMs }: EngineError) =>
      logger.error({ model: modelId, reason: message, retryAfterMs }, 'model stopped'),
    onUpstreamFault: (model, server, reason) =>
      logger.warn({ model, server, reason }, 'a server of the model does not answer as it should'),
    onUnloaded: modelId => logger.info({ model: modelId }, 'checkpoint unloaded'),
    onDevice(choice) {
      if (onDevice(choice) === 'shown') return;
      // With device `auto`, a GPU that cannot be used is a warning.
      if (choice.isFallback) logger.warn(choice, 'GPU not usable, models run on the CPU');
      else logger.info(choice, 'device chosen');
    },
  };
}

// A mistake of the operator is logged without a stack, a bug with one.
function logFailedModel(
  logger: Logger,
  { modelId, error, retryAfterMs }: Extract<CatalogEvent, { kind: 'failed' }>,
): void {
  const fault = isOperatorError(error) ? { reason: error.message } : { err: error };
  logger.error({ model: modelId, ...fault, retryAfterMs }, 'model could not be loaded');
}

function logNotes(logger: Logger, model: string, info: EngineInfo): void {
  for (const note of speedNotes(info)) logger.warn({ model, note }, 'the model runs slower than it could');
  const { templateNote, chatTemplate } = info;
  if (templateNote !== undefined)
    logger.warn(
      { model, reason: templateNote },
      'a chat template of the model is broken: chats with it fail; --chat-template FILE gives the model one that works',
    );
  if (chatTemplate === null)
    logger.warn(
      { model },
      'the model has no chat template: chat requests need one of their own (chat_template); --chat-template FILE gives the model one',
    );
}
