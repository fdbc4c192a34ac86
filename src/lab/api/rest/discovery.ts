// Discovery: what the server has, group by group, and all of it in one document.

import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '../json.ts';
import { apiVersionOf, type Resource } from '../resources/definition.ts';
import { noSuchPath } from '../status.ts';
import { wantsAggregatedDiscovery } from './media.ts';
import { type ApiRequest, jsonReply, type Reply } from './request.ts';
import { REVIEWS } from './reviews.ts';

interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** One resource as discovery shows it. */
interface Shown {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
}

/** Subresources beside `status`, by the plural of their resource. */
export const OTHER_SUBRESOURCES: Readonly<Record<string, readonly Subresource[]>> = {
  pods: [{ name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] }],
  serviceaccounts: [
    { name: 'token', kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] },
  ],
};

function shownResource(resource: Resource): Shown {
  const status: Subresource = { name: 'status', kind: resource.kind, verbs: ['get', 'patch', 'update'] };
  const others = resource.view === undefined ? (OTHER_SUBRESOURCES[resource.plural] ?? []) : [];
  return { ...resource, subresources: [...others, ...(resource.hasStatus ? [status] : [])] };
}

const shownReviews: readonly Shown[] = REVIEWS.map((review) => ({
  ...review,
  version: 'v1',
  namespaced: false,
  verbs: ['create'],
  shortNames: [],
  categories: [],
  subresources: [],
}));

/** A field that is left out when it is empty. */
const some = <T>(field: string, values: readonly T[]): Readonly<Record<string, readonly T[]>> =>
  values.length === 0 ? {} : { [field]: values };

function aggregatedResource(one: Shown): JsonObject {
  return {
    resource: one.plural,
    responseKind: { group: '', version: '', kind: one.kind },
    scope: one.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: one.singular,
    verbs: one.verbs,
    ...some('shortNames', one.shortNames),
    ...some('categories', one.categories),
    ...some(
      'subresources',
      one.subresources.map(({ name, kind, group = '', version = '', verbs }) => ({
        subresource: name,
        responseKind: { group, version, kind },
        verbs,
      })),
    ),
  };
}

function plainResources(one: Shown): readonly JsonObject[] {
  const { namespaced } = one;
  return [
    {
      name: one.plural,
      singularName: one.singular,
      namespaced,
      kind: one.kind,
      verbs: one.verbs,
      ...some('shortNames', one.shortNames),
      ...some('categories', one.categories),
    },
    ...one.subresources.map(({ name, kind, group, version, verbs }) => ({
      name: `${one.plural}/${name}`,
      singularName: '',
      namespaced,
      ...(group === undefined ? {} : { group, version: version ?? '' }),
      kind,
      verbs,
    })),
  ];
}

const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export interface Discovery {
  /** The answer to a discovery path; undefined when the path is none. */
  reply(request: ApiRequest): Reply | undefined;
}

export function createDiscovery(resources: readonly Resource[]): Discovery {
  const all: readonly Shown[] = [...resources.map(shownResource), ...shownReviews];
  const groups = [...new Set(all.map(({ group }) => group))].filter((group) => group !== '').sort();
  const of = (group: string): readonly Shown[] => all.filter((one) => one.group === group);

  const aggregated = (names: readonly string[]): JsonObject => ({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: names.map((name) => ({
      metadata: name === '' ? {} : { name },
      versions: [{ version: 'v1', resources: of(name).map(aggregatedResource), freshness: 'Current' }],
    })),
  });
  const groupOf = (name: string): JsonObject => {
    const version = { groupVersion: `${name}/v1`, version: 'v1' };
    return { name, versions: [version], preferredVersion: version };
  };
  const documents: Readonly<Record<string, JsonObject>> = {
    '/api': { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] },
    '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupOf) },
    '/api/v1': resourceList('v1', of('')),
    ...Object.fromEntries(
      groups.flatMap((name) => [
        [`/apis/${name}`, { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(name) }],
        [`/apis/${name}/v1`, resourceList(apiVersionOf({ group: name, version: 'v1' }), of(name))],
      ]),
    ),
  };
  const whole: Readonly<Record<string, JsonObject>> = {
    '/api': aggregated(['']),
    '/apis': aggregated(groups),
  };

  return {
    reply(request) {
      const path = request.path.replace(/\/$/, '');
      const plain = Object.hasOwn(documents, path) ? documents[path] : undefined;
      if (plain === undefined)
        return /^\/apis?(\/[^/]+){0,2}$/.test(path) ? jsonReply(404, noSuchPath().status) : undefined;
      const accept = request.header('accept');
      const one = wantsAggregatedDiscovery(accept) ? whole[path] : undefined;
      const document = isObject(one) ? one : plain;
      const etag = `"${createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase()}"`;
      const headers = { etag, vary: 'Accept' };
      if (request.header('if-none-match') === etag) return { code: 304, body: { text: '' }, headers };
      return jsonReply(200, document, {
        headers,
        ...(document === one ? { contentType: AGGREGATED_TYPE } : {}),
      });
    },
  };
}

function resourceList(groupVersion: string, resources: readonly Shown[]): JsonObject {
  return {
    kind: 'APIResourceList',
    ...(groupVersion === 'v1' ? {} : { apiVersion: 'v1' }),
    groupVersion,
    resources: resources.flatMap(plainResources),
  };
}
