import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PointsmanError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import { apiError } from './api-status.ts';
import { type EventNote, eventName, eventObject, microTime } from './event-series.ts';
import { createEventRecorder, type EventRecorderOptions } from './events.ts';
import type { RequestOptions, Transport } from './transport.ts';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const NODE: EventNote = {
  regarding: { kind: 'Node', name: 'node-a', uid: 'node-a' },
  type: 'Normal',
  reason: 'Starting',
  action: 'StartKubeProxy',
};
const about = (name: string): EventNote => ({
  ...NODE,
  regarding: { kind: 'Service', name, namespace: 'shop' },
});

/** A recorder before a server that answers as `answer` says; times are ours. */
function recorder(answer: (sent: Sent) => unknown = () => ({}), options: Partial<EventRecorderOptions> = {}) {
  const sent: Sent[] = [];
  let time = Date.parse('2026-12-01T02:00:41.123Z');
  const transport: Pick<Transport, 'json'> = {
    async json(method: string, path: string, { body }: RequestOptions = {}) {
      const request = { method, path, body: body as Sent['body'] };
      sent.push(request);
      return answer(request);
    },
  };
  const lines: string[] = [];
  const events = createEventRecorder({
    transport,
    source: { reportingController: 'kube-proxy', reportingInstance: 'node-a' },
    log: { ...silentLogger, warn: (message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`) },
    now: () => time,
    ...options,
  });
  const { signal } = new AbortController();
  return {
    events,
    sent,
    lines,
    flush: () => events.flush(signal),
    pass(ms: number) {
      time += ms;
    },
  };
}

const refusal = (status: number): PointsmanError =>
  apiError('POST /x', status, {}, JSON.stringify({ kind: 'Status' }), () => 0);

test('an event is created in the namespace of its object, that of a node in default', async () => {
  const { events, sent, flush } = recorder();
  events.record({ ...NODE, note: 'hello' });
  events.record(about('web'));
  await flush();
  assert.deepEqual(
    sent.map(({ method, path }) => `${method} ${path}`),
    [
      'POST /apis/events.k8s.io/v1/namespaces/default/events',
      'POST /apis/events.k8s.io/v1/namespaces/shop/events',
    ],
  );
  const { metadata, ...rest } = sent[0]?.body ?? {};
  assert.match(String((metadata as { readonly name: string }).name), /^node-a\.[0-9a-f]{14,16}$/);
  assert.deepEqual(rest, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    eventTime: '2026-12-01T02:00:41.123000Z',
    type: 'Normal',
    reason: 'Starting',
    action: 'StartKubeProxy',
    note: 'hello',
    regarding: { kind: 'Node', name: 'node-a', uid: 'node-a' },
    reportingController: 'kube-proxy',
    reportingInstance: 'node-a',
  });
});

test('a repeated event is one object whose count grows, told once a minute', async () => {
  const { events, sent, flush, pass } = recorder();
  events.record(NODE);
  await flush();
  for (let index = 0; index < 500; index += 1) events.record({ ...NODE, note: `again ${index}` });
  pass(60_000);
  await flush();
  assert.equal(sent.length, 2);
  const [first] = sent;
  assert.ok(first !== undefined);
  const { name: created } = first.body.metadata as { readonly name: string };
  assert.equal(sent[1]?.method, 'PATCH');
  assert.equal(sent[1]?.path, `/apis/events.k8s.io/v1/namespaces/default/events/${created}`);
  assert.deepEqual(sent[1]?.body, {
    series: { count: 501, lastObservedTime: '2026-12-01T02:00:41.123000Z' },
  });
});

test('after six quiet minutes an event begins a new series', async () => {
  const { events, sent, flush, pass } = recorder();
  events.record(NODE);
  await flush();
  pass(360_000);
  events.record(NODE);
  await flush();
  assert.deepEqual(
    sent.map(({ method }) => method),
    ['POST', 'POST'],
  );
});

test('a flood of different events is bounded in memory and in requests', async () => {
  const { events, sent, lines, flush } = recorder();
  for (let index = 0; index < 10_000; index += 1) events.record(about(`web-${index}`));
  await flush();
  assert.equal(sent.length, 25);
  assert.equal(events.dropped, 10_000 - 256);
  assert.ok(lines.length < 110, `${lines.length} lines`);
});

test('an event that the server refuses is dropped and said', async () => {
  const { events, sent, lines, flush } = recorder(() => {
    throw refusal(403);
  });
  events.record(NODE);
  await flush();
  await flush();
  assert.equal(sent.length, 1);
  assert.equal(events.dropped, 1);
  assert.match(lines[0] ?? '', /the server refused it/);
});

test('an event that the server has already counts as told; one it forgot is created anew', async () => {
  let reply: number | undefined = 409;
  const { events, sent, flush, pass } = recorder(() => {
    const status = reply;
    reply = undefined;
    if (status !== undefined) throw refusal(status);
    return {};
  });
  events.record(NODE);
  await flush();
  events.record(NODE);
  reply = 404;
  await flush();
  pass(60_000);
  await flush();
  assert.deepEqual(
    sent.map(({ method }) => method),
    ['POST', 'PATCH', 'POST'],
  );
  assert.match(JSON.stringify(sent[2]?.body.series), /"count":2/);
  const names = sent
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => JSON.stringify(body.metadata));
  assert.equal(new Set(names).size, 2);
});

test('the running recorder tells an event at once, and outlasts a server that is away', async () => {
  const stopper = new AbortController();
  let failures = 2;
  const told = Promise.withResolvers<void>();
  const pauses: number[] = [];
  const { events, sent, pass } = recorder(
    () => {
      if (failures > 0) {
        failures -= 1;
        throw new PointsmanError('E_API_UNREACHABLE', 'away');
      }
      told.resolve();
      return {};
    },
    {
      random: () => 0,
      async sleep(ms) {
        pauses.push(ms);
        pass(ms);
        return true;
      },
    },
  );
  events.record(NODE);
  const running = events.run(stopper.signal);
  await told.promise;
  stopper.abort();
  await running;
  assert.equal(sent.length, 3);
  assert.deepEqual(pauses.slice(0, 2), [500, 1000]);
  assert.equal(events.dropped, 0);
});

test('an event wakes a recorder that has nothing to do', async () => {
  const stopper = new AbortController();
  const told = Promise.withResolvers<void>();
  const { events } = recorder(() => {
    told.resolve();
    return {};
  });
  const running = events.run(stopper.signal);
  events.record(NODE);
  await told.promise;
  stopper.abort();
  await running;
});

test('notes are cut to 1024 bytes between characters, names to what the API allows', () => {
  const source = { reportingController: 'c', reportingInstance: 'i' };
  const { note } = eventObject({ ...NODE, note: '€'.repeat(1000) }, 'x', 0, source);
  assert.ok(Buffer.byteLength(String(note)) <= 1024);
  assert.match(String(note), /^€+\.\.\.$/);
  assert.ok(eventName(about('n'.repeat(253)), 1e12, 1).length <= 253);
  assert.equal(microTime(0), '1970-01-01T00:00:00.000000Z');
});
