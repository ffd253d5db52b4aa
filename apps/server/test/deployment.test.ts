// The files that deploy the server (Dockerfile, compose.yaml, deploy/) against what the server has: settings, routes, metrics.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createFakeServices } from '@ortler/api/testing';
import { describe, expect, it, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { SETTINGS } from '../src/config/settings.ts';
import { openTestApp } from './open-test-app.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const PYTHON = process.env.TEST_PYTHON;
const hasModule = (name: string) => {
  try {
    execFileSync(PYTHON!, ['-c', `import ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Variables that Node, huggingface_hub and the shell of the images read. */
const OTHER_VARIABLES = ['NODE_ENV', 'HF_HOME'];
const VARIABLES: readonly string[] = Object.values(SETTINGS).map(({ variable }) => variable);
const DRAIN_S = Number(SETTINGS.drainMs.fallback) / 1_000;
const unknownVariables = (names: readonly string[]) =>
  names.filter(name => !VARIABLES.includes(name) && !OTHER_VARIABLES.includes(name));

const MANIFESTS = ['volumes', 'deployment', 'service', 'autoscaler', 'inference-pool'].map(
  name => `deploy/kubernetes/${name}.yaml`,
);

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const deploymentSchema = z.object({
  spec: z.object({
    replicas: z.number(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.number().positive() }),
        containers: z.tuple([
          z.object({
            image: z.string(),
            env: z.array(z.object({ name: z.string(), value: z.string() })),
            ports: z.tuple([z.object({ name: z.string(), containerPort: z.number() })]),
            livenessProbe: probe,
            readinessProbe: probe,
            volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
          }),
        ]),
        volumes: z.array(
          z.object({
            name: z.string(),
            persistentVolumeClaim: z.object({ claimName: z.string() }).optional(),
          }),
        ),
      }),
    }),
  }),
});

/** Source: API reference of the Gateway API Inference Extension, version v1. */
const inferencePoolSchema = z.strictObject({
  apiVersion: z.literal('inference.networking.k8s.io/v1'),
  kind: z.literal('InferencePool'),
  metadata: z.object({ name: z.string() }),
  spec: z.strictObject({
    selector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
    targetPorts: z
      .array(z.strictObject({ number: z.int().min(1).max(65_535) }))
      .min(1)
      .max(8),
    endpointPickerRef: z.strictObject({
      name: z.string().min(1).max(253),
      port: z.strictObject({ number: z.int().min(1).max(65_535) }),
      failureMode: z.enum(['FailOpen', 'FailClose']),
    }),
  }),
});

const deployment = () => deploymentSchema.parse(parse(read('deploy/kubernetes/deployment.yaml'))).spec;
const containerOf = ({ template }: ReturnType<typeof deployment>) => template.spec.containers[0];

async function statusOf(path: string): Promise<number> {
  const test = await openTestApp(createFakeServices());
  const reply = await test.app.inject(path);
  await test.app.close();
  return reply.statusCode;
}

describe('Kubernetes manifests', () => {
  it.skipIf(PYTHON === undefined || !hasModule('kubernetes_validate'))(
    'have no field that the schemas of Kubernetes lack, and all that they require',
    () => {
      // It has no schema of an InferencePool, which the test below reads.
      const files = MANIFESTS.filter(file => !file.includes('inference-pool'));
      for (const file of files) {
        const path = new URL(file, ROOT).pathname;
        const args = ['-m', 'kubernetes_validate', '--strict', '--quiet', '-k', '1.34', path];
        expect(() => execFileSync(PYTHON!, args), file).not.toThrow();
      }
    },
  );

  it('are valid YAML with the label that all share', () => {
    for (const file of MANIFESTS) {
      for (const document of parseAllDocuments(read(file))) {
        expect(document.errors, file).toEqual([]);
        expect(document.toJS(), file).toMatchObject({
          metadata: { labels: { 'app.kubernetes.io/name': 'ortler' } },
        });
      }
    }
  });

  it('probe routes that answer', async () => {
    const { livenessProbe, readinessProbe, ports } = containerOf(deployment());
    expect(livenessProbe.httpGet.path).toBe('/health/live');
    expect(readinessProbe.httpGet.path).toBe('/health/ready');
    for (const { httpGet } of [livenessProbe, readinessProbe]) {
      expect(await statusOf(httpGet.path)).toBe(200);
      expect(httpGet.port).toBe(ports[0].name);
    }
    expect(ports[0].containerPort).toBe(Number(SETTINGS.port.fallback));
  });

  it('name settings that exist, and leave a pod the time to end its answers', () => {
    const spec = deployment();
    const { env } = containerOf(spec);
    expect(unknownVariables(env.map(({ name }) => name))).toEqual([]);
    const secondsOf = (wanted: string) => Number(env.find(({ name }) => name === wanted)?.value) / 1_000;
    const stopS = secondsOf('ORTLER_DRAIN_DELAY_MS') + secondsOf('ORTLER_DRAIN_MS');
    const grace = spec.template.spec.terminationGracePeriodSeconds;
    expect(grace).toBeGreaterThan(stopS);
  });

  it('select the pods, and mount what they claim', () => {
    const { selector, template } = deployment();
    const pods = selector.matchLabels;
    expect(template.metadata.labels).toMatchObject(pods);
    expect(parse(read('deploy/kubernetes/service.yaml')).spec.selector).toEqual(pods);
    const claims = parseAllDocuments(read('deploy/kubernetes/volumes.yaml')).map(
      document => document.toJS().metadata.name,
    );
    const used = template.spec.volumes.flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);
    expect(used).toEqual(claims);
    const mounted = template.spec.containers[0].volumeMounts.map(({ name }) => name);
    expect(mounted).toEqual(template.spec.volumes.map(({ name }) => name));
  });

  it('have an inference pool of the same pods and port, in the shape of its API', () => {
    const { spec } = inferencePoolSchema.parse(parse(read('deploy/kubernetes/inference-pool.yaml')));
    const { selector, template } = deployment();
    expect(spec.selector).toEqual(selector);
    expect(spec.targetPorts).toEqual([{ number: template.spec.containers[0].ports[0].containerPort }]);
  });

  it('scale the deployment on a metric that the server has', async () => {
    const { scaleTargetRef, metrics, minReplicas } = parse(read('deploy/kubernetes/autoscaler.yaml')).spec;
    expect(scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'ortler' });
    expect(minReplicas).toBe(deployment().replicas);
    const name: string = metrics[0].pods.metric.name;
    const test = await openTestApp(createFakeServices());
    expect((await test.app.inject('/metrics')).body).toContain(`\n${name.replace('vllm_', 'vllm:')}{`);
    await test.app.close();
  });

  it('apply only manifests that are there', () => {
    const { resources } = parse(read('deploy/kubernetes/kustomization.yaml'));
    expect(MANIFESTS).toEqual(
      expect.arrayContaining(resources.map((name: string) => `deploy/kubernetes/${name}`)),
    );
  });
});

describe('compose.yaml', () => {
  const compose = () => parse(read('compose.yaml'));

  it('names settings, services and volumes that exist', () => {
    const { services, volumes } = compose();
    expect(unknownVariables(Object.keys(services.ortler.environment))).toEqual([]);
    expect(Object.keys(services)).toEqual(['ortler', ...Object.keys(services.ortler.depends_on)]);
    const mounted = Object.values<{ volumes: string[] }>(services).flatMap(service =>
      service.volumes.map(volume => volume.split(':')[0]),
    );
    expect(mounted).toEqual(Object.keys(volumes));
  });

  it('waits for the end of open answers, and for databases that are healthy', () => {
    const { services } = compose();
    expect(Number.parseInt(services.ortler.stop_grace_period, 10)).toBeGreaterThan(DRAIN_S);
    for (const name of Object.keys(services.ortler.depends_on)) {
      expect(services.ortler.depends_on[name].condition).toBe('service_healthy');
      expect(services[name].healthcheck.test[0]).toBe('CMD');
    }
    expect(services.ortler.depends_on.clickhouse.required).toBe(false);
    expect(services.clickhouse.profiles).toEqual(['clickhouse']);
  });
});

/** The address that the health check of the image asks. */
async function askedUrl(dockerfile: string, port: string | undefined): Promise<URL> {
  const [, command = '[]'] = /^HEALTHCHECK .*\\\n {2}CMD (.*)$/m.exec(dockerfile) ?? [];
  const [, , script] = JSON.parse(command) as string[];
  const fetch = vi.fn(async (_url: string) => ({ ok: true }));
  const process = { env: { ORTLER_PORT: port }, exit: () => undefined };
  new Function('fetch', 'process', script!)(fetch, process);
  return new URL(fetch.mock.calls[0]![0]);
}

describe('Dockerfile', () => {
  it('runs the command line without root, on settings and a health route that exist', async () => {
    const [, , run = ''] = read('Dockerfile').split(/^FROM /m);
    expect(run).toMatch(/^USER 1000:1000$/m);
    expect(run).toMatch(/^CMD \["node", "apps\/server\/dist\/cli.js", "serve"\]$/m);
    expect(existsSync(new URL('apps/server/src/cli.ts', ROOT))).toBe(true);
    expect(unknownVariables([...run.matchAll(/\b([A-Z_]+)=/g)].map(([, name]) => name!))).toEqual([]);
    const { pathname } = await askedUrl(run, undefined);
    expect(pathname).toBe('/health/live');
    expect(await statusOf(pathname)).toBe(200);
  });

  it.each([
    [undefined, SETTINGS.port.fallback],
    ['', SETTINGS.port.fallback],
    ['tcp://10.0.0.1:80', SETTINGS.port.fallback],
    ['9000', '9000'],
  ])('has a health check that asks the port of the server where ORTLER_PORT is %j', async (given, port) => {
    expect((await askedUrl(read('Dockerfile'), given)).port).toBe(port);
  });
});

describe('ortler.service', () => {
  it('starts the command line with settings that exist, and waits for the end of open answers', () => {
    const unit = read('deploy/systemd/ortler.service');
    expect(unit).toMatch(/^ExecStart=\/usr\/bin\/node apps\/server\/dist\/cli.js serve$/m);
    expect(unknownVariables([...unit.matchAll(/^Environment=(\w+)=/gm)].map(([, name]) => name!))).toEqual(
      [],
    );
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(DRAIN_S);
    // Model processes must live until their answers have ended.
    expect(unit).toMatch(/^KillMode=mixed$/m);
  });
});
