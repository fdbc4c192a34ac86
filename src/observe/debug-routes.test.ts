import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { debugRoutes } from './debug-routes.ts';
import { guardedRoutes } from './http-auth.ts';
import type { HttpAnswer, HttpRequest, HttpRoutes } from './http-server.ts';
import { profileRoutes } from './profiles.ts';

const request = (more: Partial<HttpRequest> & { readonly text?: string } = {}): HttpRequest => ({
  method: 'GET',
  query: new URLSearchParams(),
  headers: {},
  body: async () => more.text ?? '',
  ...more,
});

const facts = {
  version: '1.2.3',
  startedAt: Date.parse('2026-12-01T00:00:00Z'),
  now: () => Date.parse('2026-12-01T01:02:03Z'),
  configuration: {
    kind: 'KubeProxyConfiguration',
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    mode: 'nftables',
  },
  flags: { v: '2' },
  statusz: true,
  flagz: true,
  paths: ['/configz', '/statusz'],
};

async function ask(routes: HttpRoutes, path: string, asked = request()): Promise<HttpAnswer | undefined> {
  return routes(path, asked);
}

test('S391: /configz has the group, kind and version of the configuration', async () => {
  const answer = await ask(debugRoutes(facts), '/configz');
  assert.equal(answer?.contentType, 'application/json');
  assert.deepEqual(JSON.parse(answer?.body ?? ''), { 'kubeproxy.config.k8s.io': facts.configuration });
});

test('S473: /statusz is text that tells start, version and paths, or JSON when asked', async () => {
  const text = await ask(debugRoutes(facts), '/statusz');
  assert.equal(text?.contentType, 'text/plain; charset=utf-8');
  assert.match(text?.body ?? '', /^kube-proxy statusz\n/);
  assert.match(text?.body ?? '', /^Started: Tue, 01 Dec 2026 00:00:00 GMT\nUp: 1 hr 2 min 3 sec$/m);
  assert.match(text?.body ?? '', /^Binary version: Pointsman 1\.2\.3$/m);
  assert.match(text?.body ?? '', /^Paths: \/configz \/statusz$/m);
  const accept = 'application/json;v=v1alpha1;g=config.k8s.io;as=Statusz';
  const json = await ask(debugRoutes(facts), '/statusz', request({ headers: { accept } }));
  assert.deepEqual(JSON.parse(json?.body ?? '').paths, facts.paths);
  const strange = await ask(debugRoutes(facts), '/statusz', request({ headers: { accept: 'image/png' } }));
  assert.equal(strange?.status, 406);
  const flags = await ask(debugRoutes(facts), '/flagz');
  assert.match(flags?.body ?? '', /^v=2$/m);
});

test('S472: what its gate switches off is not there', async () => {
  const off = debugRoutes({ ...facts, statusz: false, flagz: false });
  assert.equal(await ask(off, '/statusz'), undefined);
  assert.equal(await ask(off, '/flagz'), undefined);
});

test('S392: the verbosity is set by PUT, with a number only', async () => {
  let verbosity = 2;
  const routes = profileRoutes({
    verbosity: () => verbosity,
    setVerbosity(next) {
      verbosity = next;
    },
  });
  const put = (text: string) => ask(routes, '/debug/flags/v', request({ method: 'PUT', text }));
  assert.equal((await put('5'))?.status, 200);
  assert.equal(verbosity, 5);
  assert.equal((await put('many'))?.status, 400);
  assert.equal((await ask(routes, '/debug/flags/v'))?.status, 405);
  assert.equal((await ask(routes, '/debug/flags'))?.body, 'v=5\n');
  const seconds = new URLSearchParams('seconds=0.01');
  const profile = await ask(routes, '/debug/pprof/profile', request({ query: seconds }));
  assert.ok(Array.isArray(JSON.parse(profile?.body ?? '{}').nodes));
  const never = request({ query: new URLSearchParams('seconds=-1') });
  assert.equal((await ask(routes, '/debug/pprof/profile', never))?.status, 400);
});

/** An API server that knows tokens `good` and `poor`, and lets `good` read /metrics. */
function reviews() {
  const asked: string[] = [];
  let away = false;
  let time = 0;
  const routes = guardedRoutes(
    {
      api: {
        async json(_method, path, options) {
          asked.push(path);
          if (away) throw new Error('away');
          assert.ok(options !== undefined);
          const { spec } = options.body as { spec: Record<string, unknown> };
          if (path.includes('tokenreviews'))
            return spec.token === 'bad'
              ? { status: { authenticated: false } }
              : { status: { authenticated: true, user: { username: spec.token, groups: ['g'] } } };
          assert.deepEqual(spec.groups, ['g']);
          assert.deepEqual(spec.nonResourceAttributes, { path: '/metrics', verb: 'get' });
          return { status: { allowed: spec.user === 'good' } };
        },
      },
      log: silentLogger,
      clock: () => time,
    },
    ['/healthz'],
    () => ({ status: 200, contentType: 'text/plain', body: 'in' }),
  );
  const status = async (path: string, token?: string): Promise<number | undefined> =>
    (
      await ask(
        routes,
        path,
        request({ headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }),
      )
    )?.status;
  return {
    status,
    asked,
    goAway: () => {
      away = true;
    },
    pass: (ms: number) => {
      time += ms;
    },
  };
}

test('the metrics port lets in whom the API server knows and allows', async () => {
  const { status, asked } = reviews();
  assert.equal(await status('/healthz'), 200);
  assert.equal(await status('/metrics'), 401);
  assert.equal(await status('/metrics', 'bad'), 401);
  assert.equal(await status('/metrics', 'poor'), 403);
  assert.equal(await status('/metrics', 'good'), 200);
  assert.equal(asked.length, 5);
});

test('a verdict holds for a while, and an API server that is away lets nobody new in', async () => {
  const { status, asked, goAway, pass } = reviews();
  assert.equal(await status('/metrics', 'good'), 200);
  assert.equal(await status('/metrics', 'good'), 200);
  assert.equal(asked.length, 2);
  goAway();
  assert.equal(await status('/metrics', 'good'), 200);
  assert.equal(await status('/metrics', 'other'), 503);
  pass(61_000);
  assert.equal(await status('/metrics', 'good'), 503);
});
