// Every schema's examples: valid ones parse, stay valid when parsed again, and appear in documents; invalid ones fail
// with the stated kind of fault at the stated place.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as schemas from '../src/index.ts';

interface Examples {
  readonly valid: readonly unknown[];
  readonly invalid: readonly { input: unknown; type: string; loc: readonly string[] }[];
}

const CASES: Record<string, [z.ZodType, Examples]> = {
  chatMessage: [schemas.chatMessage, schemas.chatMessageExamples],
  chatTool: [schemas.chatTool, schemas.chatToolExamples],
  responseFormat: [schemas.responseFormat, schemas.responseFormatExamples],
  structuredOutputs: [schemas.structuredOutputs, schemas.structuredOutputsExamples],
  chatCompletionRequest: [schemas.chatCompletionRequest, schemas.chatCompletionRequestExamples],
  chatCompletion: [schemas.chatCompletion, schemas.chatCompletionExamples],
  chatChunk: [schemas.chatChunk, schemas.chatChunkExamples],
  completionRequest: [schemas.completionRequest, schemas.completionRequestExamples],
  completion: [schemas.completion, schemas.completionExamples],
  completionChunk: [schemas.completionChunk, schemas.completionChunkExamples],
  tokenizeRequest: [schemas.tokenizeRequest, schemas.tokenizeRequestExamples],
  tokenizeResult: [schemas.tokenizeResult, schemas.tokenizeResultExamples],
  detokenizeRequest: [schemas.detokenizeRequest, schemas.detokenizeRequestExamples],
  detokenizeResult: [schemas.detokenizeResult, schemas.detokenizeResultExamples],
  usage: [schemas.usage, schemas.usageExamples],
  modelList: [schemas.modelList, schemas.modelListExamples],
  checkpointListQuery: [schemas.checkpointListQuery, schemas.checkpointListQueryExamples],
  checkpointList: [schemas.checkpointList, schemas.checkpointListExamples],
  checkpointRegistration: [schemas.checkpointRegistration, schemas.checkpointRegistrationExamples],
  trainingModelRequest: [schemas.trainingModelRequest, schemas.trainingModelRequestExamples],
  trainingModel: [schemas.trainingModel, schemas.trainingModelExamples],
  storedTrajectory: [schemas.storedTrajectory, schemas.storedTrajectoryExamples],
  splitMetrics: [schemas.splitMetrics, schemas.splitMetricsExamples],
  trajectoryLogBody: [schemas.trajectoryLogBody, schemas.trajectoryLogBodyExamples],
  trajectoryLogResult: [schemas.trajectoryLogResult, schemas.trajectoryLogResultExamples],
  feedbackQueryRequest: [schemas.feedbackQueryRequest, schemas.feedbackQueryRequestExamples],
  feedbackQueryResult: [schemas.feedbackQueryResult, schemas.feedbackQueryResultExamples],
  feedbackCreateRequest: [schemas.feedbackCreateRequest, schemas.feedbackCreateRequestExamples],
  feedbackCreateResult: [schemas.feedbackCreateResult, schemas.feedbackCreateResultExamples],
  feedbackBatchCreateRequest: [
    schemas.feedbackBatchCreateRequest,
    schemas.feedbackBatchCreateRequestExamples,
  ],
  feedbackReplaceRequest: [schemas.feedbackReplaceRequest, schemas.feedbackReplaceRequestExamples],
  annotationSpecRequest: [schemas.annotationSpecRequest, schemas.annotationSpecRequestExamples],
  annotationSpecResult: [schemas.annotationSpecResult, schemas.annotationSpecResultExamples],
  annotationQueueRequest: [schemas.annotationQueueRequest, schemas.annotationQueueRequestExamples],
  annotationQueueResult: [schemas.annotationQueueResult, schemas.annotationQueueResultExamples],
  annotationQueueDeletion: [schemas.annotationQueueDeletion, schemas.annotationQueueDeletionExamples],
  feedbackPurgeRequest: [schemas.feedbackPurgeRequest, schemas.feedbackPurgeRequestExamples],
  feedbackPayloadSchemaRequest: [
    schemas.feedbackPayloadSchemaRequest,
    schemas.feedbackPayloadSchemaRequestExamples,
  ],
  feedbackPayloadSchemaResult: [
    schemas.feedbackPayloadSchemaResult,
    schemas.feedbackPayloadSchemaResultExamples,
  ],
  usagePage: [schemas.usagePage, schemas.usagePageExamples],
  responseInputItem: [schemas.responseInputItem, schemas.responseInputItemExamples],
  responseTool: [schemas.responseTool, schemas.responseToolExamples],
  responseRequest: [schemas.responseRequest, schemas.responseRequestExamples],
  responseObject: [schemas.responseObject, schemas.responseObjectExamples],
  openAiErrorBody: [schemas.openAiErrorBody, schemas.openAiErrorExamples],
};

describe.each(Object.entries(CASES))('%s', (_name, [schema, examples]) => {
  it.each(examples.valid)('accepts its example %#', example => {
    const parsed = schema.parse(example);
    expect(schema.parse(parsed)).toEqual(parsed);
  });

  it.each(examples.invalid)('refuses its counter-example %#', ({ input, type, loc }) => {
    const result = schema.safeParse(input);
    expect(result.success).toBe(false);
    const details = schemas.toValidationDetails(result.error!, 'body', input);
    expect(details[0]).toMatchObject({ type, loc: ['body', ...loc] });
  });

  it('is exported to JSON Schema as input', () => {
    const document = z.toJSONSchema(schema, { io: 'input' });
    expect(JSON.stringify(document)).not.toContain('"not":{}');
  });
});

describe('examples', () => {
  it('exist for every group of exported examples', () => {
    const exported = Object.keys(schemas).filter(name => name.endsWith('Examples'));
    expect(Object.keys(CASES)).toHaveLength(exported.length);
  });
});
