import { expect, it } from 'vitest';
import { findModel, listModels, servedId } from '../generation/ready-engine.ts';
import { createFakeServices } from '../testing/fake-services.ts';

const anyone = { keyId: 'key' };
const acme = { keyId: 'key', team: 'acme' };
const NAME = { entity: 'acme', project: 'p', name: 'clerk' };
const ADAPTER = { id: null, metrics: {}, weights: { kind: 'lora', path: '/lora' } } as const;

async function register(baseModel = 'demo') {
  const services = createFakeServices();
  const { model } = await services.training.models.create({ ...NAME, baseModel });
  return { services, id: model.id };
}

it.each([
  'acme/p/clerk',
  'acme/p/clerk:step0',
  'wandb-artifact:///acme/p/clerk',
  'wandb-artifact:///acme/p/clerk:step0',
])('%s is the base model, which answers under its own id', async reference => {
  const { services } = await register();
  const model = await findModel(services, acme, reference);
  expect(model).toMatchObject({ id: reference, root: 'demo' });
  expect(servedId(model)).toBe('demo');
  expect(await services.training.models.listUntrained('acme')).toHaveLength(1);
});

it('a checkpoint of metrics alone changes nothing', async () => {
  const { services, id } = await register();
  await services.training.checkpoints.register(id, { ...ADAPTER, weights: null, step: 0 });
  expect(servedId(await findModel(services, acme, 'acme/p/clerk'))).toBe('demo');
});

it('is listed until it has weights', async () => {
  const { services, id } = await register();
  expect((await listModels(services, anyone)).map(model => model.id)).toEqual(['demo', 'acme/p/clerk']);
  await services.training.checkpoints.register(id, { ...ADAPTER, step: 1 });
  expect((await listModels(services, anyone)).map(model => model.id)).toEqual(['demo']);
});

it.each([
  ['acme/p/clerk:step3', 'demo', 'The model acme/p/clerk has no checkpoint of step 3 with weights.'],
  [
    'acme/p/clerk',
    'elsewhere',
    'The model acme/p/clerk has no checkpoint with weights yet, and its base model elsewhere is not served here.',
  ],
])('says of %s on %s why it cannot answer', async (reference, baseModel, message) => {
  const { services } = await register(baseModel);
  const refusal = { reason: 'model_not_found', param: 'model', message };
  await expect(findModel(services, acme, reference)).rejects.toMatchObject(refusal);
});

it('is not listed where its base model is not served', async () => {
  const { services } = await register('elsewhere');
  expect((await listModels(services, acme)).map(model => model.id)).toEqual(['demo']);
});

it('does not stand in for weights of other steps', async () => {
  const { services, id } = await register();
  await services.training.checkpoints.register(id, { ...ADAPTER, step: 1 });
  await expect(findModel(services, acme, 'acme/p/clerk:step0')).rejects.toMatchObject({
    message: 'The model acme/p/clerk has no checkpoint of step 0 with weights.',
  });
});

it('of another team is unknown', async () => {
  const { services } = await register();
  await expect(findModel(services, { keyId: 'k', team: 'other' }, 'acme/p/clerk')).rejects.toMatchObject({
    message: 'The model acme/p/clerk does not exist. Known: demo.',
  });
});
