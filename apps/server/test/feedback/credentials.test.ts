// Authentication of the feedback endpoints, and the format of errors.

import { createFakeServices, TEST_API_KEY } from '@ortler/api/testing';
import { expect, it } from 'vitest';
import { openTestApp } from '../open-test-app.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const BODY = JSON.stringify({ project_id: 'acme/app' });
const { app } = await openTestApp(createFakeServices());
const post = (authorization?: string, payload = BODY) =>
  app.inject({
    method: 'POST',
    url: '/feedback/query',
    headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
    payload,
  });

it.each(['api', '', 'anyone', 'ünï'])('takes the API key as password of the user %j', async user => {
  const response = await post(basic(`${user}:${TEST_API_KEY}`));
  expect([response.statusCode, response.json()]).toEqual([200, { result: [] }]);
});

it.each([
  undefined,
  '',
  basic(TEST_API_KEY),
  basic(`${TEST_API_KEY}:`),
  basic(`api:${TEST_API_KEY}:`),
  basic('api:wrong'),
  'Basic',
  'Basic !!!',
  `Bearer ${TEST_API_KEY}`,
])('refuses the header %j', async header => {
  const response = await post(header);
  expect(response.statusCode).toBe(401);
  expect(response.json()).toEqual({ detail: 'Not authenticated' });
  expect(response.headers['www-authenticate']).toBe('Basic realm="ortler"');
});

it('checks the credentials before the body', async () => {
  expect((await post(basic('api:wrong'), '{')).statusCode).toBe(401);
  const malformed = await post(basic(`api:${TEST_API_KEY}`), '{');
  expect(malformed.statusCode).toBe(422);
  expect(malformed.json()).toEqual({
    detail: [{ loc: ['body', '1'], msg: 'JSON decode error', type: 'json_invalid' }],
  });
});

it('does not let Basic credentials into the endpoints of bearers', async () => {
  const response = await app.inject({
    url: '/v1/models',
    headers: { authorization: basic(`api:${TEST_API_KEY}`) },
  });
  expect(response.statusCode).toBe(401);
  expect(response.headers['www-authenticate']).toBe('Bearer');
});
