// Events: stored as the core group has them, shown also as events.k8s.io has them.
import type { ApiObject } from '../api-object.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { isObject, withFields } from '../json.ts';
import { dnsSubdomain } from '../names.ts';
import { OBJECT_REFERENCE, resourceSchema } from '../schema/meta.ts';
import { int32, object, type Schema, text, textKept, time } from '../schema/schema.ts';
import type { SelectableFields } from '../store/selector.ts';
import { ageOf } from '../time.ts';
import { type Cell, type Column, column, defineResource, type Resource } from './definition.ts';

const CORE = 'io.k8s.api.core.v1';
const EVENTS = 'io.k8s.api.events.v1';

interface Series extends JsonObject {
  readonly count?: number;
  readonly lastObservedTime?: string;
}

/** An Event in the words of the core group. */
export interface CoreEvent extends ApiObject {
  readonly involvedObject: JsonObject;
  readonly reason?: string;
  readonly message?: string;
  readonly source?: JsonObject;
  readonly firstTimestamp?: string;
  readonly lastTimestamp?: string;
  readonly count?: number;
  readonly type?: string;
  readonly eventTime?: string;
  readonly series?: Series;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}

/** Field of the core group → field of events.k8s.io, where the two differ. */
const OTHER_NAMES: readonly (readonly [core: string, other: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

function renamed(event: ApiObject, apiVersion: string, from: 0 | 1): ApiObject {
  const to = from === 0 ? 1 : 0;
  const fields: Record<string, JsonValue | undefined> = { ...event, apiVersion };
  for (const pair of OTHER_NAMES) {
    fields[pair[to]] = event[pair[from]];
    fields[pair[from]] = undefined;
  }
  return withFields({ ...event, apiVersion }, fields);
}

const SOURCE: Schema = object(`${CORE}.EventSource`, { component: text, host: text });
const SERIES_FIELDS = { count: int32, lastObservedTime: time };

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const involved = (event: ApiObject): JsonObject =>
  isObject(event.involvedObject) ? event.involvedObject : isObject(event.regarding) ? event.regarding : {};

function selectable(prefix: string): SelectableFields {
  const fields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
  return {
    ...Object.fromEntries(
      fields.map((field) => [`${prefix}.${field}`, (event: ApiObject) => textOf(involved(event)[field])]),
    ),
    reason: (event) => textOf(event.reason),
    type: (event) => textOf(event.type),
    reportingComponent: (event) => textOf(event.reportingComponent ?? event.reportingController),
    source: (event) =>
      isObject(event.source) && event.source.component !== undefined
        ? textOf(event.source.component)
        : textOf(event.reportingComponent),
  };
}

const COLUMNS: readonly Column[] = [
  column('Last Seen'),
  column('Type'),
  column('Reason'),
  column('Object'),
  column('Subobject', { wide: true }),
  column('Source', { wide: true }),
  column('Message'),
  column('First Seen', { wide: true }),
  column('Count', { wide: true }),
  { name: 'Name', type: 'string', format: 'name', wide: true },
];

function cells(event: CoreEvent, now: number): readonly Cell[] {
  const target = event.involvedObject;
  const first = event.firstTimestamp ?? event.eventTime;
  const count = event.series?.count ?? event.count ?? 1;
  const last = event.series?.lastObservedTime ?? event.lastTimestamp ?? first;
  const firstAge = ageOf(first, now);
  const seen = event.series ? `${ageOf(last, now)} (x${count} over ${firstAge})` : ageOf(last, now);
  const counted = event.series === undefined && count > 1 ? `${seen} (x${count} over ${firstAge})` : seen;
  const component = textOf(event.source?.component) || (event.reportingComponent ?? '');
  const host = textOf(event.source?.host) || (event.reportingInstance ?? '');
  return [
    counted,
    event.type ?? '',
    event.reason ?? '',
    `${textOf(target.kind).toLowerCase()}/${textOf(target.name)}`,
    textOf(target.fieldPath),
    [component, host].filter((word) => word !== '').join(', '),
    (event.message ?? '').trim(),
    firstAge,
    String(count),
    event.metadata.name ?? '',
  ];
}

const NAMES = {
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
} as const;

export const CORE_EVENTS: Resource = defineResource<CoreEvent>({
  ...NAMES,
  namespaced: true,
  nameRule: dnsSubdomain,
  createOnUpdate: true,
  schema: resourceSchema(`${CORE}.Event`, {
    involvedObject: OBJECT_REFERENCE,
    reason: text,
    message: text,
    source: SOURCE,
    firstTimestamp: time,
    lastTimestamp: time,
    count: int32,
    type: text,
    eventTime: time,
    series: object(`${CORE}.EventSeries`, SERIES_FIELDS),
    action: text,
    related: OBJECT_REFERENCE,
    reportingComponent: textKept,
    reportingInstance: textKept,
  }),
  columns: COLUMNS,
  cells,
  selectable: selectable('involvedObject'),
  defaults: (event) =>
    withFields(event, {
      involvedObject: event.involvedObject ?? {},
      source: event.source ?? {},
      reportingComponent: event.reportingComponent ?? '',
      reportingInstance: event.reportingInstance ?? '',
    }),
});

export const NEW_EVENTS: Resource = defineResource<ApiObject>({
  ...NAMES,
  group: 'events.k8s.io',
  namespaced: true,
  nameRule: dnsSubdomain,
  createOnUpdate: true,
  schema: resourceSchema(`${EVENTS}.Event`, {
    eventTime: time,
    series: object(`${EVENTS}.EventSeries`, SERIES_FIELDS),
    reportingController: text,
    reportingInstance: text,
    action: text,
    reason: text,
    regarding: OBJECT_REFERENCE,
    related: OBJECT_REFERENCE,
    note: text,
    type: text,
    deprecatedSource: SOURCE,
    deprecatedFirstTimestamp: time,
    deprecatedLastTimestamp: time,
    deprecatedCount: int32,
  }),
  columns: COLUMNS,
  cells: (event, now) => cells(renamed(event, 'v1', 1) as CoreEvent, now),
  selectable: selectable('regarding'),
  view: {
    of: 'events',
    toStored: (event) => renamed(event, 'v1', 1),
    fromStored: (event) => renamed(event, 'events.k8s.io/v1', 0),
  },
});
